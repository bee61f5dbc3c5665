import { addCall } from "../../core/budget.ts";
import { type CallSnapshot, describeDecision, overruleDecision } from "../../core/decided-call.ts";
import {
  type AllowDecision,
  type Approval,
  check,
  type Decision,
  type Evidence,
  type GateCall,
  type OpenedToken,
} from "../../core/index.ts";
import { addToWindow, sumWindow } from "../../core/sliding-window.ts";
import type { KnownPlan, PlanChange } from "../plans/plan-changes.ts";
import type { OpenCall, PrincipalLedger } from "../store/index.ts";

/** As many calls may wait for their outcome: what older ones took is not given back any more. */
const MAX_OPEN_CALLS = 256;

export interface DecisionFacts {
  readonly opened: OpenedToken;
  /** Of the plan's person, where the budget has a limit for that. */
  readonly ledger: PrincipalLedger | undefined;
  readonly call: CallSnapshot;
  readonly refusal: GateCall["refusal"];
  /** Verified, and not claimed yet. */
  readonly approval: Approval | undefined;
  /** What the plan's conditions may want values from. */
  readonly sources: Pick<Evidence, "task" | "results">;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A decision, and what the plan becomes with it: its record, what an allowed call takes, and the claim of its approval. */
export function planDecision(plan: KnownPlan, facts: DecisionFacts): PlanChange<Decision> {
  const { opened, call, refusal, approval } = facts;
  const { used } = plan;
  const now = Math.floor(facts.now / 1000);
  const evidence = collectEvidence(plan, facts, now);
  const checked = check({ token: opened, call, used, now, evidence });
  const answer = overruleDecision(checked, call, refusal);
  const decision = answer ?? checked;
  const record = describeDecision(opened, call, { used, now, evidence, checked, answer });
  const result = { ...decision, seq: plan.seq };
  if (decision.verdict !== "allow") return { result, events: [record] };
  const claim = decision.approvedBy !== undefined && approval ? { claimHoldId: approval.holdId } : {};
  return { result, events: [record], ...take(plan, decision, facts), ...claim };
}

function collectEvidence(
  { spent }: KnownPlan,
  { opened, ledger, approval, sources }: DecisionFacts,
  now: number,
): Evidence {
  const budget = opened.valid ? opened.claims.budget : undefined;
  const given = { ...(approval && { approval }), ...sources };
  if (!budget) return given;
  const { calls, payoutMicros } = spent;
  const windowSeconds = budget.principal?.windowSeconds ?? 0;
  const principal = ledger ? sumWindow(ledger.window, windowSeconds, now) : { calls: 0, payoutMicros: 0 };
  return { ...given, ledger: { session: { calls, payoutMicros }, principal } };
}

function take(
  { used, spent, openCalls, seq }: KnownPlan,
  { step, payoutMicros = 0 }: AllowDecision,
  { opened, ledger, now }: DecisionFacts,
): Pick<PlanChange<unknown>, "used" | "spent" | "openCalls" | "ledger"> {
  const windowSeconds = opened.valid ? opened.claims.budget?.principal?.windowSeconds : undefined;
  const taken = { windowSeconds: windowSeconds ?? 0, now: Math.floor(now / 1000), payoutMicros };
  const debit = ledger && windowSeconds !== undefined ? addToWindow(ledger.window, taken) : undefined;
  const call = { step, payoutMicros, at: Math.floor(now), ...(debit && { slotEnd: debit.slotEnd }) };
  return {
    used: used.map((count, index) => (index === step ? count + 1 : count)),
    spent: addCall(spent, payoutMicros),
    openCalls: { ...keepNewest(openCalls), [seq]: call },
    ...(ledger && debit && { ledger: { expectVersion: ledger.version, window: debit.window } }),
  };
}

/** Without the oldest, if it is full. Keys that are numbers stand in their order. */
function keepNewest(openCalls: Readonly<Record<string, OpenCall>>): Readonly<Record<string, OpenCall>> {
  const entries = Object.entries(openCalls);
  return entries.length < MAX_OPEN_CALLS ? openCalls : Object.fromEntries(entries.slice(1 - MAX_OPEN_CALLS));
}
