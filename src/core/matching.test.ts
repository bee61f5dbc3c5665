import { expect, test } from "vitest";
import { MatchBudgetExceeded, newMatching, readArg, spend } from "./matching.ts";
import { MAX_MATCH_WORK } from "./text-matcher.ts";

test("a decision may do exactly so much work, and no more", () => {
  const matching = newMatching();
  spend(matching, MAX_MATCH_WORK - 1);
  spend(matching, 1);
  expect(() => spend(matching, 0)).not.toThrow();
  expect(() => spend(matching, 1)).toThrow(MatchBudgetExceeded);
});

test("arguments are read by their own names, in any order", () => {
  const matching = newMatching({ a: 1, b: null, toString: "own" });
  const names = ["a", "a", "b", "a", "c", "c", "constructor", "toString"];
  expect(names.map((name) => readArg(matching, name))).toEqual([1, 1, null, 1, undefined, undefined, undefined, "own"]);
});
