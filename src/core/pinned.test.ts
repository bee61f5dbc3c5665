import { describe, expect, test } from "vitest";
import { aPlan } from "../../test/builders.ts";
import { compilePlan, findMismatch } from "./compile-plan.ts";
import type { JsonObject } from "./json.ts";
import { newMatching } from "./matching.ts";
import { compileTarget, isUnpinned } from "./pinned.ts";
import type { PlanStep } from "./plan.ts";
import { assertPolicy } from "./policy.ts";
import type { FoundSource } from "./sources/find-source.ts";

/** Whether a target is open in a call that the step allows. */
function isOpen(target: string, step: Partial<PlanStep>, args: JsonObject): boolean {
  const [compiled] = compilePlan(aPlan(step)).get("send_money") ?? [];
  if (!compiled) throw new Error("no step");
  const matching = newMatching(args);
  expect(findMismatch(compiled, matching)).toBeUndefined();
  return isUnpinned(compileTarget(target), matching);
}

describe("carried", () => {
  test.each<[string, string, string, boolean]>([
    ["text", "to", '{"to":"a"}', true],
    ["missing", "to", "{}", false],
    ["null", "to", '{"to":null}', false],
    ["an empty list", "to", '{"to":[]}', false],
    ["a list with null in it", "to", '{"to":[null]}', true],
    ["empty text", "to", '{"to":""}', true],
    ["an empty object", "to", '{"to":{}}', true],
    ["false", "to", '{"to":false}', true],
    ["an inherited name", "constructor", "{}", false],
    ["an own property __proto__", "__proto__", '{"__proto__":1}', true],
    ["an empty name", "/", '{"":1}', true],
    ["a name with a slash", "/a~1b", '{"a/b":1}', true],
    ["the same, as a name", "a/b", '{"a/b":1}', true],
    ["a place", "/to/email", '{"to":{"email":"a"}}', true],
    ["a place without anything", "/to/email", '{"to":{"name":"a"}}', false],
    ["below null", "/to/email", '{"to":null}', false],
    ["text in the way: the tool may take it", "/to/email", '{"to":"a"}', true],
    ["a list in the way", "/to/email", '{"to":["a"]}', true],
    ["an object in place of a list", "/to/*", '{"to":{"email":"a"}}', true],
    ["text in place of a list", "/to/*", '{"to":"a"}', true],
    ["one of the elements", "/to/*/email", '{"to":[{},{"email":"a"}]}', true],
    ["no element", "/to/*/email", '{"to":[{},{"email":null}]}', false],
    ["an element that is text", "/to/*/email", '{"to":["a"]}', true],
  ])("%s", (_name, target, args, expected) => {
    expect(isOpen(target, {}, JSON.parse(args))).toBe(expected);
  });
});

