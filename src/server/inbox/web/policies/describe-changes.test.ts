import { expect, test } from "vitest";
import type { PolicyTestRow, VerdictSummary } from "../../../../core/api/policies.ts";
import { describeChanges, findChange, sortRows } from "./describe-changes.ts";

type Step = readonly [before: VerdictSummary | null, after: VerdictSummary];

const ALLOW: VerdictSummary = { verdict: "allow", rule: "all" };
const HOLD: VerdictSummary = { verdict: "hold", rule: "ask" };
const BLOCK: VerdictSummary = { verdict: "block", reason: "no_matching_rule" };
const OTHER: VerdictSummary = { verdict: "allow", rule: "some" };
const NOT_IN_PLAN: VerdictSummary = { verdict: "block", reason: "not_in_plan" };

let last = 0;
function aRow([before, after]: Step, planId?: string): PolicyTestRow {
  last += 1;
  const changed = JSON.stringify(before) !== JSON.stringify(after);
  return {
    callId: `call-${last}`,
    tool: "pay",
    ...(planId !== undefined && { planId, seq: 1 }),
    before,
    after,
    changed,
  };
}

function replayed(...steps: readonly Step[]): PolicyTestRow[] {
  return steps.map((step) => aRow(step, "plan"));
}

function samples(...steps: readonly Step[]): PolicyTestRow[] {
  return steps.map((step) => aRow(step));
}

const same: Step = [ALLOW, ALLOW];

test.each<[string, readonly PolicyTestRow[], number, string]>([
  ["nothing", [], 0, "There is no decision of this agent to try it on yet."],
  ["one decision that stays", replayed(same), 0, "The one decision would not change."],
  ["decisions that stay", replayed(same, same), 0, "None of 2 decisions would change."],
  [
    "decisions that change",
    replayed([BLOCK, ALLOW], [ALLOW, HOLD], [ALLOW, HOLD], same, same),
    0,
    "3 of 5 decisions would change: 2 allow → hold, 1 block → allow.",
  ],
  [
    "the same verdict from elsewhere",
    replayed([ALLOW, OTHER], [BLOCK, NOT_IN_PLAN], same),
    0,
    "2 of 3 decisions would change: 1 allow by another rule, 1 block for another reason.",
  ],
  [
    "decisions and samples",
    [...samples([HOLD, ALLOW]), ...replayed(same, same)],
    0,
    "None of 2 decisions would change. 1 of 1 sample call would change: 1 hold → allow.",
  ],
  ["samples before there is a policy", samples([null, ALLOW], [null, HOLD]), 0, "Of 2 sample calls: 1 allow, 1 hold."],
  [
    "what was redacted",
    replayed(same, same),
    2,
    "None of 2 decisions would change. 2 decisions could not be made again: their arguments were redacted.",
  ],
  ["nothing but what was redacted", [], 1, "1 decision could not be made again: its arguments were redacted."],
])("describes %s", (_name, rows, notRecomputable, words) => {
  const changed = rows.filter((row) => row.changed).length;
  expect(describeChanges({ rows, changed, notRecomputable })).toBe(words);
});

test.each<[string, Step, string]>([
  ["block to allow", [BLOCK, ALLOW], "looser"],
  ["hold to allow", [HOLD, ALLOW], "looser"],
  ["block to hold", [BLOCK, HOLD], "looser"],
  ["allow to hold", [ALLOW, HOLD], "stricter"],
  ["hold to block", [HOLD, BLOCK], "stricter"],
  ["another rule", [ALLOW, OTHER], "other"],
  ["no policy before", [null, BLOCK], "new"],
  ["the same", same, "none"],
])("%s is %s", (_name, step, change) => {
  expect(findChange(aRow(step))).toBe(change);
});

test("what lets more through comes first, and nothing else moves", () => {
  const rows = replayed(same, [ALLOW, OTHER], [ALLOW, BLOCK], [BLOCK, ALLOW], same, [HOLD, ALLOW]);
  expect(sortRows(rows)).toEqual([rows[3], rows[5], rows[2], rows[1], rows[0], rows[4]]);
});

test("a sample call is before all that was decided: it is being written", () => {
  const [same, changed] = replayed([ALLOW, ALLOW], [HOLD, ALLOW]);
  const sample = aRow([BLOCK, BLOCK]);
  expect(sortRows([same!, changed!, sample])).toEqual([sample, changed, same]);
});

test("what somebody is trying right now comes before what was", () => {
  const rows = [...replayed([BLOCK, ALLOW]), ...samples(same, [ALLOW, HOLD])];
  expect(sortRows(rows)).toEqual([rows[2], rows[1], rows[0]]);
});
