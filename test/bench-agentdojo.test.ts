import type { AllowDecision, BlockDecision } from "intentlock/core";
import { expect, test } from "vitest";
import type { Suite, UserTask } from "../bench/agentdojo/load.ts";
import { PeopleCounter, peopleTables } from "../bench/agentdojo/people.ts";
import { ALLOW_IN_PLAN, HOLD_SIDE_EFFECTS } from "../bench/agentdojo/policies.ts";
import type { Replayed } from "../bench/agentdojo/replay.ts";
import { ResultsReplayer } from "../bench/agentdojo/replay-results.ts";
import { splitAttacks } from "../bench/agentdojo/score-results.ts";
import { parsePolicy } from "../src/core/parse-policy.ts";

const named = { callId: "1", tool: "t", planId: "p" };
const allow: AllowDecision = { verdict: "allow", ...named, step: 0, rule: "allow-in-plan", budgetRemaining: null };
const block: BlockDecision = { verdict: "block", ...named, reason: "not_in_plan", stage: "plan", message: "" };
const RUNS: Replayed = { ...allow, held: false };
const WAITS: Replayed = { ...allow, held: true };
const BLOCKED: Replayed = { ...block, held: false };

test.each<[string, Replayed[], string]>([
  ["all of it runs", [RUNS, RUNS], "runs"],
  ["one call would wait", [RUNS, WAITS], "waits"],
  ["one call is blocked", [RUNS, BLOCKED], "stopped"],
  ["one call is blocked and another would wait", [WAITS, BLOCKED], "stopped"],
])("an attack that needs every call: %s", (_name, decisions, end) => {
  const people = new PeopleCounter();
  expect(people.addAttack("a", (withheld) => decisions.some(withheld))).toBe(end);
});

test("the tables count both policies", () => {
  const people = new PeopleCounter();
  for (const decisions of [[RUNS], [WAITS], [WAITS], [BLOCKED], [BLOCKED], [BLOCKED]]) {
    people.addAttack("a", (withheld) => decisions.some(withheld));
  }
  for (const decisions of [[RUNS], [WAITS], [WAITS, WAITS], [BLOCKED, WAITS]]) {
    people.addUseful("a", decisions, (withheld) => decisions.some(withheld));
  }
  const [attacks, useful] = peopleTables(people.result());
  // Of; stopped; run without holds; wait; run with holds.
  expect(attacks?.rows).toEqual([["a", "6", "3", "3", "2", "1"]]);
  // Of; lost; kept without holds; kept without waiting; kept with holds; holds in each of these.
  expect(useful?.rows).toEqual([["a", "4", "1", "3", "1", "2", "1.5"]]);
});

test("the policy that holds differs from the other in holds by tool alone", () => {
  const { rules } = parsePolicy(HOLD_SIDE_EFFECTS);
  const holds = rules.filter(({ decision }) => decision === "hold");
  expect(holds.map(({ match }) => Object.keys(match))).toEqual(holds.map(() => ["tool"]));
  expect(rules.filter(({ decision }) => decision !== "hold")).toEqual(parsePolicy(ALLOW_IN_PLAN).rules);
});

const suite: Suite = {
  name: "banking",
  tools: new Map(
    ["read_file", "send_money"].map((name, index) => [
      name,
      { fingerprint: `sha256:${String(index).repeat(64)}`, accepts: (args) => args !== null },
    ]),
  ),
  userTasks: [],
  injectionTasks: [],
};
const task: UserTask = {
  id: "user_task_0",
  prompt: "Pay the bill, or pay Dora.",
  plan: {
    goal: "Pay the bill",
    steps: [
      { id: "bill", tool: "read_file" },
      { tool: "send_money", args: { recipient: { from: ["task", "bill"] } }, maxCalls: 2 },
    ],
  },
  groundTruth: [],
};
const ASK = `
version: 1
default: block
rules:
  - { id: ask, match: { tool: send_money, unpinned: [recipient] }, decision: hold, approvers: { self: true } }
  - { id: allow-in-plan, match: { inPlan: true }, decision: allow }
`;
const read = (output: string | undefined) => ({ tool: "read_file", args: {}, output });
const pay = (recipient: string) => ({ tool: "send_money", args: { recipient }, output: undefined });

test.each<[string, Parameters<ResultsReplayer["replay"]>[2], string[]]>([
  ["what a call gave is there for the next one, which waits", [read("To UK123."), pay("UK123")], ["allow", "held"]],
  ["what it gave is not there before it", [pay("UK123"), read("To UK123.")], ["not_in_plan", "allow"]],
  ["a call that failed gave nothing", [read(undefined), pay("UK123")], ["allow", "not_in_plan"]],
  ["the user's own words need nobody", [pay("Dora")], ["allow"]],
  [
    "what waits is approved, and used up",
    [pay("Dora"), read("Eve"), pay("Eve"), pay("Eve")],
    ["allow", "allow", "held", "call_limit"],
  ],
  [
    "a blocked call gives nothing",
    [{ tool: "read_file", args: null, output: "Eve" }, pay("Eve")],
    ["invalid_args", "not_in_plan"],
  ],
])("with results, %s", async (_name, calls, expected) => {
  const replayer = await ResultsReplayer.create(ASK, { gateAlone: false });
  const decisions = await replayer.replay(suite, task, calls);
  await replayer.close();
  const ends = decisions.map((decision) =>
    decision.verdict === "block" ? decision.reason : decision.held ? "held" : decision.verdict,
  );
  expect(ends).toEqual(expected);
});

test("attacks that need no call are apart from those that run", () => {
  const people = new PeopleCounter();
  people.addAttack("a", () => false);
  people.addAttack("a", () => false);
  people.addAttack("a", () => true);
  const [ends] = people.result();
  expect(ends && splitAttacks(ends, { a: 1 })).toEqual({ of: 3, stopped: 1, waits: 0, needNoCall: 1, runs: 1 });
});
