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
import type { KnownPlan, PlanChange } from "../plans/plan-changes.ts";
import type { OpenCall } from "../store/index.ts";

/** As many calls may wait for their outcome: what older ones took is not given back any more. */
const MAX_OPEN_CALLS = 256;

export interface DecisionFacts {
  readonly opened: OpenedToken;
  readonly call: CallSnapshot;
  readonly refusal: GateCall["refusal"];
  /** Verified, and not claimed yet. */
  readonly approval: Approval | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A decision, and what the plan becomes with it: its record, what an allowed call takes, and the claim of its approval. */
export function planDecision(plan: KnownPlan, facts: DecisionFacts): PlanChange<Decision> {
  const { opened, call, refusal, approval } = facts;
  const { used } = plan;
  const now = Math.floor(facts.now / 1000);
  const evidence = collectEvidence(plan, opened, approval);
  const checked = check({ token: opened, call, used, now, ...(evidence && { evidence }) });
  const answer = overruleDecision(checked, call, refusal);
  const decision = answer ?? checked;
  const record = describeDecision(opened, call, { used, now, evidence, checked, answer });
  const result = { ...decision, seq: plan.seq };
  if (decision.verdict !== "allow") return { result, events: [record] };
  const claim = decision.approvedBy !== undefined && approval ? { claimHoldId: approval.holdId } : {};
  return { result, events: [record], ...take(plan, decision, facts.now), ...claim };
}

function collectEvidence(plan: KnownPlan, opened: OpenedToken, approval: Approval | undefined): Evidence | undefined {
  const budget = opened.valid ? opened.claims.budget : undefined;
  // What a person has taken over all plans is not counted yet: without a ledger such a budget allows nothing.
  const isCounted = budget !== undefined && budget.principal === undefined;
  if (!isCounted && !approval) return undefined;
  const { calls, payoutMicros } = plan.spent;
  const ledger = { session: { calls, payoutMicros }, principal: { calls: 0, payoutMicros: 0 } };
  return { ...(approval && { approval }), ...(isCounted && { ledger }) };
}

function take(
  { used, spent, openCalls, seq }: KnownPlan,
  { step, payoutMicros = 0 }: AllowDecision,
  now: number,
): Pick<PlanChange<unknown>, "used" | "spent" | "openCalls"> {
  return {
    used: used.map((count, index) => (index === step ? count + 1 : count)),
    spent: { calls: spent.calls + 1, payoutMicros: spent.payoutMicros + payoutMicros },
    openCalls: { ...keepNewest(openCalls), [seq]: { step, payoutMicros, at: Math.floor(now) } },
  };
}

/** Without the oldest, if it is full. Keys that are numbers stand in their order. */
function keepNewest(openCalls: Readonly<Record<string, OpenCall>>): Readonly<Record<string, OpenCall>> {
  const entries = Object.entries(openCalls);
  return entries.length < MAX_OPEN_CALLS ? openCalls : Object.fromEntries(entries.slice(1 - MAX_OPEN_CALLS));
}
