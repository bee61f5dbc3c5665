import { type Mock, vi } from "vitest";
import { type Budget, type Decision, digest, type Plan } from "../src/core/index.ts";
import { MemoryAuditSink } from "../src/gates/audit-sink.ts";
import type { GateCall } from "../src/gates/gate.ts";
import { LocalLedger } from "../src/gates/local-ledger.ts";
import { type BeginOptions, LocalPlans, type LocalPlansOptions } from "../src/gates/local-plans.ts";
import type { PlanState } from "../src/gates/plan-state.ts";
import { type IssuedToken, TokenIssuer } from "../src/gates/token-issuer.ts";
import { AGENT, ALICE, aPlan, aPolicy, aRule, KEY } from "./builders.ts";
import { TestClock } from "./clock.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";

/** In seconds: of a token, and of a plan until it is forgotten. */
export const PLAN_TTL = 900;
export const PLAN_MAX_AGE = 86_400;
const ASK = aRule({ id: "hold-it", decision: "hold", approvers: { self: true } });

export interface SomePlansSetup extends Partial<LocalPlansOptions> {
  /** Every call is held. */
  readonly holds?: boolean;
  readonly budget?: Budget;
}

export interface SomePlans {
  readonly plans: LocalPlans;
  /** Signs a plan, and opens it. */
  readonly begin: (planId: string, plan?: Plan, more?: Partial<BeginOptions>) => Promise<PlanState>;
  readonly check: (state: PlanState, over?: Partial<GateCall>) => Promise<Decision>;
  readonly peek: (state: PlanState, over?: Partial<GateCall>) => Promise<Decision>;
  readonly clock: TestClock;
  readonly audit: MemoryAuditSink;
  readonly renew: Mock<(plan: PlanState, now: number) => Promise<IssuedToken>>;
}

/** The plans of a process, and a signer that is somewhere else. */
export function somePlans({ holds = false, budget, ...over }: SomePlansSetup = {}): SomePlans {
  const clock = new TestClock();
  const audit = new MemoryAuditSink();
  const policy = holds ? aPolicy(ASK) : aPolicy();
  const who = { agent: AGENT, people: undefined, signingKey: KEY };
  const issuer = new TokenIssuer({ ...who, policy, budget, ttlSeconds: PLAN_TTL });
  const renew = vi.fn((plan: PlanState, now: number): Promise<IssuedToken> => issuer.issue(plan, now));
  const plans = new LocalPlans({
    signer: { renew, open: (token) => issuer.open(token) },
    sink: audit,
    redact: false,
    ledger: new LocalLedger(undefined),
    clock: clock.now,
    maxAgeSeconds: PLAN_MAX_AGE,
    ...over,
  });
  const { task } = aSignRequest();
  const begin: SomePlans["begin"] = async (planId, plan = aPlan(), more = {}) => {
    const user = { email: ALICE, roles: [], groups: [] };
    const facts = { planId, plan, user, tools: aSignRequest().tools, task: digest(task, "task") };
    const signedAt = clock.now() / 1000;
    const issued = await issuer.issue(facts, signedAt);
    const state = await plans.begin(facts, issued, { signedAt, listener: undefined, task, ...more });
    plans.open(state);
    return state;
  };
  const decide = async ({ signed }: PlanState, reserve: boolean, over: Partial<GateCall> = {}): Promise<Decision> =>
    await plans.decide(signed, aGateCall(over), reserve);
  return {
    ...{ plans, begin, clock, audit, renew },
    check: (state, over) => decide(state, true, over),
    peek: (state, over) => decide(state, false, over),
  };
}
