import { takeBack } from "../../core/budget.ts";
import type { Outcome } from "../../core/index.ts";
import { takeFromWindow } from "../../core/sliding-window.ts";
import { ProblemError } from "../handler.ts";
import { type AgentCaller, assertOwnPlan } from "../plans/find-plan.ts";
import type { Attempt, KnownPlan, PlanChange } from "../plans/plan-changes.ts";
import { endOfLife } from "../plans/plan-over.ts";
import type { Refresher } from "../plans/refresh-plan.ts";
import type { LedgerChange } from "../store/index.ts";

/**
 * Records what became of an allowed call, once, or that a plan is done. A call that never started gives back what it
 * took, to the plan and to the person.
 *
 * @throws ProblemError `not_found`, `user_not_allowed`, `outcome_not_expected`, `plan_closed`; `invalid_request` for a
 * plan whose client writes its entries
 */
export async function recordOutcome(refresher: Refresher, caller: AgentCaller, outcome: Outcome): Promise<void> {
  const { context, changes, sources } = refresher;
  const settled = await changes.change<Settled | undefined>(outcome.planId, async (found, attempt) => {
    const plan = assertOwnPlan(caller, found);
    if (plan.clientKey !== null) {
      throw new ProblemError("invalid_request", { detail: "this plan's outcomes come with its audit entries" });
    }
    return outcome.type === "closed" ? close(plan) : await settle(plan, outcome, attempt);
  });
  if (outcome.type === "closed") {
    sources.forget(outcome.planId);
    await context.store.holds.cancelOfPlan(outcome.planId, context.clock());
  } else if (settled && outcome.status === "ok" && settled.plan.status === "open") {
    // A result counts once its call is on record as one that ran: who verifies the record asks for that.
    const { plan, step } = settled;
    const { decisionSeq, result } = outcome;
    sources.add(plan, { step, decisionSeq, result, until: endOfLife(plan, caller.agent) });
  }
}

/** The plan of a call that has its outcome now, and the step that allowed it. */
interface Settled {
  readonly plan: KnownPlan;
  readonly step: number;
}

function close({ status }: KnownPlan): PlanChange<undefined> {
  if (status === "closed") throw new ProblemError("plan_closed");
  // It stays what it is: that it was revoked says more.
  if (status !== "open") return { result: undefined };
  return { result: undefined, events: [{ type: "closed" }], status: "closed" };
}

async function settle(
  plan: KnownPlan,
  outcome: Extract<Outcome, { type: "outcome" }>,
  attempt: Attempt,
): Promise<PlanChange<Settled>> {
  const { decisionSeq, status, durationMs } = outcome;
  const call = Object.hasOwn(plan.openCalls, decisionSeq) ? plan.openCalls[decisionSeq] : undefined;
  if (!call) throw new ProblemError("outcome_not_expected");
  const { [String(decisionSeq)]: _, ...openCalls } = plan.openCalls;
  const event = { type: "outcome", decisionSeq, status, ...(durationMs !== undefined && { durationMs }) } as const;
  // Of calls that were allowed before it was over.
  const change: PlanChange<Settled> = {
    result: { plan, step: call.step },
    events: [event],
    openCalls,
    whileStatus: ["open", "closed", "revoked"],
  };
  if (status !== "aborted") return change;
  return {
    ...change,
    used: plan.used.map((count, index) => (index === call.step ? Math.max(0, count - 1) : count)),
    spent: takeBack(plan.spent, call.payoutMicros),
    ...(call.slotEnd !== undefined && {
      ledger: await refundPerson(plan, { ...call, slotEnd: call.slotEnd }, attempt),
    }),
  };
}

async function refundPerson(
  plan: KnownPlan,
  call: { readonly slotEnd: number; readonly payoutMicros: number },
  { principal, now }: Attempt,
): Promise<LedgerChange> {
  const { version, window } = await principal.open(plan, now);
  return { expectVersion: version, window: takeFromWindow(window, call) };
}
