import type { Decision, OutcomeStatus, PlanStep } from "../src/core/index.ts";
import type { Outcome, SignedPlan } from "../src/gates/gate.ts";
import { LocalGate, type LocalGateOptions } from "../src/gates/local.ts";
import { settle } from "./audit-sinks.ts";
import { aPlan, aPolicy } from "./builders.ts";
import { TestClock } from "./clock.ts";
import { aSignRequest } from "./gate-conformance.ts";

/** A gate that allows what is planned, and its clock. */
export function aLocalGate(over: Partial<LocalGateOptions> = {}): {
  readonly gate: LocalGate;
  readonly clock: TestClock;
} {
  const clock = new TestClock();
  return { gate: new LocalGate({ policy: aPolicy(), clock: clock.now, ...over }), clock };
}

/** {@link aLocalGate} that has signed a plan of one step. */
export async function aSignedPlan(
  over: Partial<LocalGateOptions> = {},
  step: Partial<PlanStep> = {},
): Promise<{ readonly gate: LocalGate; readonly clock: TestClock; readonly plan: SignedPlan }> {
  const { gate, clock } = aLocalGate(over);
  return { gate, clock, plan: await gate.sign(aSignRequest({ plan: aPlan(step) })) };
}

/** What became of the call that a decision is about. */
export function anOutcome({ planId, seq = -1 }: Decision, status: OutcomeStatus = "ok"): Outcome & { type: "outcome" } {
  return { type: "outcome", planId, decisionSeq: seq, status };
}

/** That a plan is done. */
export function isDone({ planId }: SignedPlan): Outcome {
  return { type: "closed", planId };
}

/** The ways in which an audit sink can fail. */
export const SINK_FAILURES: readonly (readonly [name: string, fail: () => void | Promise<void>])[] = [
  [
    "throws",
    () => {
      throw new Error("disk full");
    },
  ],
  ["rejects", () => Promise.reject(new Error("disk full"))],
  ["takes its time and rejects", () => settle().then(() => Promise.reject(new Error("disk full")))],
  ["rejects with nothing", () => Promise.reject()],
];
