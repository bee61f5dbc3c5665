import { describe, expect, test } from "vitest";
import type { StoryEntry, StoryEvent } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";
import type { DecisionRecord } from "../../../../core/audit.ts";
import { groupEntries } from "./group-entries.ts";

const AT = 1_800_000_000_000;

function aDecision(over: Partial<DecisionRecord> = {}): DecisionRecord {
  const call = { callId: "call", tool: "send_money", digest: "sha256:call" };
  return { type: "decision", jti: "jti", ...call, used: [0], now: AT / 1000, verdict: "allow", ...over };
}

function approvedBy(holdId: string, digest = "sha256:call"): Pick<DecisionRecord, "evidence"> {
  const approval = { holdId, planId: "plan", rule: "hold", digest, approvedBy: "bob@acme.dev", exp: AT / 1000 };
  return { evidence: { approval } };
}

function aHold(over: Partial<InboxItem> = {}): InboxItem {
  return { holdId: "h1", kind: "call", digest: "sha256:call", status: "approved", ...over } as InboxItem;
}

function number(events: readonly StoryEvent[]): readonly StoryEntry[] {
  return events.map((event, seq) => ({ seq, at: AT, receivedAt: AT, event }));
}

/** The numbers of the entries of each chapter, with the ids of its holds. */
function group(events: readonly StoryEvent[], holds: readonly InboxItem[] = []) {
  const { chapters, looseHolds } = groupEntries(number(events), holds);
  return {
    chapters: chapters.map((one) => [...one.entries.map(({ seq }) => seq), ...one.holds.map(({ holdId }) => holdId)]),
    loose: looseHolds.map(({ holdId }) => holdId),
  };
}

const SIGNED: StoryEvent = { type: "plan_signed", jti: "jti", expiresAt: AT / 1000 };
const ok = (decisionSeq: number): StoryEvent => ({ type: "outcome", decisionSeq, status: "ok" });
const asked = (decisionSeq: number, holdId = "h1"): StoryEvent => ({ type: "hold", decisionSeq, holdId });
const approval = (decisionSeq: number, holdId = "h1"): StoryEvent => ({
  type: "approval",
  decisionSeq,
  holdId,
  approvedBy: "bob@acme.dev",
});

describe("entries that belong together", () => {
  const held = aDecision({ verdict: "hold" });
  test.each<[string, readonly StoryEvent[], readonly InboxItem[], readonly (readonly (number | string)[])[]]>([
    ["a call and its outcome", [SIGNED, aDecision(), ok(1)], [], [[0], [1, 2]]],
    [
      "calls whose outcomes come later",
      [aDecision(), aDecision({ callId: "other" }), ok(1), ok(0)],
      [],
      [
        [0, 3],
        [1, 2],
      ],
    ],
    [
      "a hold, its approval, the second decision and the outcome",
      [held, asked(0), { type: "refresh", jti: "x", expiresAt: 1 }, approval(0), aDecision(approvedBy("h1")), ok(4)],
      [aHold()],
      [[0, 1, 3, 4, 5, "h1"], [2]],
    ],
    ["a hold that no entry tells of", [held, aDecision(approvedBy("h1")), ok(1)], [aHold()], [[0, 1, 2, "h1"]]],
    ["a hold that was rejected", [held, asked(0)], [aHold({ status: "rejected" })], [[0, 1, "h1"]]],
    [
      "two holds of the same action, each with its own",
      [held, asked(0), held, asked(2, "h2"), aDecision(approvedBy("h2"))],
      [aHold(), aHold({ holdId: "h2" })],
      [
        [0, 1, "h1"],
        [2, 3, 4, "h2"],
      ],
    ],
    [
      "an approval of the first of them",
      [held, asked(0), held, asked(2, "h2"), aDecision(approvedBy("h1"))],
      [],
      [
        [0, 1, 4],
        [2, 3],
      ],
    ],
    [
      "two holds of the same action of which no entry tells",
      [held, held],
      [aHold(), aHold({ holdId: "h2" })],
      [
        [0, "h1"],
        [1, "h2"],
      ],
    ],
    ["the hold of a plan", [SIGNED], [aHold({ kind: "plan", holdId: "p" })], [["p"], [0]]],
  ])("%s", (_name, events, holds, chapters) => {
    expect(group(events, holds)).toEqual({ chapters, loose: [] });
  });

  test.each<[string, readonly StoryEvent[]]>([
    ["an outcome of nothing", [SIGNED, ok(7)]],
    ["an outcome of what is no decision", [SIGNED, ok(0)]],
    ["an outcome before its decision", [ok(1), aDecision()]],
    ["an approval of nothing", [SIGNED, approval(7)]],
    [
      "a decision with the approval of another action",
      [held, aDecision({ digest: "sha256:other", ...approvedBy("h1") })],
    ],
    ["a decision with an approval of a hold that there is not", [aDecision(), aDecision(approvedBy("h9"))]],
  ])("do not come with what a client only says: %s", (_name, events) => {
    expect(group(events).chapters).toEqual([[0], [1]]);
  });

  test("are all there, whatever a client wrote, also twice", () => {
    const events = [
      aDecision(),
      ok(0),
      ok(0),
      asked(0),
      asked(0),
      approval(0),
      approval(9),
      { type: "closed" } as const,
    ];
    const { chapters } = group(events);
    expect(chapters.flat().sort()).toEqual(events.map((_, seq) => seq));
  });

  test("do not take a hold whose decision is not loaded", () => {
    expect(group([aDecision()], [aHold()])).toEqual({ chapters: [[0]], loose: ["h1"] });
  });
});
