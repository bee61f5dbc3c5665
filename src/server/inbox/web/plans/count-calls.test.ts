import { expect, test } from "vitest";
import type { StoryEvent } from "../../../../core/api/history.ts";
import type { DecisionRecord, OutcomeStatus } from "../../../../core/audit.ts";
import { countCalls } from "./count-calls.ts";

function aDecision(over: Partial<DecisionRecord> = {}): DecisionRecord {
  const call = { jti: "jti", callId: "c", tool: "t", used: [0, 0], now: 1_800_000_000 };
  return { type: "decision", ...call, verdict: "allow", step: 0, ...over };
}

function ended(decisionSeq: number, status: OutcomeStatus): StoryEvent {
  return { type: "outcome", decisionSeq, status };
}

test.each<[string, readonly StoryEvent[], readonly number[]]>([
  ["what was allowed", [aDecision(), aDecision({ step: 1 }), aDecision({ step: 1 })], [1, 2]],
  ["nothing that was held or blocked", [aDecision({ verdict: "hold" }), aDecision({ verdict: "block" })], [0, 0]],
  ["nothing that was blocked all the same", [aDecision({ answer: "aborted" })], [0, 0]],
  ["what ran, however it ended", [aDecision(), ended(0, "failed"), aDecision(), ended(2, "unknown")], [2, 0]],
  ["nothing that never started", [aDecision(), ended(0, "aborted")], [0, 0]],
  ["an end once", [aDecision(), aDecision(), ended(0, "aborted"), ended(0, "aborted")], [1, 0]],
  ["nothing of ends without a call", [ended(4, "aborted")], [0, 0]],
  ["nothing of steps that there are not", [aDecision({ step: 7 }), ended(0, "aborted")], [0, 0]],
])("counts %s", (_name, events, used) => {
  const entries = events.map((event, seq) => ({ seq, at: 0, receivedAt: 0, event }));
  expect(countCalls(entries, 2)).toEqual(used);
});
