import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import type { StoryAnswer, StoryEntry, StoryEvent } from "../../../../core/api/history.ts";
import type { DecisionRecord } from "../../../../core/audit.ts";
import { Timeline } from "./timeline.tsx";

const AT = 1_800_000_000_000;
const MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202E";

function aDecision(over: Partial<DecisionRecord> = {}): DecisionRecord {
  return { type: "decision", jti: "jti", callId: "c", tool: "t", used: [0], now: AT / 1000, verdict: "allow", ...over };
}

/** What the page says of a story. */
function tell(events: readonly StoryEvent[], over: Partial<StoryEntry> = {}, wanted?: number): string {
  const entries = events.map((event, seq) => ({ seq, at: AT, receivedAt: AT, event, ...over }));
  const plan = { seq: entries.length } as StoryAnswer["plan"];
  const parts = [{ plan, entries, holds: [] }];
  const nothing = (): void => undefined;
  const loaded = { key: "", isLoading: false, error: undefined, hasMore: false, loadMore: nothing, reload: nothing };
  const story = { plan, entries, holds: [], later: { parts, ...loaded }, earlier: { parts: [], ...loaded } };
  return renderToString(h(Timeline, { story, wanted }));
}

describe("what a client wrote", () => {
  test("is never markup", () => {
    const told = tell([
      aDecision({ tool: MARKUP, callId: MARKUP, args: { [MARKUP]: MARKUP }, rule: MARKUP }),
      aDecision({ verdict: "block", reason: MARKUP }),
      { type: "approval", decisionSeq: 0, holdId: "h", approvedBy: MARKUP },
    ]);
    expect(told).not.toMatch(/<script|<img|\u202E/);
    expect(told).toContain("U+202E");
  });

  test.each([Number.MAX_SAFE_INTEGER, 8.64e15 + 1])("at a time that is none, %d, is told all the same", (at) => {
    const expiresAt = Number.MAX_SAFE_INTEGER;
    const told = tell([{ type: "plan_signed", jti: "", expiresAt }, aDecision(), { type: "closed" }], { at });
    expect(told).toContain(`no such time (${at})`);
    expect(told).toContain("The plan was closed");
  });

  test("is all there, also what fits nothing", () => {
    const events: readonly StoryEvent[] = [
      aDecision({ answer: "aborted" }),
      { type: "outcome", decisionSeq: 0, status: "ok" },
      { type: "outcome", decisionSeq: 0, status: "failed" },
      { type: "outcome", decisionSeq: 77, status: "unknown" },
      { type: "hold", decisionSeq: 78, holdId: "h" },
      { type: "refresh", jti: "", expiresAt: 0 },
    ];
    const told = tell(events);
    for (const seq of events.keys()) expect(told.split(`id="seq-${seq}"`)).toHaveLength(2);
    expect(told).toContain("Of entry 77, which is no decision");
    expect(told).toContain("no token of this server");
  });
});

test("what the server found to differ alarms, and what it confirmed does not", () => {
  expect(tell([aDecision()], { verdictCheck: "differs" })).toContain("came to another answer");
  expect(tell([aDecision()], { verdictCheck: "recomputed" })).not.toContain("another answer");
});

test("the entry that the address points to is marked; one that there is not is said to be missing", () => {
  expect(tell([aDecision()], {}, 0)).toContain("chapter-wanted");
  expect(tell([aDecision()], {}, 1)).toContain("Entry 1 is not on record");
  expect(tell([aDecision()])).not.toMatch(/chapter-wanted|is not on record/);
});
