import type { budgetEndpoints } from "../../core/api/index.ts";
import { type BudgetLimit, openPlanToken, type Spent } from "../../core/index.ts";
import { addToWindow, type SlidingWindow, sumWindow, takeFromWindow } from "../../core/sliding-window.ts";
import { type HandlersOf, ProblemError } from "../handler.ts";
import type { PrincipalLedger, Reserved, Store } from "../store/index.ts";
import { type AgentCaller, assertOwnPlan, toAgentCaller } from "./find-plan.ts";
import type { PlanChange } from "./plan-changes.ts";
import { assertOpen, endOfLife, isOver } from "./plan-over.ts";
import type { Refresher } from "./refresh-plan.ts";

const NOTHING: Spent = { calls: 0, payoutMicros: 0 };

export function createBudgetHandlers(refresher: Refresher): HandlersOf<typeof budgetEndpoints> {
  return {
    async reserveBudget({ caller, params, body }) {
      const reserved = await reserveBudget(refresher, toAgentCaller(caller), {
        planId: params["planId"] ?? "",
        total: body.total,
      });
      return { status: 200, body: { reserved } };
    },
  };
}

/**
 * Reserves a portion of the person's budget for a client that decides itself. It counts as taken at the end of the plan's
 * life, the last moment at which it can be, until the plan is closed: see {@link settleReserved}. So no window of the
 * person's has more than the limit, whatever clients do with what they have.
 *
 * @throws ProblemError `not_found`, `user_not_allowed`, and for a plan that is over; `invalid_request` for a plan that the
 * server decides or that has no such budget
 */
async function reserveBudget(
  { context, changes }: Refresher,
  caller: AgentCaller,
  { planId, total }: { readonly planId: string; readonly total: Spent },
): Promise<Spent> {
  const keys = await context.keys.publicKeys();
  return await changes.change<Spent>(planId, async (found, { now, principal }) => {
    const plan = assertOwnPlan(caller, found);
    assertOpen(plan);
    if (isOver(plan, caller.agent, now)) throw new ProblemError("plan_expired");
    const token = await openPlanToken(plan.token ?? "", keys, { audience: plan.agentId });
    const limit = token.valid ? token.claims.budget?.principal : undefined;
    if (plan.clientKey === null || !limit) {
      throw new ProblemError("invalid_request", { detail: "no client keeps a budget of a person for this plan" });
    }
    const ledger = await principal.open(plan, now);
    const reserved = await readReserved(context.store, planId);
    const before = reserved ?? NOTHING;
    const taken = sumWindow(ledger.window, limit.windowSeconds, Math.floor(now / 1000));
    const after = { calls: grow("calls"), payoutMicros: grow("payoutMicros") };
    function grow(what: keyof BudgetLimit): number {
      const most = limit?.[what];
      // What has no limit needs no portion, and is counted when the plan is closed.
      const left = most === undefined ? 0 : Math.max(0, most - taken[what]);
      return Math.max(before[what], Math.min(total[what], before[what] + left));
    }
    if (after.calls === before.calls && after.payoutMicros === before.payoutMicros) return { result: pick(before) };
    const at = endOfLife(plan, caller.agent);
    return {
      result: after,
      ...moveReserved(reserved, ledger, { ...after, windowSeconds: limit.windowSeconds, now, at }),
    };
  });
}

/**
 * What is reserved for a plan. It has no entry, so that the plan's number does not show when another server changes it:
 * the ledger's version does, and so this is read from the store, after the ledger.
 */
export async function readReserved({ plans }: Store, planId: string): Promise<Reserved | null> {
  return (await plans.state(planId))?.reserved ?? null;
}

/**
 * What the ledger becomes once a client has closed its plan, and by its own entries has taken so much: what it did not take
 * is given back, and what it took counts as taken now. Until then the whole portion counts.
 */
export function settleReserved(
  reserved: Reserved,
  ledger: PrincipalLedger,
  { taken, now }: { readonly taken: Spent; readonly now: number },
): Pick<PlanChange<unknown>, "ledger" | "reserved"> {
  const { windowSeconds } = reserved;
  return moveReserved(reserved, ledger, { ...taken, windowSeconds, now, at: Math.floor(now / 1000) });
}

function moveReserved(
  reserved: Reserved | null,
  { version, window }: PrincipalLedger,
  { calls, payoutMicros, windowSeconds, now, at }: Omit<Reserved, "slotEnd"> & { now: number; at: number },
): Required<Pick<PlanChange<unknown>, "ledger" | "reserved">> {
  const rest: SlidingWindow = reserved ? takeFromWindow(window, reserved) : window;
  const next = addToWindow(rest, { windowSeconds, now: Math.floor(now / 1000), at, calls, payoutMicros });
  return {
    ledger: { expectVersion: version, window: next.window },
    reserved: { calls, payoutMicros, windowSeconds, slotEnd: next.slotEnd },
  };
}

function pick({ calls, payoutMicros }: Spent): Spent {
  return { calls, payoutMicros };
}
