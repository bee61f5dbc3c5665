import { expect, test } from "vitest";
import { readFlag } from "./read-flag.ts";

test.each<[string, unknown, RegExp, number]>([
  ["entries that are not so", { kind: "audit", doubts: [{ seq: 4, problem: "wrong" }] }, /tampered/, 1],
  ["doubts that are none", { kind: "audit", doubts: [null, { seq: "4" }, 7] }, /tampered/, 0],
  ["no doubts", { kind: "audit" }, /tampered/, 0],
  ["a plan that was not closed", { kind: "never_closed", at: 5 }, /never closed/, 0],
  ["another kind", { kind: "of tomorrow" }, /marked/, 0],
  ["a text", "flag", /marked/, 0],
])("says what a flag is about: %s", (_name, flagged, words, doubts) => {
  const flag = readFlag(flagged);
  expect(flag.words).toMatch(words);
  expect(flag.doubts).toHaveLength(doubts);
});