describe("fixed", () => {
  test.each<[string, string, Partial<PlanStep>, JsonObject, boolean]>([
    ["by nothing", "to", {}, { to: "a" }, false],
    ["by eq", "to", { args: { to: { eq: "a" } } }, { to: "a" }, true],
    ["by in", "to", { args: { to: { in: ["a", "b"] } } }, { to: "a" }, true],
    ["by eq that is optional", "to", { args: { to: { eq: "a", optional: true } } }, { to: "a" }, true],
    ["not by a glob", "to", { args: { to: { glob: "a" } } }, { to: "a" }, false],
    ["not by a regex", "to", { args: { to: { regex: "a" } } }, { to: "a" }, false],
    ["not by bounds", "to", { args: { to: { lte: 5, gte: 5 } } }, { to: 5 }, false],
    ["not by optional", "to", { args: { to: { optional: true } } }, { to: "a" }, false],
    ["not by a length", "to", { args: { to: { maxItems: 1 } } }, { to: ["a"] }, false],
    ["by each eq", "to", { args: { to: { each: { eq: "a" } } } }, { to: ["a"] }, true],
    ["not by each glob", "to", { args: { to: { each: { glob: "*" } } } }, { to: ["a"] }, false],
    ["by anyOf that fix it", "to", { args: { to: { anyOf: [{ eq: "a" }, { in: ["b"] }] } } }, { to: "a" }, true],
    [
      "not by anyOf of which one does",
      "to",
      { args: { to: { anyOf: [{ eq: "a" }, { glob: "*" }] } } },
      { to: "a" },
      false,
    ],
    ["by anyOf with nothing", "to", { args: { to: { anyOf: [{ eq: "a" }, { absent: true }] } } }, { to: "a" }, true],
    [
      "by each anyOf",
      "to",
      { args: { to: { each: { anyOf: [{ eq: "a" }, { eq: "b" }] } } } },
      { to: ["b", "a"] },
      true,
    ],
    ["by a place: its own", "/to/email", { at: { "/to/email": { eq: "a" } } }, { to: { email: "a" } }, true],
    [
      "not as a whole by a place in it",
      "to",
      { at: { "/to/email": { eq: "a" } } },
      { to: { email: "a", cc: "b" } },
      false,
    ],
    ["by what it is part of", "/to/email", { args: { to: { eq: { email: "a" } } } }, { to: { email: "a" } }, true],
    ["by all its elements", "to", { at: { "/to/*": { eq: "a" } } }, { to: ["a"] }, true],
    ["not by one of its elements", "to", { at: { "/to/0": { eq: "a" } } }, { to: ["a", "b"] }, false],
    [
      "not by a place of all its elements",
      "to",
      { at: { "/to/*/email": { eq: "a" } } },
      { to: [{ email: "a" }] },
      false,
    ],
    ["place by place", "/to/*/email", { at: { "/to/*/email": { eq: "a" } } }, { to: [{ email: "a" }] }, true],
    ["by a source that empty text need not have", "to", { args: { to: { from: "task" } } }, { to: "" }, true],
    ["not by another argument", "to", { args: { cc: { eq: "a" } } }, { to: "a", cc: "a" }, false],
    [
      "not by a name like a pointer",
      "/to/x",
      { args: { "to/x": { eq: "a" } } },
      { to: { x: "b" }, "to/x": "a" },
      false,
    ],
    ["not by an argument named *", "to", { args: { "*": { eq: "a" } } }, { to: "b", "*": "a" }, false],
    [
      "twice: by one of two conditions",
      "to",
      { args: { to: { eq: "a" } }, at: { "/to": { glob: "*" } } },
      { to: "a" },
      true,
    ],
  ])("%s", (_name, target, step, args, isFixed) => {
    expect(isOpen(target, step, args)).toBe(!isFixed);
  });
});

test("what is carried is open where there is no step to fix it", () => {
  expect(isUnpinned(compileTarget("to"), newMatching({ to: "a" }))).toBe(true);
});

describe("to look is work", () => {
  /** The work that it takes to see whether `to` is open where these values were found for it. */
  function workFor(target: string, args: JsonObject, found: readonly FoundSource[] = []): number {
    const [step] = compilePlan(aPlan({ args: { to: { from: "task" } } })).get("send_money") ?? [];
    const grounds = { task: undefined, lacksTask: false, results: undefined, recorded: undefined, trusted: new Map() };
    const matching = { ...newMatching(args), step, grounds: { ...grounds, found: [...found] } };
    const { left } = matching;
    isUnpinned(compileTarget(target), matching);
    return left - matching.left;
  }

  test("through a list", () => {
    const to = Array.from({ length: 100 }, () => ({}));
    expect(workFor("/to/*/email", { to })).toBeGreaterThanOrEqual(5000);
  });

  test("through what was found", () => {
    const found = Array.from({ length: 100 }, () => ({ match: { arg: "/to", from: "task" }, pins: true }));
    expect(workFor("to", { to: "a" }, found)).toBeGreaterThanOrEqual(100);
  });
});

describe("a target that cannot be meant is refused", () => {
  test.each(["*", "/*", "/*/email", "/a~2", ""])("%s", (target) => {
    const rule = { id: "ask", match: { unpinned: [target] }, decision: "block" };
    expect(() => assertPolicy({ version: 1, default: "block", rules: [rule] })).toThrow();
  });

  test.each(["to", "/to", "/to/*/email", "a*", "__proto__"])("%s is not", (target) => {
    const rule = { id: "ask", match: { unpinned: [target] }, decision: "block" };
    expect(assertPolicy({ version: 1, default: "block", rules: [rule] }).rules[0]?.match.unpinned).toEqual([target]);
  });
});
