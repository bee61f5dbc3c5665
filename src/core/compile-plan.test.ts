import { describe, expect, test } from "vitest";
import { aPlan } from "../../test/builders.ts";
import { compilePlan, findMismatch } from "./compile-plan.ts";
import { newMatching } from "./matching.ts";
import type { PlanStep } from "./plan.ts";
import { assertPolicy } from "./policy.ts";

/** What of the arguments a step does not allow. */
function mismatch(step: Partial<PlanStep>, args: string): string | undefined {
  const [compiled] = compilePlan(aPlan(step)).get("send_money") ?? [];
  if (!compiled) throw new Error("no step");
  return findMismatch(compiled, newMatching(JSON.parse(args)));
}

describe("findMismatch names the place", () => {
  const AT = { at: { "/to/*/email": { glob: "*@x.org" }, "/a~1b": { eq: 1 } } } as const;
  test.each<[string, Partial<PlanStep>, string, string | undefined]>([
    ["nothing", { args: { to: { eq: 1 } } }, '{"to":1}', undefined],
    ["an argument", { args: { to: { eq: 1 } } }, '{"to":2}', "/to"],
    ["a missing argument", { args: { to: { eq: 1 } } }, "{}", "/to"],
    ["a name with a slash", { args: { "a/b": { eq: 1 } } }, "{}", "/a~1b"],
    ["every place is right", AT, '{"to":[{"email":"a@x.org"}],"a/b":1}', undefined],
    ["a place in a list", AT, '{"to":[{"email":"a@x.org"},{"email":"a"}],"a/b":1}', "/to/*/email"],
    ["a missing place", AT, '{"to":[{}],"a/b":1}', "/to/*/email"],
    ["a place after one that is right", AT, '{"to":[],"a/b":2}', "/a~1b"],
    ["both of args and at", { args: { to: { optional: true } }, at: { "/to": { eq: 1 } } }, '{"to":2}', "/to"],
    ["what is not listed", { args: { to: { eq: 1 } }, otherArgs: "block" }, '{"to":1,"x/y":2}', "/x~1y"],
    ["null that is not listed", { otherArgs: "block" }, '{"x":null}', undefined],
    ["what at lists", { at: { "/to/*/x": { optional: true } }, otherArgs: "block" }, '{"to":[{"y":1}]}', undefined],
    ["without otherArgs, nothing more", { args: { to: { eq: 1 } } }, '{"to":1,"x":2}', undefined],
    ["an own property __proto__", { otherArgs: "block" }, '{"__proto__":1}', "/__proto__"],
    ["no inherited name is listed", { otherArgs: "block" }, '{"constructor":1}', "/constructor"],
  ])("%s", (_name, step, args, place) => {
    expect(mismatch(step, args)).toBe(place);
  });
});

describe("the place of a condition", () => {
  const places = ["", "to", "/*", "/*/email", "/a~2", "/a~"];
  test.each(places)("%j is refused: it is none in the arguments", (path) => {
    const at = { [path]: { eq: 1 } };
    expect(() => aPlan({ at })).toThrow();
    const rule = { id: "no", match: { at }, decision: "block" };
    expect(() => assertPolicy({ version: 1, default: "block", rules: [rule] })).toThrow();
  });

  test.each(["/", "/to/*", "/to/*/*", "/__proto__", "/a~1b", "/*a"])("%j is taken", (path) => {
    expect(aPlan({ at: { [path]: { eq: 1 } } }).steps[0]?.at).toEqual(Object.fromEntries([[path, { eq: 1 }]]));
  });
});

test.each<[string, Partial<PlanStep>]>([
  ["absent beside another operator", { args: { to: { absent: true, eq: 1 } } }],
  ["absent beside optional", { args: { to: { absent: true, optional: true } } }],
  ["optional that is false", { args: { to: { optional: false } } } as never],
  ["absent that is false", { args: { to: { absent: false } } } as never],
  ["a fraction of an item", { args: { to: { maxItems: 0.5 } } }],
  ["fewer items than none", { args: { to: { maxItems: -1 } } }],
  ["no alternative", { args: { to: { anyOf: [] } } }],
  ["101 alternatives", { args: { to: { anyOf: Array(101).fill({ eq: 1 }) } } }],
  ["an empty alternative", { args: { to: { anyOf: [{ eq: 1 }, {}] } } }],
  ["an empty each", { args: { to: { each: {} } } }],
  ["a negation in an alternative", { args: { to: { anyOf: [{ notIn: [1] }] } } } as never],
  ["201 globs in alternatives", { args: { a: any(100), b: any(100), c: any(1) } }],
  ["otherArgs that are allowed", { otherArgs: "allow" } as never],
  ["a source that is no step", { args: { to: { from: "nobody" } } }],
])("a plan is refused for %s", (_name, step) => {
  expect(() => aPlan(step)).toThrow();
});

function any(globs: number): { readonly anyOf: readonly { readonly glob: string }[] } {
  return { anyOf: Array(globs).fill({ glob: "a*" }) };
}

test("a policy's conditions name no source", () => {
  for (const condition of [{ from: "task" }, { anyOf: [{ from: "task" }] }, { each: { from: "mail" } }]) {
    const rule = { id: "no", match: { args: { to: condition } }, decision: "block" };
    expect(() => assertPolicy({ version: 1, default: "block", rules: [rule] })).toThrow("unknown field");
  }
});
