import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { MAX_PLAN_STEPS, parsePlan } from "../core/index.ts";
import { PLAN_EXAMPLES } from "./plan-guide.ts";
import { planJsonSchema } from "./plan-json-schema.ts";

const TOOLS = ["send_money", "read_mail"];
const STEP = { tool: "send_money", maxCalls: 1 };
const MAIL = { tool: "read_mail", maxCalls: 1, id: "mail" };

/** Refuses what is no schema, and keywords that it does not know. */
const isTaken = compile(TOOLS);

function compile(names: readonly string[]): (plan: unknown) => boolean {
  const validate = new Ajv({ strict: true }).compile(planJsonSchema(names) as object);
  return (plan) => validate(plan);
}

function isParsed(plan: unknown): boolean {
  try {
    return parsePlan(plan, { tools: TOOLS }).steps.length >= 0;
  } catch {
    return false;
  }
}

/** What the schema says of a plan, and what the parser says. */
function ask(plan: unknown): { schema: boolean; parser: boolean } {
  return { schema: isTaken(plan), parser: isParsed(plan) };
}

function aPlanOf(step: object): object {
  return { goal: "Pay", steps: [MAIL, { ...STEP, ...step }] };
}

describe("the schema takes what the parser takes", () => {
  test.each<[string, object]>([
    ["nothing more", {}],
    ["an id", { id: "pay" }],
    ["no conditions", { args: {}, at: {} }],
    ["otherArgs", { otherArgs: "block" }],
    ["a condition for a place", { at: { "/to/email": { eq: "a" } } }],
    ["many calls", { maxCalls: 1000 }],
  ])("of a step: %s", (_name, step) => {
    expect(ask(aPlanOf(step))).toEqual({ schema: true, parser: true });
  });

  test.each([
    ...[null, true, 5, "a", ["a"], { a: 1 }].map((eq) => ({ eq })),
    { in: [null, 5, "a", ["a"], { a: 1 }] },
    { in: [] },
    { glob: "*" },
    { regex: ".*" },
    { lte: 0.5, gte: -0.5 },
    { maxItems: 0 },
    { optional: true },
    { absent: true },
    { from: "task" },
    { from: { step: "mail", path: "/a" } },
    { from: ["task", "mail", { step: "mail", path: "" }] },
    { each: { eq: "a" } },
    { anyOf: [{ eq: "a" }, { from: "task", optional: true }] },
  ])("as a condition: %j", (condition) => {
    expect(ask(aPlanOf({ args: { to: condition } }))).toEqual({ schema: true, parser: true });
    // The schema has no third level.
    const schema = !("each" in condition || "anyOf" in condition);
    for (const to of [{ each: condition }, { anyOf: [condition] }]) {
      expect(ask(aPlanOf({ args: { to } }))).toEqual({ schema, parser: true });
    }
  });

  test.each(Object.entries(PLAN_EXAMPLES))("the example %s of the guide", (_name, { task, steps }) => {
    expect(compile(steps.map(({ tool }) => tool))({ goal: task, steps })).toBe(true);
  });
});

describe("the schema refuses what the parser refuses", () => {
  const FULL = Array.from({ length: MAX_PLAN_STEPS }, () => STEP);
  test.each<[string, unknown]>([
    ["text", "Pay"],
    ["no goal", { steps: [] }],
    ["no steps", { goal: "Pay" }],
    ["a field that there is not", { goal: "Pay", steps: [], budget: 5 }],
    ["a goal that is no text", { goal: 5, steps: [] }],
    ["steps that are no list", { goal: "Pay", steps: { 0: STEP } }],
    ["a step that is none", { goal: "Pay", steps: ["send_money"] }],
    ["a step too many", { goal: "Pay", steps: [...FULL, STEP] }],
  ])("as a plan: %s", (_name, plan) => {
    expect(ask(plan)).toEqual({ schema: false, parser: false });
    expect(ask({ goal: "Pay", steps: FULL })).toEqual({ schema: true, parser: true });
  });

  test.each<[string, object]>([
    ["no tool", { tool: undefined }],
    ["a tool that there is not", { tool: "send_mail" }],
    ["a tool that is no name", { tool: 5 }],
    ["a field that there is not", { when: "now" }],
    ["an id that is no text", { id: 5 }],
    ["arguments that are a list", { args: [] }],
    ["a value in place of a condition", { args: { to: "Bob" } }],
    ["places that are a list", { at: [] }],
    ["a value in place of a place's condition", { at: { "/to": "Bob" } }],
    ["otherArgs that are allowed", { otherArgs: "allow" }],
    ["otherArgs that are not blocked", { otherArgs: false }],
    ["no call at all", { maxCalls: 0 }],
    ["half a call", { maxCalls: 1.5 }],
    ["a number of calls in words", { maxCalls: "1" }],
  ])("of a step: %s", (_name, step) => {
    expect(ask(JSON.parse(JSON.stringify(aPlanOf(step))))).toEqual({ schema: false, parser: false });
  });

  test.each([
    {},
    { equals: "a" },
    { notIn: ["a"] },
    { in: "a" },
    { glob: 5 },
    { regex: 5 },
    { lte: "5" },
    { gte: "5" },
    { maxItems: -1 },
    { maxItems: 0.5 },
    { optional: "yes" },
    { absent: "yes" },
    { from: 5 },
    { from: [5] },
    { from: {} },
    { from: { step: "mail" } },
    { from: { path: "/a" } },
    { from: { step: "mail", path: "/a", tool: "read_mail" } },
    { from: { step: 5, path: "/a" } },
    { from: { step: "mail", path: 5 } },
    { from: [["task"]] },
    { each: "a" },
    { each: [{ eq: "a" }] },
    { anyOf: { eq: "a" } },
    { anyOf: ["a"] },
  ])("as a condition: %j", (condition) => {
    for (const to of [condition, { each: condition }, { anyOf: [condition] }]) {
      expect(ask(aPlanOf({ args: { to } }))).toEqual({ schema: false, parser: false });
    }
  });
});

test("the schema asks for a number of calls, which a plan need not have: a model is to think of one", () => {
  const { maxCalls: _, ...unlimited } = STEP;
  expect(ask({ goal: "Pay", steps: [unlimited] })).toEqual({ schema: false, parser: true });
});
