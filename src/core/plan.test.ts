import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anything, mutated, planDocument, someArgs } from "../../test/arbitraries.ts";
import { compileArgs, findFailing } from "./compile-condition.ts";
import { compilePlan } from "./compile-plan.ts";
import { PlanError } from "./errors.ts";
import type { Json } from "./json.ts";
import { newMatching } from "./matching.ts";
import { MAX_PLAN_BYTES, type Plan, parsePlan } from "./plan.ts";

const TOOLS = ["read", "readme", "write", "constructor", "__proto__", "toString", "declare_plan"];

function parse(plan: unknown, tools: Iterable<string> = TOOLS): Plan {
  return parsePlan(plan, { tools });
}

function aPlanOf(...steps: readonly unknown[]): { goal: string; steps: readonly unknown[] } {
  return { goal: "Read a file", steps };
}

/** The problems of a plan, each as `path: message`. */
function problems(plan: unknown, tools?: Iterable<string>): string[] {
  try {
    parse(plan, tools);
    return [];
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return error.issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  }
}

describe("takes", () => {
  test.each<[string, unknown]>([
    ["no steps", aPlanOf()],
    ["a step without arguments", aPlanOf({ tool: "read" })],
    ["no conditions", aPlanOf({ tool: "read", args: {} })],
    [
      "each operator",
      aPlanOf({
        tool: "read",
        args: { a: { eq: null }, b: { in: [1, { c: [] }] }, c: { glob: "*", regex: ".*" }, d: { lte: 1, gte: -1 } },
      }),
    ],
    ["one call", aPlanOf({ tool: "read", maxCalls: 1 })],
    ["the same tool twice", aPlanOf({ tool: "read" }, { tool: "read" })],
    ["a tool named constructor", aPlanOf({ tool: "constructor" })],
    ["a tool named __proto__", aPlanOf({ tool: "__proto__" })],
    [
      "arguments with inherited names",
      aPlanOf({ tool: "read", args: { constructor: { eq: 1 }, toString: { eq: 2 }, "": { eq: 3 } } }),
    ],
    ["an argument __proto__", aPlanOf({ tool: "read", args: JSON.parse('{"__proto__":{"eq":1}}') })],
    ["200 steps", aPlanOf(...Array(200).fill({ tool: "read" }))],
    ["200 regexes", aPlanOf(...Array(200).fill({ tool: "read", args: { a: { regex: "a" } } }))],
  ])("%s", (_name, plan) => {
    expect(JSON.stringify(parse(plan))).toBe(JSON.stringify(plan));
  });

  test("and freezes all of it", () => {
    const plan = parse(aPlanOf({ tool: "read", args: { a: { in: ["x"] } } }));
    const [step] = plan.steps;
    for (const part of [plan, plan.steps, step, step?.args, step?.args?.["a"], step?.args?.["a"]?.in]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("a getter's first answer only", () => {
    const answers = ["read", "write"];
    const step = {
      get tool() {
        return answers.shift();
      },
    };
    expect(parse(aPlanOf(step)).steps).toEqual([{ tool: "read" }]);
  });
});

describe("refuses", () => {
  const STEP_FIELDS = "unknown field; there are: id, tool, args, at, otherArgs, maxCalls";
  const OPERATORS =
    "unknown field; there are: eq, in, glob, regex, lte, gte, each, maxItems, anyOf, optional, absent, from";
  const step = (over: object) => aPlanOf({ tool: "read", ...over });
  const proto = JSON.parse('{"__proto__":{"eq":1}}');
  const cycle: Record<string, unknown> = { goal: "g" };
  cycle["steps"] = cycle;

  test.each<[string, unknown, string[]]>([
    ["nothing", undefined, ["undefined is not JSON"]],
    ["null", null, ["empty; expected an object"]],
    ["text", '{"goal":"g","steps":[]}', ["expected an object"]],
    ["an empty object", {}, ["goal: missing; expected text", "steps: missing; expected a list"]],
    ["an empty goal", { goal: "", steps: [] }, ["goal: say what the user asked for"]],
    ["a goal without end", { goal: "g".repeat(10_001), steps: [] }, ["goal: expected at most 10000 characters"]],
    ["one step instead of a list", { goal: "g", steps: { tool: "read" } }, ["steps: expected a list"]],
    ["an unknown field", { ...aPlanOf(), policy: "none" }, ["policy: unknown field; there are: goal, steps"]],
    [
      "__proto__ in the plan",
      JSON.parse('{"goal":"g","steps":[],"__proto__":1}'),
      ["__proto__: unknown field; there are: goal, steps"],
    ],
    ["an unknown field of a step", step({ max: 1 }), [`steps[0].max: ${STEP_FIELDS}`]],
    [
      "__proto__ in a step",
      aPlanOf(JSON.parse('{"tool":"read","__proto__":1}')),
      [`steps[0].__proto__: ${STEP_FIELDS}`],
    ],
    ["__proto__ in a condition", step({ args: { a: proto } }), [`steps[0].args.a.__proto__: ${OPERATORS}`]],
    ["notIn", step({ args: { a: { notIn: [1] } } }), [`steps[0].args.a.notIn: ${OPERATORS}`]],
    ["notGlob", step({ args: { a: { notGlob: "x" } } }), [`steps[0].args.a.notGlob: ${OPERATORS}`]],
    ["an empty condition", step({ args: { a: {} } }), ["steps[0].args.a: give at least one operator"]],
    [
      "an empty condition of __proto__",
      step({ args: JSON.parse('{"__proto__":{}}') }),
      ["steps[0].args.__proto__: give at least one operator"],
    ],
    [
      "a value instead of a condition",
      step({ args: { a: "x" } }),
      ["steps[0].args.a: expected a condition, like { eq: VALUE } or { glob: PATTERN }"],
    ],
    ["no arguments", step({ args: null }), ["steps[0].args: empty; expected an object"]],
    ["a list of arguments", step({ args: [] }), ["steps[0].args: expected an object"]],
    ["maxCalls 0", step({ maxCalls: 0 }), ["steps[0].maxCalls: expected at least 1"]],
    ["maxCalls -1", step({ maxCalls: -1 }), ["steps[0].maxCalls: expected at least 1"]],
    ["maxCalls 1.5", step({ maxCalls: 1.5 }), ["steps[0].maxCalls: expected a whole number"]],
    ["maxCalls past 2^53", step({ maxCalls: 2 ** 53 }), ["steps[0].maxCalls: expected at most 9007199254740991"]],
    ["maxCalls as text", step({ maxCalls: "1" }), ["steps[0].maxCalls: expected a number"]],
    ["maxCalls null", step({ maxCalls: null }), ["steps[0].maxCalls: empty; expected a number"]],
    ["maxCalls Infinity", step({ maxCalls: Number.POSITIVE_INFINITY }), ["steps[0].maxCalls: Infinity is not JSON"]],
    ["maxCalls undefined", step({ maxCalls: undefined }), ["steps[0].maxCalls: undefined is not JSON"]],
    ["no tool", aPlanOf({}), ["steps[0].tool: missing; expected text"]],
    [
      "a tool's bad name",
      aPlanOf({ tool: "read file" }),
      ["steps[0].tool: a tool's name is 1 to 64 letters, digits, _ or -"],
    ],
    [
      "a tool's long name",
      aPlanOf({ tool: "r".repeat(65) }),
      ["steps[0].tool: a tool's name is 1 to 64 letters, digits, _ or -"],
    ],
    [
      "declare_plan",
      aPlanOf({ tool: "declare_plan" }),
      ["steps[0].tool: declare_plan is reserved and cannot be a step"],
    ],
    ["a glob as a tool", aPlanOf({ tool: "re*" }), ["steps[0].tool: a tool's name is 1 to 64 letters, digits, _ or -"]],
    [
      "a step that is none",
      aPlanOf("read", null, []),
      ["steps[0]: expected an object", "steps[1]: empty; expected an object", "steps[2]: expected an object"],
    ],
    [
      "a regex outside RE2",
      step({ args: { a: { regex: "(?=a)b" } } }),
      ["steps[0].args.a.regex: not an RE2 expression: error parsing regexp: invalid or unsupported Perl syntax"],
    ],
    [
      "a regex that closes our group",
      step({ args: { a: { regex: "foo)|(?:bar" } } }),
      ["steps[0].args.a.regex: not an RE2 expression: error parsing regexp: unexpected )"],
    ],
    [
      "braces that expand without end",
      step({ args: { a: { glob: "{a,b}".repeat(20) } } }),
      ["steps[0].args.a.glob: the braces of a glob expand to at most 32 alternatives"],
    ],
    ["201 steps", aPlanOf(...Array(201).fill({ tool: "read" })), ["steps: a plan has at most 200 steps"]],
    [
      "201 regexes",
      step({ args: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`a${i}`, { regex: "a" }])) }),
      ["steps: a plan has at most 200 globs and regexes"],
    ],
    [
      "201 patterns, in arguments and places",
      step({
        args: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a${i}`, { glob: "a" }])),
        at: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`/a${i}`, { regex: "a" }])),
      }),
      ["steps: a plan has at most 200 globs and regexes"],
    ],
    [
      "places that are none",
      step({ at: { "": { eq: 1 }, a: { eq: 1 }, "/*": { eq: 1 }, "/*/a": { eq: 1 }, "/a~2": { eq: 1 } } }),
      ['[""]', ".a", '["/*"]', '["/*/a"]', '["/a~2"]'].map(
        (path) => `steps[0].at${path}: expected a JSON Pointer into the arguments, like /to/address or /items/*/email`,
      ),
    ],
    [
      "two steps of one id, and a source that is no step",
      aPlanOf({ tool: "read", id: "a" }, { tool: "read", id: "a", args: { x: { from: ["task", "b"] } } }),
      [
        "steps[1].id: another step has the id a",
        "steps[1].args.x.from: no step has the id b; there are: task, a. Give the step that is meant an id",
      ],
    ],
    [
      "a source that is no step of a plan with other problems, only for these",
      aPlanOf({ tool: "read", args: { x: { from: "b" } } }, null),
      ["steps[1]: empty; expected an object"],
    ],
    [
      "a pattern, before where values come from",
      step({ args: { x: { from: "b" }, y: { glob: "a".repeat(1001) } } }),
      ["steps[0].args.y.glob: a glob has at most 1000 characters"],
    ],
    ["a cycle", cycle, [`steps${".steps".repeat(19)}…: nested more than 100 levels deep, or a cycle`]],
    ["a date", step({ args: { a: { eq: new Date(0) } } }), ["steps[0].args.a.eq: an instance of Date is not JSON"]],
    ["a lone surrogate", step({ args: { a: { eq: "\ud800" } } }), ["steps[0].args.a.eq: a lone surrogate is not JSON"]],
    ["a function", aPlanOf(() => "read"), ["steps[0]: function is not JSON"]],
  ])("%s", (_name, plan, expected) => {
    expect(problems(plan)).toEqual(expected);
  });

  test("every problem at once", () => {
    const plan = { goal: 1, steps: [{ tool: "raed" }, { tool: "read", maxCalls: 0, args: { a: {} } }], typo: 1 };
    expect(problems(plan, ["read"])).toEqual([
      "goal: expected text",
      "steps[1].args.a: give at least one operator",
      "steps[1].maxCalls: expected at least 1",
      "typo: unknown field; there are: goal, steps",
      "steps[0].tool: unknown tool; there are: read",
    ]);
  });

  test("and says so in the message, without values", () => {
    const plan = aPlanOf({ tool: "read", args: { a: { lte: "secret words" } } });
    expect(() => parse(plan)).toThrow(
      expect.objectContaining({
        code: "ERR_INVALID_PLAN",
        message: "The plan is not valid:\n  steps[0].args.a.lte: expected a number",
      }),
    );
  });
});

describe("the tools that there are", () => {
  test.each<[string, string, readonly string[], string[]]>([
    ["another", "raed", ["read", "write"], ["steps[0].tool: unknown tool; there are: read, write"]],
    ["none at all", "read", [], ["steps[0].tool: unknown tool; there are: none"]],
    ["an inherited name", "toString", ["read"], ["steps[0].tool: unknown tool; there are: read"]],
    ["another case", "Read", ["read"], ["steps[0].tool: unknown tool; there are: read"]],
  ])("%s", (_name, tool, tools, expected) => {
    expect(problems(aPlanOf({ tool }), tools)).toEqual(expected);
  });

  test("do not matter to a step that is refused for its name", () => {
    expect(problems(aPlanOf({ tool: "declare_plan" }), ["read"])).toEqual([
      "steps[0].tool: declare_plan is reserved and cannot be a step",
    ]);
  });

  test("are all listed if there are fifty", () => {
    const tools = Array.from({ length: 50 }, (_, index) => `tool${index}`);
    expect(problems(aPlanOf({ tool: "read" }), tools)[0]).toMatch(/: tool0, .*, tool49$/);
  });

  test("are listed up to fifty", () => {
    const tools = Array.from({ length: 53 }, (_, index) => `tool${index}`);
    expect(problems(aPlanOf({ tool: "read" }), tools)[0]).toMatch(/: tool0, .*, tool49 and 3 more$/);
  });
});

describe("size", () => {
  const frame = JSON.stringify(aPlanOf({ tool: "read", args: { a: { eq: "" } } })).length;

  test.each<[string, string, number]>([
    ["ASCII", "a", 1],
    ["escapes", "\n", 2],
    ["three bytes", "€", 3],
  ])("256 KiB exactly and one byte more: %s", (_name, character, bytes) => {
    const room = MAX_PLAN_BYTES - frame;
    const eq = character.repeat(Math.floor(room / bytes)) + "a".repeat(room % bytes);
    expect(problems(aPlanOf({ tool: "read", args: { a: { eq } } }))).toEqual([]);
    const [problem] = problems(aPlanOf({ tool: "read", args: { a: { eq: `${eq}a` } } }));
    expect(problem).toMatch(/larger than 262144 bytes of JSON$/);
  });

  test("a hostile plan lists a hundred problems", () => {
    const args = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`a${index}`, {}]));
    const found = problems(aPlanOf({ tool: "read", args }));
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toBe("there are more problems than are listed");
  });
});

describe("compilePlan", () => {
  test("groups the steps by tool, in order, with their indices", () => {
    const plan = parse(aPlanOf({ tool: "read", maxCalls: 2 }, { tool: "__proto__" }, { tool: "read" }));
    const compiled = compilePlan(plan);
    const summary = [...compiled].map(([tool, steps]) => [tool, steps.map(({ index, maxCalls }) => [index, maxCalls])]);
    expect(summary).toEqual([
      [
        "read",
        [
          [0, 2],
          [2, Number.POSITIVE_INFINITY],
        ],
      ],
      ["__proto__", [[1, Number.POSITIVE_INFINITY]]],
    ]);
    expect(compiled.get("constructor")).toBeUndefined();
  });
});

describe("findFailing", () => {
  test.each<[string, string, string, string | undefined]>([
    ["nothing asked", "{}", '{"a":1}', undefined],
    ["all hold", '{"a":{"eq":1},"b":{"gte":1}}', '{"a":1,"b":2,"c":3}', undefined],
    ["the first that fails", '{"a":{"eq":1},"b":{"eq":2},"c":{"eq":3}}', '{"a":1}', "b"],
    ["an inherited method is no argument", '{"toString":{"notIn":[]},"constructor":{"eq":1}}', "{}", "constructor"],
    ["an own __proto__", '{"__proto__":{"eq":1}}', '{"__proto__":1}', undefined],
    ["no own __proto__", '{"__proto__":{"in":[{},null]}}', "{}", "__proto__"],
    ["a field of an own __proto__", '{"a":{"eq":1}}', '{"__proto__":{"a":1}}', "a"],
  ])("%s", (_name, conditions, args, failing) => {
    const compiled = compileArgs({ args: JSON.parse(conditions) });
    expect(findFailing(compiled, newMatching(JSON.parse(args)))?.name).toBe(failing);
  });

  test("of a step without arguments nothing fails", () => {
    fc.assert(
      fc.property(someArgs, (args: Record<string, Json>) => {
        expect(findFailing(compileArgs({}), newMatching(args))).toBeUndefined();
      }),
    );
  });
});

describe("properties", { timeout: 30_000 }, () => {
  test("parsing undoes printing", () => {
    fc.assert(
      fc.property(planDocument, (document) => {
        const plan = parse(document);
        expect(JSON.stringify(plan)).toBe(JSON.stringify(document));
        expect(parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
        expect(parse(plan)).toBe(plan);
      }),
    );
  });

  test("whatever it is given, it throws nothing but PlanError", () => {
    const hostile = fc.oneof(anything, mutated(planDocument, anything), fc.record({ goal: anything, steps: anything }));
    fc.assert(
      fc.property(hostile, (value) => {
        try {
          expect(Object.isFrozen(parse(value))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(PlanError);
          expect((error as PlanError).issues.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("what it takes has known tools and conditions that can be compiled", () => {
    fc.assert(
      fc.property(mutated(planDocument, anything), (value) => {
        fc.pre(problems(value).length === 0);
        const plan = parse(value);
        for (const { tool } of plan.steps) expect(TOOLS).toContain(tool);
        expect(compilePlan(plan).size).toBeLessThanOrEqual(plan.steps.length);
      }),
      { numRuns: 300 },
    );
  });
});
