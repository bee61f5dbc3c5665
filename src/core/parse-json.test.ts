import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyJson } from "../../test/arbitraries.ts";
import { IntentlockError } from "./errors.ts";
import { copyJson, MAX_JSON_BYTES } from "./json.ts";
import { parseJson } from "./parse-json.ts";

function problem(message: string): IntentlockError {
  return new IntentlockError("ERR_INVALID_JSON", message);
}

describe("takes", () => {
  test.each<[string, string]>([
    ["a scalar", " 1 "],
    ["white space of all kinds", ' \t\r\n{ "a"\t:\n1 , "b" : [ ] }\r\n'],
    ["the same key in different objects", '[{"a":1},{"a":{"a":2}}]'],
    ["a key that is also a value", '{"a":"a","b":"a"}'],
    ["a key with a colon and quotes", '{"\\":\\"":1,"b":"\\\\\\":"}'],
    ["text that looks like keys", '{"a":"\\"b\\":1,\\"b\\":2","b":"{\\"a\\":1,\\"a\\":2}"}'],
    ["keys that differ in case", '{"a":1,"A":2}'],
    ["keys that differ in normalisation", '{"é":1,"e\u0301":2}'],
    ["text that ends in backslashes", '{"a":"\\\\","b":"\\\\\\\\"}'],
    ["U+2028 in a string", '["\u2028"]'],
  ])("%s", (_name, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test("an own key __proto__", () => {
    const value = parseJson('{"__proto__":{"admin":true}}');
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });

  test("and freezes it", () => {
    expect(Object.isFrozen((parseJson('{"a":[1]}') as { a: unknown }).a)).toBe(true);
  });
});

describe("refuses", () => {
  const NOT_JSON = "The text is not JSON";
  const DEEP = "nested more than 100 levels deep, or a cycle";
  test.each<[string, string, string]>([
    ["nothing", "", NOT_JSON],
    ["a comma too many", "[1,]", NOT_JSON],
    ["a comment", "[1] // one", NOT_JSON],
    ["NaN", "NaN", NOT_JSON],
    ["a byte order mark", "\ufeff{}", NOT_JSON],
    ["two documents", "{}{}", NOT_JSON],
    ["a raw line feed in a string", '"\n"', NOT_JSON],
    ["a duplicate key", '{"a":1,"a":1}', "a: the key is given twice"],
    [
      "a duplicate key further down",
      '{"x":[0,{"b":{}},{"a":{"c":1,"d":[],"c":2}}]}',
      "x[2].a.c: the key is given twice",
    ],
    ["a duplicate key, one escaped", '{"a":1,"\\u0061":2}', "a: the key is given twice"],
    ["a duplicate key, differently escaped", '{"\\n":1,"\\u000A":2}', '["\\n"]: the key is given twice'],
    ["a duplicate empty key", '{"":1,"":2}', '[""]: the key is given twice'],
    ["a duplicate __proto__", '{"__proto__":1,"__proto__":2}', "__proto__: the key is given twice"],
    ["a duplicate after nested ones", '{"a":{"b":[{}]},"c":1,"a":2}', "a: the key is given twice"],
    ["a duplicate with space before the colon", '{"a" :1,"a"\n:2}', "a: the key is given twice"],
    ["a lone surrogate written as an escape", '{"a":"\\ud800"}', "a: a lone surrogate is not JSON"],
    ["a number past the largest", "[1e999]", "[0]: Infinity is not JSON"],
    ["101 levels", "[".repeat(101) + "]".repeat(101), `${"[0]".repeat(20)}…: ${DEEP}`],
    ["10,000 levels", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, `a${".a".repeat(19)}…: ${DEEP}`],
  ])("%s", (_name, text, message) => {
    expect(() => parseJson(text)).toThrow(problem(message));
  });

  test("text past the limit, before it is read", () => {
    const message = "Expected JSON text of at most 16777216 characters";
    expect(() => parseJson(" ".repeat(MAX_JSON_BYTES + 1))).toThrow(problem(message));
    expect(() => parseJson({ toString: () => "1" } as unknown as string)).toThrow(problem(message));
  });

  test("the text is not in the message", () => {
    expect(() => parseJson('{"key":"secret words')).toThrow(/^(?!.*secret)/);
  });
});

// A regular expression over the string exhausted the stack of V8 here.
test("a string of 10 million characters", () => {
  expect(parseJson(`{"a":"${"x".repeat(10_000_000)}"}`)).toHaveProperty("a.length", 10_000_000);
});

test("quotes and backslashes without end", () => {
  const value = { a: '\\"'.repeat(1_000_000), b: "\\".repeat(1_000_001) };
  expect(parseJson(JSON.stringify(value))).toEqual(value);
});

describe("properties", () => {
  test("agrees with JSON.parse on text without duplicates", () => {
    const indent = fc.constantFrom<[string | number]>([0], [2], ["\t"]);
    fc.assert(
      fc.property(anyJson, indent, (value, [space]) => {
        const text = JSON.stringify(value, null, space);
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test("on any text it gives what JSON.parse gives, or throws ERR_INVALID_JSON", () => {
    const damaged = fc
      .tuple(anyJson, fc.nat(), fc.constantFrom("", ",", '"', "{", "}", "\\", '"a":1,'))
      .map(([value, at, inserted]) => {
        const text = JSON.stringify(value);
        const index = at % (text.length + 1);
        return text.slice(0, index) + inserted + text.slice(index + (inserted === "" ? 1 : 0));
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.string({ unit: "binary" })), (text) => {
        try {
          const value = parseJson(text);
          expect(JSON.stringify(value)).toBe(JSON.stringify(copyJson(JSON.parse(text))));
        } catch (error) {
          expect(error).toMatchObject({ code: "ERR_INVALID_JSON" });
        }
      }),
      { numRuns: 500 },
    );
  });

  test("an object with a key twice is refused wherever it is", () => {
    const around = fc.constantFrom(["", ""], ["[0,", "]"], ['{"x":', ',"y":"z"}'], ['["\\"",{"a":[', "]}]"]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), anyJson, anyJson, around, (key, a, b, [before, after]) => {
        const twice = `{${JSON.stringify(key)}:${JSON.stringify(a)},${JSON.stringify(key)}:${JSON.stringify(b)}}`;
        expect(() => parseJson(`${before}${twice}${after}`)).toThrow("the key is given twice");
      }),
    );
  });
});
