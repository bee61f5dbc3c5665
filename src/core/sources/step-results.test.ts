import { describe, expect, test } from "vitest";
import { aPlan } from "../../../test/builders.ts";
import type { Json } from "../json.ts";
import { parsePointer } from "../json-pointer.ts";
import { createStepResults, MAX_STEP_RESULTS, StepResults } from "./step-results.ts";

const PLAN = aPlan(
  { tool: "search", id: "found" },
  { tool: "search", id: "unnamed" },
  { tool: "search" },
  { args: { to: { from: ["found", { step: "__proto__", path: "/a" }] } } },
  { tool: "search", id: "__proto__" },
);

function free(): void {}

/** Whether what a call gave has a text, and whether it has a value at a place. */
function given(...results: readonly unknown[]): {
  readonly has: (text: string) => boolean;
  readonly at: (path: string, value: Json) => number | undefined;
  readonly number: (value: number) => boolean;
} {
  const all = createStepResults(PLAN);
  for (const [seq, result] of results.entries()) all.add(0, seq, result);
  const of = StepResults.of(all, "found");
  return {
    has: (text) => of?.find(text, free) !== undefined,
    number: (value) => of?.findNumber(value) !== undefined,
    at: (path, value) => of?.findAt(path, parsePointer(path) ?? [], { value, spend: free }),
  };
}

test("results are kept of the steps that a from names, and of no others", () => {
  const results = createStepResults(PLAN);
  expect([results.isEmpty, ...PLAN.steps.map((_, step) => results.wants(step))]).toEqual([
    false,
    true,
    false,
    false,
    false,
    true,
  ]);
  for (const step of [-1, 1, 2, 3, 5, 0.5, Number.NaN]) results.add(step, 0, "bob");
  expect(StepResults.of(results, "found")?.find("bob", free)).toBeUndefined();
  expect(StepResults.of(results, "unnamed")).toBeUndefined();
  results.add(4, 7, "bob");
  expect(StepResults.of(results, "__proto__")?.find("bob", free)).toBe(7);
  expect(StepResults.of(results, "constructor")).toBeUndefined();
  expect(createStepResults(aPlan({ id: "found" })).isEmpty).toBe(true);
  expect(results).toSatisfy(Object.isFrozen);
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a look-alike", Object.create(StepResults.prototype)],
  ["an heir", Object.create(createStepResults(PLAN))],
  ["a proxy", new Proxy(createStepResults(PLAN), {})],
  ["a map", new Map([["found", {}]])],
  ["text", "found"],
])("what createStepResults() did not make is no results: %s", (_name, results) => {
  expect(StepResults.of(results, "found")).toBeUndefined();
});

describe("what a result says", () => {
  test.each<[string, unknown, string, boolean]>([
    ["text", "Pay Bob", "Bob", true],
    ["text in an object", { note: "Pay Bob" }, "Bob", true],
    ["a key", { bob: 1 }, "bob", true],
    ["a number", { amount: 50 }, "50", true],
    ["a number otherwise written", { amount: 50 }, "50.00", false],
    ["a truth", { paid: true }, "true", true],
    ["nothing of null", { paid: null }, "null", false],
    ["what comes after null", { paid: null, note: "Pay Bob" }, "Bob", true],
    ["not the number of an element", ["Bob"], "0", false],
    ["not from one text into the next", ["Pay", "Bob"], "Pay Bob", false],
    ["not from a key into its value", { Pay: "Bob" }, "Pay Bob", false],
    ["text that is JSON: what it says", '{"note":"Pay Bob"}', "Pay Bob", true],
    ["text that is JSON: not the text", '{"note":"Pay Bob"}', '{"note', false],
    ["text that is JSON: not over its texts", '["Pay","Bob"]', "Pay Bob", false],
    ["text in a text that is JSON", { text: '{"note":"[\\"Bob\\"]"}' }, "Bob", true],
    ["an escape in JSON", '["B\\u006fb"]', "Bob", true],
    ["text that is nearly JSON", '{"note":"Pay Bob"', "Bob", true],
    ["text that has a key twice", '{"to":"Bob","to":"Eve"}', "Eve", true],
    ["case", "BOB", "bob", false],
    ["__proto__ as a key", JSON.parse('{"__proto__":{"to":"Bob"}}'), "Bob", true],
    ["what toJSON says", { toJSON: () => "Bob" }, "Bob", true],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z", true],
    ["bytes", new Uint8Array([80]), "80", true],
    ["what is left out of JSON", { note: () => "Bob", a: Symbol("Bob") }, "Bob", false],
    ["a function", () => "Bob", "Bob", false],
  ])("%s", (_name, result, text, expected) => {
    expect(given(result).has(text)).toBe(expected);
  });

  test("numbers by value", () => {
    const results = given({ a: 50, b: "1,000.00", c: '{"d":1e2}', e: "1e3" });
    expect([50, 1000, 100, 1, 3].map(results.number)).toEqual([true, true, true, false, false]);
    expect([given({ a: "1e2" }).number(100), given("1e2").number(100)]).toEqual([false, false]);
  });

  test("an object that answers differently each time is read once", () => {
    let reads = 0;
    const results = given({
      get to() {
        return reads++ === 0 ? "Bob" : "Eve";
      },
    });
    expect([results.has("Bob"), results.has("Eve"), results.at("/to", "Bob"), reads]).toEqual([true, false, 0, 1]);
  });
});

