import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyJson, anything } from "../../test/arbitraries.ts";
import { canonicalJson } from "./canonical-json.ts";
import {
  copyJson,
  copySorted,
  freezeArgs,
  freezeJson,
  isJsonObject,
  type Json,
  JsonProblem,
  jsonEqual,
  MAX_ARGS_BYTES,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
} from "./json.ts";

/** `[[[…]]]`, so many levels deep. */
function nestedArrays(levels: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

function nestedObjects(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

function aCycle(): object {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = [cycle];
  return cycle;
}

/** An array of two that are the same array of two, and so on: few objects, 2^levels values. */
function expandingGraph(levels: number): unknown {
  let value: unknown = ["x"];
  for (let level = 1; level < levels; level++) value = [value, value];
  return value;
}

function problemOf(value: unknown, maxBytes?: number): JsonProblem {
  try {
    copyJson(value, maxBytes);
  } catch (error) {
    if (error instanceof JsonProblem) return error;
    throw error;
  }
  throw new Error("it was copied");
}

describe("copyJson copies", () => {
  test.each<[string, unknown, string]>([
    ["null", null, "null"],
    ["-0 as 0", [-0], "[0]"],
    ["the largest number", Number.MAX_VALUE, "1.7976931348623157e+308"],
    ["the smallest number", Number.MIN_VALUE, "5e-324"],
    ["an own key __proto__", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    ["names that objects inherit", { constructor: 1, toString: 2 }, '{"constructor":1,"toString":2}'],
    ["a key toJSON that is not a function", { toJSON: "x" }, '{"toJSON":"x"}'],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["an object of another realm", runInNewContext("({ a: [{ b: 1 }] })"), '{"a":[{"b":1}]}'],
    ["own properties only", Object.setPrototypeOf({ a: 1 }, null), '{"a":1}'],
    ["no symbol keys", { a: 1, [Symbol("b")]: 2 }, '{"a":1}'],
    ["no hidden properties", Object.defineProperty({ a: 1 }, "b", { value: 2 }), '{"a":1}'],
    ["no extra properties of an array", Object.assign([1], { b: 2 }), "[1]"],
    ["a surrogate pair", "\ud83d\ude00", '"😀"'],
    ["a shared part twice", expandingGraph(2), '[["x"],["x"]]'],
    [`${MAX_JSON_DEPTH} levels`, nestedArrays(MAX_JSON_DEPTH), "[".repeat(100) + "]".repeat(100)],
  ])("%s", (_name, value, text) => {
    expect(JSON.stringify(copyJson(value))).toBe(text);
  });
});

test("-0 is 0, not only in print", () => {
  expect(Object.is(copyJson(-0), 0)).toBe(true);
});

describe("copyJson refuses", () => {
  class Point {
    x = 1;
  }
  const endlessName = Object.create({}, { constructor: { value: { name: "x".repeat(1e6) } } });
  const numberedName = Object.create({}, { constructor: { value: { name: 1 } } });
  const bareChain = Object.create(Object.create(null));
  const unreadable = Object.defineProperty({}, "a", {
    enumerable: true,
    get: () => {
      throw new Error("secret words");
    },
  });
  const traps = ["ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor", "get"] as const;
  const throwing = (trap: string, target: object = { a: 1 }) =>
    new Proxy(target, {
      [trap]: () => {
        throw new Error("secret words");
      },
    });
  const revoked = Proxy.revocable([], {});
  revoked.revoke();

  test.each<[string, unknown, string, string]>([
    ["undefined", undefined, "", "undefined is not JSON"],
    ["an undefined property", { a: [{ b: undefined }] }, "a[0].b", "undefined is not JSON"],
    ["NaN", { a: Number.NaN }, "a", "NaN is not JSON"],
    ["Infinity", [Number.NEGATIVE_INFINITY], "[0]", "-Infinity is not JSON"],
    ["a BigInt", { a: 1n }, "a", "bigint is not JSON"],
    ["a symbol", { a: Symbol("s") }, "a", "symbol is not JSON"],
    ["a function", { a() {} }, "a", "function is not JSON"],
    ["a toJSON method", { toJSON: () => "x" }, "toJSON", "function is not JSON"],
    ["a date", { a: new Date(0) }, "a", "an instance of Date is not JSON"],
    ["a map", new Map(), "", "an instance of Map is not JSON"],
    ["a set", new Set(), "", "an instance of Set is not JSON"],
    ["a regular expression", /x/, "", "an instance of RegExp is not JSON"],
    ["an error", new Error("x"), "", "an instance of Error is not JSON"],
    ["bytes", new Uint8Array(1), "", "an instance of Uint8Array is not JSON"],
    ["a boxed number", Object(1), "", "an instance of Number is not JSON"],
    ["a boxed string", Object("a"), "", "an instance of String is not JSON"],
    ["a boxed boolean", Object(true), "", "an instance of Boolean is not JSON"],
    ["a class instance", { p: new Point() }, "p", "an instance of Point is not JSON"],
    ["inherited properties", Object.create({ a: 1 }), "", "an instance of Object is not JSON"],
    ["a class with an endless name", Object.create(endlessName), "", `an instance of ${"x".repeat(100)} is not JSON`],
    ["an instance of a class without a name", new (class {})(), "", "an object with a prototype is not JSON"],
    ["a class whose name is a number", Object.create(numberedName), "", "an object with a prototype is not JSON"],
    ["a prototype without a class", Object.create(bareChain), "", "an object with a prototype is not JSON"],
    ["a hole in an array", Object.assign([1], { length: 2 }), "[1]", "undefined is not JSON"],
    ["an endless sparse array", new Array(4_294_967_295), "[0]", "undefined is not JSON"],
    ["a lone high surrogate", { a: "\ud800" }, "a", "a lone surrogate is not JSON"],
    ["a lone low surrogate", ["\udc00\ud800"], "[0]", "a lone surrogate is not JSON"],
    ["a lone surrogate in a key", { "x\ud800": 1 }, '["x\\ud800"]', "a lone surrogate is not JSON"],
    [
      "a cycle",
      aCycle(),
      "self[0].self[0].self[0].self[0].self[0].self[0].self[0].self[0].self[0].self[0]…",
      "nested more than 100 levels deep, or a cycle",
    ],
    ["101 arrays", nestedArrays(101), `${"[0]".repeat(20)}…`, "nested more than 100 levels deep, or a cycle"],
    ["10,000 objects", nestedObjects(10_000), `a${".a".repeat(19)}…`, "nested more than 100 levels deep, or a cycle"],
    ["a getter that throws", { x: unreadable }, "x.a", "reading it threw an error"],
    ["a revoked proxy", { x: revoked.proxy }, "x", "reading it threw an error"],
    ...traps.map((trap): [string, unknown, string, string] => [
      `a proxy whose ${trap} throws`,
      { x: throwing(trap) },
      trap === "get" ? "x.a" : "x",
      "reading it threw an error",
    ]),
    ["an array proxy that throws", { x: throwing("get", [1]) }, "x", "reading it threw an error"],
  ])("%s", (_name, value, path, message) => {
    const problem = problemOf(value);
    expect({ path: problem.path, message: problem.message }).toEqual({ path, message });
  });
});

test("a value that is too deep is found where it is", () => {
  expect(problemOf(nestedArrays(102)).parts).toEqual(Array(100).fill(0));
});

describe("what answers differently each time", () => {
  test("a getter is asked once", () => {
    let asked = 0;
    const twoFaced = {
      get to() {
        asked++;
        return asked === 1 ? "landlord" : "attacker";
      },
    };
    const copy = copyJson(twoFaced);
    expect([copy, asked]).toEqual([{ to: "landlord" }, 1]);
    expect(copy).toEqual({ to: "landlord" });
  });

  test("a proxy is asked once for each property", () => {
    const asked: PropertyKey[] = [];
    const proxy = new Proxy(["a", "b"], {
      get(target, key) {
        asked.push(key);
        return Reflect.get(target, key);
      },
    });
    expect(copyJson(proxy)).toEqual(["a", "b"]);
    expect(asked).toEqual(["length", "0", "1"]);
  });

  test("an array proxy that lies about its length is cut off at the limit", () => {
    const endless = new Proxy([], { get: (_target, key) => (key === "length" ? Number.POSITIVE_INFINITY : null) });
    expect(problemOf(endless, 1000).message).toBe("larger than 1000 bytes of JSON");
  });

  test("an object proxy cannot pass off a date", () => {
    const disguised = new Proxy(new Date(0), { getPrototypeOf: () => Object.prototype });
    expect(JSON.stringify(copyJson(disguised))).toBe("{}");
  });

  test("the copy shares nothing with the original", () => {
    const original = { list: [{ a: 1 }] };
    const copy = copyJson(original);
    original.list[0] = { a: 2 };
    expect(copy).toEqual({ list: [{ a: 1 }] });
  });

  test("no prototype is set by a key", () => {
    const copy = copyJson(JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect((copy as { admin?: boolean }).admin).toBeUndefined();
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe("the largest arguments", () => {
  // Each fills the limit exactly: `{"a":"` and `"}` are 8 bytes.
  const room = MAX_ARGS_BYTES - 8;
  test.each<[string, string, number]>([
    ["ASCII", "a", 1],
    ["escaped quotes", '"', 2],
    ["escaped control characters", "\u0001", 6],
    ["line feeds", "\n", 2],
    ["two bytes", "é", 2],
    ["three bytes", "€", 3],
    ["four bytes", "😀", 4],
    ["U+2028, which JSON does not escape", "\u2028", 3],
  ])("%s", (_name, character, bytes) => {
    const text = character.repeat(Math.floor(room / bytes)) + "a".repeat(room % bytes);
    const args = { a: text };
    expect(new TextEncoder().encode(JSON.stringify(args)).length).toBe(MAX_ARGS_BYTES);
    expect(copyJson(args, MAX_ARGS_BYTES)).toEqual(args);
    expect(problemOf({ a: `${text}a` }, MAX_ARGS_BYTES).message).toBe("larger than 1048576 bytes of JSON");
  });

  test("many keys, items and numbers are counted exactly", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
        expect(JSON.stringify(copyJson(value, bytes))).toBe(JSON.stringify(value));
        expect(() => copyJson(value, bytes - 1)).toThrow(JsonProblem);
      }),
    );
  });

  test.each<[string, unknown]>([
    ["text", "\u0001\u0001"],
    ["text in a list", ["\u0001"]],
    ["text and a key", { "\u0001": "\u0001" }],
  ])("what JSON prints six times as long is counted exactly: %s", (_name, value) => {
    const bytes = JSON.stringify(value).length;
    expect(copyJson(value, bytes)).toEqual(value);
    expect(problemOf(value, bytes - 1).message).toBe(`larger than ${bytes - 1} bytes of JSON`);
  });

  test.each<[string, unknown]>([
    ["numbers", 1],
    ["empty texts", ""],
    ["nulls", null],
    ["empty lists", []],
    ["objects", { a: 1 }],
  ])("a list is read no further than the limit lets it: %s", (_name, item) => {
    let asked = 0;
    const get = (_target: unknown, key: PropertyKey) => {
      if (key === "length") return 10_000;
      asked++;
      return item;
    };
    expect(problemOf(new Proxy([], { get }), 1000).message).toBe("larger than 1000 bytes of JSON");
    expect(asked).toBe(Math.ceil(1000 / JSON.stringify([item]).slice(1).length));
  });

  test("the value itself is named when it is too large, or the part where it becomes so", () => {
    const text = "x".repeat(1000);
    expect(problemOf(text, 1000).path).toBe("");
    expect(problemOf({ a: [1, text] }, 1000).path).toBe("a[1]");
  });

  test("a graph that expands without end is cut off", () => {
    expect(problemOf(expandingGraph(90), 10_000).message).toBe("larger than 10000 bytes of JSON");
  });

  test("what was frozen under a larger limit is still measured", () => {
    const frozen = freezeJson({ a: "x".repeat(2000) });
    expect(problemOf(frozen, 1000).message).toBe("larger than 1000 bytes of JSON");
    expect(copyJson(frozen, 3000)).toBe(frozen);
  });

  test("so is a part of it", () => {
    const frozen = freezeJson({ large: { a: "x".repeat(2000) }, small: { a: 1 } }) as Record<string, Json>;
    expect(problemOf(frozen["large"], 1000).message).toBe("larger than 1000 bytes of JSON");
    expect(copyJson(frozen["small"], 1000)).toBe(frozen["small"]);
  });
});

describe("freezeJson", () => {
  test("freezes all of it", () => {
    const frozen = freezeJson({ a: [{ b: {} }], c: [] }) as { a: { b: object }[]; c: unknown[] };
    for (const part of [frozen, frozen.a, frozen.a[0], frozen.a[0]?.b, frozen.c]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("does not freeze what it was given", () => {
    const given = { a: {} };
    freezeJson(given);
    expect([Object.isFrozen(given), Object.isFrozen(given.a)]).toEqual([false, false]);
  });

  test("gives back what it made", () => {
    const frozen = freezeJson({ a: 1 });
    expect(freezeJson(frozen)).toBe(frozen);
  });

  test("keeps the limit that it is given, and refuses what has no value", () => {
    expect(freezeJson("x".repeat(998), 1000)).toHaveLength(998);
    expect(() => freezeJson("x".repeat(999), 1000)).toThrow("larger than 1000 bytes of JSON");
    expect(() => freezeJson({ a: undefined })).toThrow("undefined is not JSON");
  });

  test("copies what somebody else froze", () => {
    const theirs = Object.freeze({ a: { b: 1 } });
    const ours = freezeJson(theirs);
    theirs.a.b = 2;
    expect(ours).toEqual({ a: { b: 1 } });
  });
});

describe("copySorted", () => {
  const givingKeys = (...keys: string[]) =>
    new Proxy(Object.fromEntries(keys.map((key) => [key, 0])), { ownKeys: () => keys });

  test.each<[string, unknown, boolean]>([
    ["no keys", [1, "a"], true],
    ["keys in order", { A: 1, b: 2 }, true],
    ["an empty key", { "": 1, a: 2 }, true],
    ["what stands around digits", { "/": 1, ":": 2 }, true],
    ["keys in another order", { b: 1, a: 2 }, false],
    ["keys in another order deep inside", [{ a: { c: 1, b: 2 } }], false],
    ["a 0 that the copy puts first", givingKeys("!", "0"), false],
    ["a 9 that the copy puts first", givingKeys("!", "9"), false],
    ["what was frozen in order", freezeJson({ a: 1, b: 2 }), true],
    ["what was frozen in another order", freezeJson({ b: 1, a: 2 }), false],
  ])("says whether JSON prints keys in canonical order: %s", (_name, value, sorted) => {
    expect(copySorted(value)).toMatchObject({ copy: copyJson(value), sorted });
  });

  test("refuses what has no value, and what is larger than any value may be", () => {
    expect(() => copySorted({ a: undefined })).toThrow("undefined is not JSON");
    expect(() => copySorted("x".repeat(MAX_JSON_BYTES))).toThrow(`larger than ${MAX_JSON_BYTES} bytes of JSON`);
  });
});

describe("jsonEqual", () => {
  test.each<[string, Json, Json, boolean]>([
    ["text and a number", "20", 20, false],
    ["null and false", null, false, false],
    ["null and an object", null, {}, false],
    ["an object and null", {}, null, false],
    ["an object and a number", {}, 20, false],
    ["an object and the text of its keys", { 0: "a" }, "a", false],
    ["an array and an object", [], {}, false],
    ["an object with the keys of an array", { 0: "a", length: 1 }, ["a"], false],
    ["the other order of keys", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ["the other order of items", [1, 2], [2, 1], false],
    ["as many other keys", { a: 1 }, { b: 1 }, false],
    ["an inherited name", { toString: 1 }, { a: 1 }, false],
    ["an own __proto__ and an inherited one", JSON.parse('{"__proto__":{}}'), { a: 1 }, false],
    ["a prefix", [1], [1, 2], false],
  ])("%s", (_name, actual, expected, equal) => {
    expect(jsonEqual(actual, expected)).toBe(equal);
    expect(jsonEqual(expected, actual)).toBe(equal);
  });

  test("reports what it enters, before it enters", () => {
    const entered: number[] = [];
    jsonEqual([{ a: 1, b: 2, c: 3 }], [{ a: 1, b: 2, c: 3 }], (items) => entered.push(items));
    expect(entered).toEqual([1, 3]);
  });

  test("stops when it is told to", () => {
    const stop = () => {
      throw new RangeError("enough");
    };
    expect(() => jsonEqual([1], [1], stop)).toThrow(RangeError);
  });
});

test.each<[string, unknown, boolean]>([
  ["an object", {}, true],
  ["an array", [], false],
  ["null", null, false],
  ["text", "x", false],
  ["a function", () => 1, false],
])("isJsonObject: %s", (_name, value, is) => {
  expect(isJsonObject(value)).toBe(is);
});

describe("properties", { timeout: 30_000 }, () => {
  test("a copy of JSON is what printing and parsing make of it", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const reread = JSON.parse(JSON.stringify(value));
        expect(JSON.stringify(copyJson(value))).toBe(JSON.stringify(reread));
        expect(jsonEqual(copyJson(value), reread)).toBe(true);
      }),
    );
  });

  test("whatever it is given, copyJson gives JSON or throws a JsonProblem with a path", () => {
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const copy = copyJson(value);
          expect(JSON.stringify(JSON.parse(JSON.stringify(copy)))).toBe(JSON.stringify(copy));
        } catch (error) {
          expect(error).toBeInstanceOf(JsonProblem);
          expect((error as JsonProblem).path.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("values are equal exactly if their canonical texts are", () => {
    const pairs = fc.oneof(
      fc.tuple(anyJson, anyJson),
      anyJson.map((value): [Json, Json] => [value, reversed(value)]),
    );
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        expect(jsonEqual(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
      }),
      { numRuns: 300 },
    );
  });
});

/** The same value with its keys in the other order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

describe("freezeArgs", () => {
  test.each<[string, unknown, Json]>([
    ["leaves out a field", { a: 1, b: undefined }, { a: 1 }],
    ["leaves out a field deep inside", { a: [{ b: undefined, c: null }] }, { a: [{ c: null }] }],
    [
      "keeps a field called __proto__ a field",
      JSON.parse('{"__proto__":{"a":1}}'),
      JSON.parse('{"__proto__":{"a":1}}'),
    ],
  ])("%s", (_name, args, expected) => {
    expect(freezeArgs(args)).toStrictEqual(expected);
    expect(Object.isFrozen(freezeArgs(args))).toBe(true);
  });

  test("refuses an item of a list that is undefined", () => {
    expect(() => freezeArgs({ a: [undefined] })).toThrow("undefined is not JSON");
  });

  test("bounds what fields without a value hide", () => {
    expect(() => freezeArgs({ a: undefined, b: "x".repeat(MAX_ARGS_BYTES) })).toThrow("larger than");
    expect(() => freezeArgs(expandingGraph(40))).toThrow("larger than");
  });
});
