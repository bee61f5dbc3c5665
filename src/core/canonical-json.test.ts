import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyJson, anything } from "../../test/arbitraries.ts";
import vectors from "../../test/vectors/rfc8785.json" with { type: "json" };
import { canonicalJson } from "./canonical-json.ts";
import { IntentlockError } from "./errors.ts";
import { freezeJson, isJsonObject, type Json } from "./json.ts";

test.each(vectors.documents)("RFC 8785: $name", ({ input, canonical }) => {
  expect(canonicalJson(JSON.parse(input))).toBe(canonical);
});

test.each(vectors.numbers)("RFC 8785: the number $hex is $canonical", ({ hex, canonical }) => {
  const number = new DataView(Uint8Array.from(Buffer.from(hex, "hex")).buffer).getFloat64(0);
  expect(canonicalJson(number)).toBe(canonical);
});

describe("refuses, naming the path", () => {
  test.each<[string, unknown, string]>([
    ["undefined", { a: undefined }, "a: undefined is not JSON"],
    ["undefined in an array", [undefined], "[0]: undefined is not JSON"],
    ["undefined itself", undefined, "The value: undefined is not JSON"],
    ["NaN", { a: { b: Number.NaN } }, "a.b: NaN is not JSON"],
    ["a BigInt", 1n, "The value: bigint is not JSON"],
    ["a date", { at: new Date() }, "at: an instance of Date is not JSON"],
    ["a map", { a: new Map() }, "a: an instance of Map is not JSON"],
    ["a lone surrogate", "\udfff", "The value: a lone surrogate is not JSON"],
    ["a boxed string", [Object("a")], "[0]: an instance of String is not JSON"],
  ])("%s", (_name, value, message) => {
    expect(() => canonicalJson(value)).toThrow(new IntentlockError("ERR_INVALID_JSON", message));
  });
});

describe("puts keys in order, also", () => {
  const shuffledByProxy = (keys: readonly string[]) =>
    new Proxy(Object.fromEntries(keys.map((key) => [key, key])), { ownKeys: () => [...keys] });
  test.each<[string, unknown, string]>([
    ["those that objects put first", { b: 1, 10: 2, 9: 3 }, '{"10":2,"9":3,"b":1}'],
    ["numbers that a proxy gives in order", shuffledByProxy(["10", "9"]), '{"10":"10","9":"9"}'],
    ["numbers that a proxy gives in the middle", shuffledByProxy(["!", "10", "b"]), '{"!":"!","10":"10","b":"b"}'],
    ["those deep in what is in order", { a: [{ c: [{ z: 1, y: 2 }] }], b: 1 }, '{"a":[{"c":[{"y":2,"z":1}]}],"b":1}'],
    ["those of what was frozen", freezeJson({ b: { d: 1, c: 2 }, a: 0 }), '{"a":0,"b":{"c":2,"d":1}}'],
    ["those of a part of what was frozen", freezeJson([{ b: 1, a: 2 }, 0]), '[{"a":2,"b":1},0]'],
  ])("%s", (_name, value, text) => {
    expect(canonicalJson(value)).toBe(text);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });

  test("of any value that was frozen, as of the value", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(canonicalJson(freezeJson(value))).toBe(canonicalJson(value));
      }),
    );
  });
});

describe("properties", () => {
  test("the order of keys does not matter", () => {
    fc.assert(
      fc.property(anyJson, fc.infiniteStream(fc.nat()), (value, numbers) => {
        expect(canonicalJson(shuffled(value, numbers))).toBe(canonicalJson(value));
      }),
    );
  });

  test("it is JSON of the same value, without white space, and canonical again", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = canonicalJson(value);
        expect(text).toHaveLength(JSON.stringify(value).length);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  test("whatever it is given, it throws nothing but ERR_INVALID_JSON", () => {
    fc.assert(
      fc.property(anything, (value) => {
        try {
          JSON.parse(canonicalJson(value));
        } catch (error) {
          expect(error).toMatchObject({ name: "IntentlockError", code: "ERR_INVALID_JSON" });
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** The same value with its keys in another order. */
function shuffled(value: Json, numbers: Iterator<number>): Json {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, numbers));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => ({ key, item, at: Number(numbers.next().value) }));
  entries.sort((a, b) => a.at - b.at);
  return Object.fromEntries(entries.map(({ key, item }) => [key, shuffled(item, numbers)]));
}
