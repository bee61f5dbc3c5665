import { expect, test } from "vitest";
import type { Json } from "../../../../core/json.ts";
import { previewJson } from "./preview-json.ts";

test.each<[string, Json, string]>([
  [
    "a call's arguments",
    { to: "landlord", amount: 20, tags: [true, null] },
    '{ "to": "landlord", "amount": 20, "tags": [true, null] }',
  ],
  ["nothing", {}, "{}"],
  ["no list", [], "[]"],
  ["a line end", "a\nb", '"a\\nb"'],
  ["what is deep", [[[[1]]]], "[[[[…]]]]"],
  ["many items", Array.from({ length: 20 }, (_, index) => index), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …]"],
  ["a character at the end of what is shown", `a${"😀".repeat(40)}`, `"a${"😀".repeat(29)}…"`],
  ["a long text", "x".repeat(100_000), `"${"x".repeat(60)}…"`],
])("%s in one line", (_name, value, text) => {
  expect(previewJson(value)).toBe(text);
});

test.each(["", "a"])("is short and whole characters, whatever it is of, after %j", (before) => {
  const names = Array.from({ length: 100_000 }, (_, index) => `${before}${"😀".repeat(40)}${index}`);
  const text = previewJson(Object.fromEntries(names.map((name) => [name, name])));
  expect(text.length).toBeLessThan(220);
  expect(text.isWellFormed()).toBe(true);
});
