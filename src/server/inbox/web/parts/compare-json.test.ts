import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Json, type JsonObject, jsonEqual } from "../../../../core/json.ts";
import { compareEntries, compareTexts, countDifferences, hasAtMost } from "./compare-json.ts";

type Container = JsonObject | readonly Json[];

/** Like `+b=2 ~a=1(0)`. */
function marks(value: Container, was?: Json): string {
  const signs = { same: "", changed: "~", added: "+", removed: "-" };
  return compareEntries(value, was)
    .map(({ name, value: item, mark, was: before }) => {
      const label = `${signs[mark]}${name === undefined ? "" : `${name}=`}${JSON.stringify(item)}`;
      return mark === "changed" ? `${label}(${JSON.stringify(before)})` : label;
    })
    .join(" ");
}

describe("the entries of a value", () => {
  test.each<[string, Container, Json | undefined, string]>([
    ["without another one", { a: 1, b: [2] }, undefined, "a=1 b=[2]"],
    ["the same", { a: 1 }, { a: 1 }, "a=1"],
    ["in another order of keys", { a: 1, b: 2 }, { b: 2, a: 1 }, "a=1 b=2"],
    ["changed, added and removed", { a: 1, c: 3 }, { a: 0, b: 2 }, "~a=1(0) +c=3 -b=2"],
    ["a number that became a text", { a: "1" }, { a: 1 }, '~a="1"(1)'],
    ["an object inside is entered", { a: { x: 1 } }, { a: { x: 2 } }, 'a={"x":1}'],
    ["an object that became an array", { a: [] }, { a: {} }, "~a=[]({})"],
    ["null beside an object", { a: null }, { a: {} }, "~a=null({})"],
    ["names of Object.prototype", { toString: 1, ["__proto__"]: 2 }, {}, "+toString=1 +__proto__=2"],
    ["an item put in at the front", [0, 1, 2], [1, 2], "+0 1 2"],
    ["an item taken out of the middle", [1, 3], [1, 2, 3], "1 -2 3"],
    ["an item changed", [1, 9, 3], [1, 2, 3], "1 ~9(2) 3"],
    ["more at the end", [1, 2], [1], "1 +2"],
    ["all gone", [], [1, 2], "-1 -2"],
    ["an array beside an object", [1], { 0: 1 }, "1"],
  ])("%s", (_name, value, was, expected) => {
    expect(marks(value, was)).toBe(expected);
  });

  test("count as many differences as are marked", () => {
    expect(countDifferences({ a: { x: 1, y: [1, 2] }, b: 1 }, { a: { x: 2, y: [2] }, c: 1 })).toBe(4);
    expect(countDifferences([], {})).toBe(1);
    expect(countDifferences("a", "a")).toBe(0);
  });

  test("differ exactly if the values do, and are all of both", () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(json, json, (value, was) => {
        expect(countDifferences(value, was) === 0).toBe(jsonEqual(value, was));
        if (!Array.isArray(value) || !Array.isArray(was)) return;
        const entries = compareEntries(value, was);
        expect(entries.filter(({ mark }) => mark !== "removed").map((entry) => entry.value)).toEqual(value);
        const before = entries.filter(({ mark }) => mark !== "added");
        expect(before.map((entry) => (entry.mark === "removed" ? entry.value : entry.was))).toEqual(was);
      }),
    );
  });
});

describe("a text beside another one", () => {
  test.each([
    ["abc", "abc", ["abc", "", ""]],
    ["abXc", "abYc", ["ab", "X", "c"]],
    ["abc", "", ["", "abc", ""]],
    ["aa", "aaa", ["aa", "", ""]],
    ["a😀b", "a😁b", ["a", "😀", "b"]],
  ])("%j beside %j", (text, was, [before, changed, after]) => {
    expect(compareTexts(text, was)).toEqual({ before, changed, after });
  });
});

test.each<[Json, number, boolean]>([
  [1, 1, true],
  [{ a: 1 }, 2, true],
  [{ a: 1, b: 2 }, 2, false],
  [Array(1_000_000).fill(0), 10, false],
])("a value has at most so many in it", (value, limit, expected) => {
  expect(hasAtMost(value, limit)).toBe(expected);
});
