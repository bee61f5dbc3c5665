import { expect, test } from "vitest";
import { cutText } from "./cut-text.ts";

test.each([
  ["abc", 0, 2, "ab"],
  ["a😀b", 0, 2, "a"],
  ["a😀b", 0, 3, "a😀"],
  ["a😀b", 2, 4, "😀b"],
  ["abc", 1, 100, "bc"],
  ["\udc00x", 0, 1, "\udc00"],
  ["", 0, 5, ""],
])("of %j from %d to %d", (text, from, to, expected) => {
  expect(cutText(text, from, to)).toBe(expected);
});
