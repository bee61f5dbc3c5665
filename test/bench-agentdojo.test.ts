import type { AllowDecision, BlockDecision } from "intentlock/core";
import { expect, test } from "vitest";
import { PeopleCounter, peopleTables } from "../bench/agentdojo/people.ts";
import { ALLOW_IN_PLAN, HOLD_SIDE_EFFECTS } from "../bench/agentdojo/policies.ts";
import type { Replayed } from "../bench/agentdojo/replay.ts";
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
