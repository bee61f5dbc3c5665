import { expect, test } from "vitest";
import { describeCalls } from "./describe-calls.ts";

test.each<[number | undefined, number | undefined, string]>([
  [1, undefined, "once"],
  [3, undefined, "at most 3 times"],
  [undefined, undefined, ""],
  [1, 0, "0 of 1 call"],
  [3, 2, "2 of 3 calls"],
  [undefined, 1, "1 call, no limit"],
])("calls in words: %j, of which %j are used", (maxCalls, used, words) => {
  expect(describeCalls(maxCalls, used)).toBe(words);
});
