import { describe, expect, test } from "vitest";
import type { StoryEntry, StoryEvent } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";
import type { DecisionRecord } from "../../../../core/audit.ts";
import { findEnd, tellChapter } from "./tell-chapter.ts";

const AT = 1_800_000_000_000;

function aDecision(over: Partial<DecisionRecord> = {}): DecisionRecord {
  return { type: "decision", jti: "jti", callId: "c", tool: "t", used: [0], now: AT / 1000, verdict: "allow", ...over };
}

function aHold(status: InboxItem["status"]): InboxItem {
  return { holdId: "h1", kind: "call", status } as InboxItem;
}

function aChapter(events: readonly StoryEvent[], ...holds: readonly InboxItem[]) {
  const entries: readonly StoryEntry[] = events.map((event, seq) => ({ seq, at: AT, receivedAt: AT, event }));
  return { entries, holds };
}

/** `entry 0`, `asked`, `fate`. */
function tell(...chapter: Parameters<typeof aChapter>): readonly string[] {
  return tellChapter(aChapter(...chapter)).map((line) => {
    if (line.kind !== "entry") return line.kind;
    return `entry ${line.entry.seq}${line.hold ? " with its hold" : ""}`;
  });
}

const HELD = aDecision({ verdict: "hold" });
const ASKED: StoryEvent = { type: "hold", decisionSeq: 0, holdId: "h1" };
const APPROVED: StoryEvent = { type: "approval", decisionSeq: 0, holdId: "h1", approvedBy: "bob@acme.dev" };

describe("a chapter", () => {
  test.each<[string, readonly StoryEvent[], readonly InboxItem[], readonly string[]]>([
    ["of a call", [aDecision()], [], ["entry 0"]],
    ["of a hold that waits", [HELD, ASKED], [aHold("pending")], ["entry 0", "entry 1 with its hold"]],
    ["of one that was rejected", [HELD, ASKED], [aHold("rejected")], ["entry 0", "entry 1 with its hold", "fate"]],
    [
      "of one that was approved",
      [HELD, ASKED, APPROVED, aDecision()],
      [aHold("approved")],
      ["entry 0", "entry 1 with its hold", "entry 2 with its hold", "entry 3"],
    ],
    [
      "of one of which no entry tells",
      [HELD, aDecision()],
      [aHold("approved")],
      ["entry 0", "asked", "fate", "entry 1"],
    ],
    ["of a plan that waited", [], [aHold("expired")], ["asked", "fate"]],
    ["whose hold is not known", [HELD, ASKED], [], ["entry 0", "entry 1"]],
  ])("%s", (_name, events, holds, lines) => {
    expect(tell(events, ...holds)).toEqual(lines);
  });
});

describe("what a call came to", () => {
  const approved = aHold("approved");
  test.each<[string, readonly StoryEvent[], string, string | undefined]>([
    ["is its last decision", [HELD, aDecision()], "allow", undefined],
    ["is what became of the hold, while it is held", [HELD, ASKED], "hold", "h1"],
    [
      "is a block where the call was blocked outside of the decision",
      [aDecision({ answer: "aborted" })],
      "block",
      undefined,
    ],
  ])("%s", (_name, events, verdict, holdId) => {
    const end = findEnd(aChapter(events, approved));
    expect(end.verdict).toBe(verdict);
    expect(end.hold?.holdId).toBe(holdId);
  });
});