describe("what stands at a place", () => {
  const CONTACT = { email: "a@x.org", age: 5, tags: ["x", "y"], home: { zip: "1" } };
  test.each<[string, unknown, string, Json, boolean]>([
    ["a text", CONTACT, "/email", "a@x.org", true],
    ["exactly", CONTACT, "/email", "A@x.org", false],
    ["not a part of it", { note: "to a@x.org" }, "/note", "a@x.org", false],
    ["a number", CONTACT, "/age", 5, true],
    ["not a text like the number", CONTACT, "/age", "5", false],
    ["null", { email: null }, "/email", null, true],
    ["an object, whatever the order of its keys", { home: { a: 1, b: 2 } }, "/home", { b: 2, a: 1 }, true],
    ["another object", CONTACT, "/home", { zip: "2" }, false],
    ["a list", CONTACT, "/tags", ["x", "y"], true],
    ["a list in another order", CONTACT, "/tags", ["y", "x"], false],
    ["an element", CONTACT, "/tags/*", "y", true],
    ["an element by its number", CONTACT, "/tags/0", "y", false],
    ["the whole", CONTACT, "", CONTACT, true],
    ["every element of an object is nothing", CONTACT, "/*", 5, false],
    ["nothing at another place", CONTACT, "/home/zip", "a@x.org", false],
    ["text that is JSON", JSON.stringify(CONTACT), "/email", "a@x.org", true],
    ["text that is JSON after white space", `\n ${JSON.stringify(CONTACT)}`, "/email", "a@x.org", true],
    ["text that is a number stays text", "5", "", 5, false],
    ["text that is a text of JSON stays as it is", '"a [b"', "", "a [b", false],
    ["a list with a text that is JSON is the list", ['["Bob"]'], "/*", "Bob", false],
    ["text that has a key twice is no structure", '{"email":"a@x.org","email":"b@x.org"}', "/email", "b@x.org", false],
    ["JSON inside of a text is no structure", { text: '{"email":"a"}' }, "/text/email", "a", false],
    ["inherited names are nothing", {}, "/constructor/name", "Object", false],
    ["an own property __proto__", JSON.parse('{"__proto__":{"x":1}}'), "/__proto__/x", 1, true],
    ["an inherited one", {}, "/__proto__/x", 1, false],
  ])("%s", (_name, result, path, value, expected) => {
    expect(given(result).at(path, value) !== undefined).toBe(expected);
  });

  test("the newest counts, and results that come after a place was asked for do too", () => {
    const all = createStepResults(PLAN);
    const find = (value: Json): number | undefined =>
      StepResults.of(all, "found")?.findAt("/a", ["a"], { value, spend: free });
    all.add(0, 1, { a: "x" });
    expect([find("x"), find({ k: 1 })]).toEqual([1, undefined]);
    all.add(0, 2, { a: "x" });
    all.add(0, 3, { a: { k: 1 } });
    all.add(0, 4, { a: { k: 1 } });
    expect([find("x"), find({ k: 1 })]).toEqual([2, 4]);
  });
});

describe("hostile results have no effect", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  let deep: unknown = "bob";
  for (let depth = 0; depth < 200; depth++) deep = [deep];
  let abyss: unknown = "bob";
  for (let depth = 0; depth < 100_000; depth++) abyss = [abyss];
  const throwing = (): never => {
    throw new Error("no");
  };
  test.each<[string, unknown]>([
    ["a cycle", cycle],
    ["200 levels", deep],
    ["100,000 levels", abyss],
    ["a big integer", { bob: "bob", n: 1n }],
    ["a getter that throws", Object.defineProperty({ a: "bob" }, "b", { get: throwing, enumerable: true })],
    ["toJSON that throws", { toJSON: throwing, a: "bob" }],
    ["a proxy that throws", new Proxy({ a: "bob" }, { ownKeys: throwing })],
    ["a lone surrogate", { a: "bob", b: "\ud800" }],
    ["too much", ["bob", "a".repeat(MAX_STEP_RESULTS)]],
    ["nothing", undefined],
  ])("%s", (_name, result) => {
    expect(given(result).has("bob")).toBe(false);
    expect(given(result, "bob").has("bob")).toBe(true);
  });

  test("1 MiB of JSON is kept, and not a character more", () => {
    const results = given("a".repeat(MAX_STEP_RESULTS - 2 - 5), "bob", "eve");
    expect([results.has("bob"), results.has("eve")]).toEqual([true, false]);
    const over = given("a".repeat(MAX_STEP_RESULTS - 2 - 4), "bob", 5);
    expect([over.has("bob"), over.number(5)]).toEqual([false, true]);
  });

  test("thousands of texts that look like JSON are read as texts, and what they say is there", () => {
    const results = given([...Array.from({ length: 2000 }, (_, index) => `[n${index}`), '["bob smith"]']);
    expect([results.has("n0"), results.has("n1999"), results.has("bob smith")]).toEqual([true, true, true]);
    expect([results.has('["bob'), given(['["bob smith"]']).has('["bob')]).toEqual([true, false]);
    const plain = given([...Array.from({ length: 2000 }, () => "n"), '["bob smith"]']);
    expect(plain.has('["bob')).toBe(false);
  });

  test.each<[string, Json, string, Json]>([
    ["many", Array.from({ length: 1000 }, () => []), "/*", [1]],
    ["a large one", { a: Array.from({ length: 1000 }, () => 1) }, "/a", Array.from({ length: 1000 }, () => 1)],
  ])("to compare structures is work, whatever they have in them: %s", (_name, result, path, value) => {
    const all = createStepResults(PLAN);
    all.add(0, 0, result);
    let spent = 0;
    const spend = (work: number): unknown => (spent += work);
    StepResults.of(all, "found")?.findAt(path, parsePointer(path) ?? [], { value, spend });
    expect(spent).toBeGreaterThanOrEqual(10_000);
  });
});
