import { expect, test } from "vitest";
import { aPlan } from "../../../test/builders.ts";
import type { Json } from "../json.ts";
import { type Matching, newMatching } from "../matching.ts";
import { compileFrom } from "./compile-from.ts";
import type { Source } from "./source.ts";
import { createStepResults } from "./step-results.ts";

const PLAN = aPlan({ tool: "read", id: "mail" }, { args: { to: { from: "mail" } } });

function matchingWith(...given: readonly unknown[]): Matching {
  const results = createStepResults(PLAN);
  for (const [seq, result] of given.entries()) results.add(0, seq, result);
  const trusted = new Map();
  return {
    ...newMatching(),
    grounds: { task: undefined, lacksTask: false, results, recorded: undefined, trusted, found: [] },
  };
}

test("without grounds no value comes from anywhere", () => {
  const holds = compileFrom(["task", "mail"], "/to");
  expect(["Bob", 5, true, ["Bob"]].map((value) => holds(value, newMatching()))).toEqual([false, false, false, false]);
});

test.each<[string, Source, Json, number]>([
  ["a long text", "mail", "a".repeat(1000), 40_000],
  ["many texts", "mail", Array.from({ length: 100 }, () => "Bob"), 5000],
  ["many numbers", "mail", Array.from({ length: 100 }, () => 5), 5000],
  ["many texts at a place", { step: "mail", path: "/*" }, Array.from({ length: 100 }, () => "Bob"), 5000],
  ["many lists with nothing in them", "mail", Array.from({ length: 100 }, () => []), 10_000],
])("to look for values is work: %s", (_name, from, value, work) => {
  const matching = matchingWith(["Bob", 5, "a".repeat(1000)]);
  const { left } = matching;
  expect(compileFrom(from, "/to")(value, matching)).toBe(true);
  expect(left - matching.left).toBeGreaterThanOrEqual(work);
});
