import { describe, expect, test } from "vitest";
import { copyJson } from "../json.ts";
import { type Plan, parsePlan } from "../plan.ts";
import { findSchemaIssues } from "../schema.ts";
import { compileSources, listSources, namesOfSources, sourcesSchema, stepIdSchema } from "./source.ts";

const takes = (value: unknown): boolean => findSchemaIssues(sourcesSchema, copyJson(value)).length === 0;

test.each<[string, unknown, boolean]>([
  ["the task", "task", true],
  ["a step", "inbox", true],
  ["a place", { step: "inbox", path: "/from" }, true],
  ["the whole of a result", { step: "inbox", path: "" }, true],
  ["several", ["task", "inbox", { step: "inbox", path: "/items/*/to" }], true],
  ["none", [], false],
  ["20", Array(20).fill("task"), true],
  ["21", Array(21).fill("task"), false],
  ["a place without a step", { path: "/a" }, false],
  ["a step without a place", { step: "inbox" }, false],
  ["what is no pointer", { step: "inbox", path: "from" }, false],
  ["a field that there is not", { step: "inbox", path: "/a", or: 1 }, false],
  ["a list in a list", [["task"]], false],
  ["null", null, false],
  ["a number", 1, false],
])("a source is %s", (_name, value, expected) => {
  expect(takes(value)).toBe(expected);
});

test.each<[string, boolean]>([
  ["inbox", true],
  ["constructor", true],
  ["__proto__", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["", false],
  ["task", false],
  ["a b", false],
  ["a/b", false],
  ["inbox\n", false],
])("%j may be the id of a step: %s", (id, expected) => {
  expect(stepIdSchema.safeParse(id).success).toBe(expected);
});

describe("the sources of a step", () => {
  const step = {
    tool: "send",
    args: { to: { from: "task" }, cc: { each: { anyOf: [{ eq: "x" }, { from: ["a", { step: "b", path: "/x" }] }] } } },
    at: { "/body/text": { optional: true, from: "c" } },
  } as const;

  test("are found wherever a condition has one, with their places", () => {
    expect(listSources(step).map(({ source, path }) => `${path.join(".")} ${source}`)).toEqual([
      "args.to.from task",
      "args.cc.each.anyOf.1.from a",
      "args.cc.each.anyOf.1.from b",
      "at./body/text.from c",
    ]);
  });

  test("have to be steps of the plan", () => {
    const parse = (...ids: readonly string[]): unknown =>
      parsePlan({ goal: "x", steps: [...ids.map((id) => ({ id, tool: "read" })), step] }, { tools: ["read", "send"] });
    expect(() => parse("a", "b", "c")).not.toThrow();
    expect(() => parse("a", "b")).toThrow("no step has the id c");
    expect(() => parse("a", "b", "c", "a")).toThrow("another step has the id a");
    expect(() => parse("a", "b", "c", "task")).toThrow("give the step another id");
  });

  test("are asked in their order, the task apart", () => {
    const { task, steps } = compileSources(["a", "task", { step: "b", path: "/x/*" }]);
    expect([task, steps]).toEqual([true, [{ step: "a" }, { step: "b", place: { path: "/x/*", pointer: ["x", "*"] } }]]);
    expect(compileSources("task")).toEqual({ task: true, steps: [] });
  });
});

test("the sources that a plan names, each once", () => {
  const plan = {
    goal: "Pay the bill",
    steps: [
      {
        tool: "pay",
        args: { to: { from: ["task", "bill"] } },
        at: { "/a": { from: { step: "contact", path: "/email" } } },
      },
      { tool: "mail", args: { to: { each: { from: "contact" } }, text: { anyOf: [{ from: "note" }, { eq: "" }] } } },
      { tool: "read", args: {} },
    ],
  } as unknown as Plan;
  expect(namesOfSources(plan)).toEqual(new Set(["task", "bill", "contact", "note"]));
});
