import { describe, expect, test } from "vitest";
import { omitUndefined } from "./omit-undefined.ts";

const when = new Date(0);
const named = JSON.parse('{"__proto__": {"a": 1}}') as object;

describe("omitUndefined", () => {
  test.each([
    { name: "a field", value: { a: 1, b: undefined }, expected: { a: 1 } },
    { name: "a field deep inside", value: { a: [{ b: undefined, c: null }] }, expected: { a: [{ c: null }] } },
    { name: "no item of an array", value: [undefined], expected: [undefined] },
    { name: "nothing of a scalar", value: "x", expected: "x" },
    { name: "nothing of null", value: null, expected: null },
  ])("leaves out $name", ({ value, expected }) => {
    expect(omitUndefined(value)).toStrictEqual(expected);
  });

  test("keeps what it does not know", () => {
    expect(omitUndefined({ when })).toEqual({ when });
    expect((omitUndefined({ when }) as { when: Date }).when).toBe(when);
  });

  test("keeps a field called __proto__ a field", () => {
    expect(Object.keys(omitUndefined(named) as object)).toEqual(["__proto__"]);
  });

  test("ends on what has no end", () => {
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    expect(() => omitUndefined(endless)).not.toThrow();
  });
});
