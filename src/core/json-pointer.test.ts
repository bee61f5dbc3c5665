import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyJson } from "../../test/arbitraries.ts";
import type { Json } from "./json.ts";
import { appendPointer, everyAt, MISSHAPEN, parsePointer, someAt } from "./json-pointer.ts";

describe("parsePointer", () => {
  test.each<[string, string, readonly string[] | undefined]>([
    ["the whole value", "", []],
    ["a name", "/to", ["to"]],
    ["an empty name", "/", [""]],
    ["two empty names", "//", ["", ""]],
    ["a slash in a name", "/a~1b/c", ["a/b", "c"]],
    ["a tilde in a name", "/a~0b", ["a~b"]],
    ["what only looks like a slash", "/a~01b", ["a~1b"]],
    ["inherited names", "/__proto__/constructor", ["__proto__", "constructor"]],
    ["every element", "/items/*/email", ["items", "*", "email"]],
    ["a star in a name is no star", "/a*", ["a*"]],
    ["no slash", "to", undefined],
    ["a tilde that says nothing", "/a~2", undefined],
    ["a tilde at the end", "/a~", undefined],
    ["1,000 characters", `/${"a".repeat(999)}`, ["a".repeat(999)]],
    ["1,001 characters", `/${"a".repeat(1000)}`, undefined],
    ["a fragment", "#/to", undefined],
  ])("%s", (_name, text, parts) => {
    expect(parsePointer(text)).toEqual(parts);
  });

  test("undoes appendPointer, whatever the names are", () => {
    const name = fc.oneof(fc.constantFrom("~", "/", "~1", "~01", "", "*", "__proto__"), fc.string({ maxLength: 5 }));
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), (names) => {
        expect(parsePointer(names.reduce(appendPointer, ""))).toEqual(names);
      }),
    );
  });
});

const VALUE = JSON.parse(
  '{"to":{"email":"a"},"items":[{"email":"a"},{"email":"b"},{"n":1}],"rows":[[1,2],[3]],"text":"abc","none":null,' +
    '"empty":[],"a/b":{"~":1},"":2,"__proto__":{"x":3},"0":4}',
) as Json;

/** What stands at a pointer, each found value in order. */
function findAll(value: Json | undefined, path: string): unknown[] {
  const found: unknown[] = [];
  everyAt(value, parsePointer(path) ?? ["no pointer"], (item) => {
    found.push(item === MISSHAPEN ? "misshapen" : item);
    return true;
  });
  return found;
}

describe("everyAt", () => {
  test.each<[string, string, unknown[]]>([
    ["the whole value", "", [VALUE]],
    ["a property", "/to/email", ["a"]],
    ["a missing property", "/to/name", [undefined]],
    ["below what is missing", "/nobody/email", [undefined]],
    ["below null", "/none/email", [undefined]],
    ["null itself", "/none", [null]],
    ["below text", "/text/email", ["misshapen"]],
    ["the length of text", "/text/length", ["misshapen"]],
    ["a character of text", "/text/0", ["misshapen"]],
    ["every element", "/items/*/email", ["a", "b", undefined]],
    ["an element", "/items/1/email", ["b"]],
    ["past the end", "/items/3/email", [undefined]],
    ["past the end, with two digits", "/items/10", [undefined]],
    ["an index with a zero before it", "/items/01", ["misshapen"]],
    ["the end of a list", "/items/-", ["misshapen"]],
    ["the length of a list", "/items/length", ["misshapen"]],
    ["a name in a list", "/items/email", ["misshapen"]],
    ["every element of every element", "/rows/*/*", [1, 2, 3]],
    ["no element", "/empty/*", []],
    ["every element of an object", "/to/*", ["misshapen"]],
    ["every element of text", "/text/*", ["misshapen"]],
    ["every element of null", "/none/*", [undefined]],
    ["every element of what is missing", "/nobody/*", [undefined]],
    ["a name with a slash and one with a tilde", "/a~1b/~0", [1]],
    ["an empty name", "/", [2]],
    ["an own property __proto__", "/__proto__/x", [3]],
    ["an inherited one", "/constructor", [undefined]],
    ["an inherited one of a list", "/items/constructor", ["misshapen"]],
    ["a number as a name", "/0", [4]],
  ])("%s", (_name, path, found) => {
    expect(findAll(VALUE, path)).toEqual(found);
  });

  test("stops at the first that the test does not hold for, and tells how many elements it may look at", () => {
    const seen: unknown[] = [];
    const lists: number[] = [];
    const test = (found: unknown): boolean => seen.push(found) < 2;
    expect(everyAt(VALUE, ["rows", "*", "*"], test, (items) => lists.push(items))).toBe(false);
    expect([seen, lists]).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });
});

describe("someAt", () => {
  test.each<[string, string, boolean]>([
    ["one of the elements", "/items/*/email", true],
    ["nothing", "/items/*/name", false],
    ["no element", "/empty/*", false],
    ["what is misshapen is nothing", "/text/*", false],
  ])("%s", (_name, path, holds) => {
    expect(someAt(VALUE, parsePointer(path) ?? [], () => true)).toBe(holds);
  });

  test("is asked about what is there only, and everyAt about the same", () => {
    const pointer = fc.array(fc.oneof(fc.constantFrom("*", "0", "1", "length"), fc.string({ maxLength: 2 })));
    fc.assert(
      fc.property(anyJson, pointer, (value, parts) => {
        const some: Json[] = [];
        someAt(value, parts, (found) => some.push(found) < 0);
        const every: (Json | undefined)[] = [];
        everyAt(value, parts, (found) => every.push(found) > 0);
        expect(some).toEqual(every.filter((found) => found !== undefined && found !== MISSHAPEN));
        expect(some.every((found) => found === null || typeof found !== "symbol")).toBe(true);
      }),
    );
  });
});
