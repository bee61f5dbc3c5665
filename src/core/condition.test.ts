import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aCondition, anyJson } from "../../test/arbitraries.ts";
import vectors from "../../test/vectors/operators.json" with { type: "json" };
import { canonicalJson } from "./canonical-json.ts";
import { compileCondition } from "./compile-condition.ts";
import {
  countPatterns,
  countRegexes,
  type PolicyCondition,
  planConditionSchema,
  policyConditionSchema,
} from "./condition.ts";
import { copyJson, type Json, type JsonObject } from "./json.ts";
import { MatchBudgetExceeded, newMatching } from "./matching.ts";
import { findSchemaIssues, toIssue } from "./schema.ts";
import { MAX_MATCH_WORK } from "./text-matcher.ts";

function holds(condition: PolicyCondition, value: Json | undefined): boolean {
  return compileCondition(condition)(value, newMatching());
}

function problems(condition: unknown, schema = policyConditionSchema): string[] {
  return findSchemaIssues(schema, copyJson(condition)).map((issue) => {
    const { path, message } = toIssue(issue);
    return path ? `${path}: ${message}` : message;
  });
}

interface OperatorVector {
  readonly name: string;
  readonly condition: PolicyCondition;
  readonly args: JsonObject;
  readonly matches: boolean;
}

describe("operators", () => {
  test.each(vectors as unknown as OperatorVector[])("$name", ({ condition, args, matches }) => {
    expect(problems(condition)).toEqual([]);
    expect(holds(condition, Object.hasOwn(args, "x") ? args["x"] : undefined)).toBe(matches);
  });

  test("every operator has a case that matches and one that does not", () => {
    const seen = (vectors as unknown as OperatorVector[]).flatMap(({ condition, matches }) =>
      Object.keys(condition).map((operator) => `${operator} ${matches}`),
    );
    const lists = ["each", "maxItems", "anyOf", "optional", "absent"];
    const operators = ["eq", "in", "notIn", "glob", "notGlob", "regex", "lte", "gte", ...lists];
    for (const operator of operators)
      expect(seen).toEqual(expect.arrayContaining([`${operator} true`, `${operator} false`]));
  });
});

test.each<[string, unknown, number, number]>([
  ["none", { a: { eq: 1 } }, 0, 0],
  ["one of each kind", { a: { regex: "x" }, b: { glob: "x" }, c: { notGlob: "x" } }, 1, 3],
  ["several of one argument", { a: { regex: "x", glob: "x", notGlob: "x" } }, 1, 3],
  ["of every element", { a: { each: { regex: "x", each: { glob: "x" } } } }, 1, 2],
  ["of alternatives", { a: { regex: "x", anyOf: [{ regex: "x" }, { each: { regex: "x" } }, 1] } }, 3, 3],
  ["of an argument with an inherited name", { toString: { regex: "x" }, a: { eq: {} } }, 1, 1],
  ["in what is no condition", { a: 1, b: null, c: ["regex"], d: { anyOf: "x", each: 1 } }, 0, 0],
  ["in a list", [{ regex: "x" }], 0, 0],
  ["in nothing", undefined, 0, 0],
])("the patterns are counted: %s", (_name, conditions, regexes, patterns) => {
  expect([countRegexes(conditions), countPatterns(conditions)]).toEqual([regexes, patterns]);
});

describe("the schema of a condition refuses", () => {
  const A_CONDITION = "expected a condition, like { eq: VALUE } or { glob: PATTERN }";
  const THERE_ARE = "there are: eq, in, glob, regex, lte, gte, each, maxItems, anyOf, optional, absent";
  test.each<[string, unknown, string]>([
    ["no operator", {}, "give at least one operator"],
    [
      "absent with another operator",
      { absent: true, eq: 1 },
      "absent stands alone: what is missing satisfies nothing else. To allow both, write optional: true",
    ],
    ["a value instead of a condition", "acme", A_CONDITION],
    ["null", null, A_CONDITION],
    ["a list", [{ eq: 1 }], A_CONDITION],
    ["an unknown operator", { gt: 1 }, `gt: unknown field; ${THERE_ARE}, notIn, notGlob`],
    ["__proto__", JSON.parse('{"__proto__":{"eq":1}}'), `__proto__: unknown field; ${THERE_ARE}, notIn, notGlob`],
    ["an inherited name", { constructor: 1 }, `constructor: unknown field; ${THERE_ARE}, notIn, notGlob`],
    ["a value for in", { in: "a" }, "in: expected a list"],
    ["too many values", { notIn: Array(1001).fill(0) }, "notIn: expected at most 1000 items"],
    ["text for lte", { lte: "5" }, "lte: expected a number"],
    ["null for gte", { gte: null }, "gte: empty; expected a number"],
    ["a number for glob", { glob: 5 }, "glob: expected text"],
    ["a list for notGlob", { notGlob: ["a"] }, "notGlob: expected text"],
    ["a glob past its bounds", { notGlob: "a".repeat(1001) }, "notGlob: a glob has at most 1000 characters"],
    [
      "look-ahead",
      { regex: "(?=a)a" },
      "regex: not an RE2 expression: error parsing regexp: invalid or unsupported Perl syntax",
    ],
    [
      "a back-reference",
      { regex: "(a)\\1" },
      "regex: not an RE2 expression: error parsing regexp: invalid escape sequence",
    ],
    [
      "a group that closes ours",
      { regex: "foo)|(?:bar" },
      "regex: not an RE2 expression: error parsing regexp: unexpected )",
    ],
  ])("%s", (_name, condition, problem) => {
    expect(problems(condition)).toEqual([problem]);
  });

  test.each(["notIn", "notGlob"])("%s in a plan", (operator) => {
    const condition = { [operator]: operator === "notIn" ? ["a"] : "a" };
    expect(problems(condition)).toEqual([]);
    expect(problems(condition, planConditionSchema)).toEqual([`${operator}: unknown field; ${THERE_ARE}, from`]);
  });

  test("and names every problem", () => {
    expect(problems({ in: 1, lte: "1", typo: 1 })).toHaveLength(3);
  });
});

describe("the work of one decision", () => {
  test("a condition on a long text is stopped", () => {
    const budget = newMatching();
    const condition = compileCondition({ glob: "*a*b*c*" });
    expect(() => {
      for (let match = 0; match < 1000; match++) condition("a".repeat(1_000_000), budget);
    }).toThrow(MatchBudgetExceeded);
  });

  test("comparing structures is counted by their items", () => {
    const rows = Array.from({ length: 1000 }, (_, index) => [index]);
    const budget = newMatching();
    compileCondition({ eq: structuredClone(rows) })(rows, budget);
    const spent = MAX_MATCH_WORK - budget.left;
    expect(spent).toBeGreaterThan(100 * 2000);
    const condition = compileCondition({ eq: structuredClone(rows) });
    expect(() => {
      for (let times = 0; times <= MAX_MATCH_WORK / spent; times++) condition(rows, budget);
    }).toThrow(MatchBudgetExceeded);
  });

  test("comparing scalars costs nothing, however many there are", () => {
    const budget = newMatching();
    compileCondition({ in: Array.from({ length: 1000 }, (_, index) => `value-${index}`) })("other", budget);
    expect(budget.left).toBe(MAX_MATCH_WORK);
  });
});

test.each<[string, unknown, number]>([
  ["none", { a: { eq: 1 }, b: {} }, 0],
  ["two", { a: { regex: "a" }, b: { glob: "*", regex: "b" } }, 2],
  ["of what is no condition", { a: "regex", b: null, c: [{ regex: "a" }] }, 0],
  ["of what is no object", ["regex"], 0],
  ["of a value that looks like one", { a: { eq: { regex: "a" } } }, 0],
  ["of an argument __proto__", JSON.parse('{"__proto__":{"regex":"a"}}'), 1],
])("countRegexes: %s", (_name, args, count) => {
  expect(countRegexes(args)).toBe(count);
});

describe("properties", { timeout: 30_000 }, () => {
  const pattern = fc.oneof(
    fc.constantFrom("acme/*", "**", "*.ts", "{a,b}/*", "[a-c]*", "!a", "\\*", ""),
    fc.string({ unit: "binary", maxLength: 10 }),
  );
  const value = fc.option(fc.oneof(anyJson, fc.constantFrom("acme/x", "a/b", "x.ts", "acme/")), { nil: undefined });

  test("notIn is the exact negation of in", () => {
    fc.assert(
      fc.property(fc.array(anyJson, { maxLength: 5 }), value, fc.boolean(), (values, other, isOneOf) => {
        const given = isOneOf ? values[0] : other;
        expect(holds({ notIn: values }, given)).toBe(!holds({ in: values }, given));
      }),
    );
  });

  test("notGlob is the exact negation of glob", () => {
    fc.assert(
      fc.property(pattern, value, (glob, given) => {
        fc.pre(problems({ glob }).length === 0);
        expect(problems({ notGlob: glob })).toEqual([]);
        expect(holds({ notGlob: glob }, given)).toBe(!holds({ glob }, given));
      }),
      { numRuns: 300 },
    );
  });

  test("eq holds exactly if the canonical texts are the same, and in with one value is eq", () => {
    fc.assert(
      fc.property(anyJson, anyJson, fc.boolean(), (expected, other, same) => {
        const given = same ? (JSON.parse(JSON.stringify(expected)) as Json) : other;
        const equal = canonicalJson(given) === canonicalJson(expected);
        expect(holds({ eq: copyJson(expected) }, given)).toBe(equal);
        expect(holds({ in: [copyJson(expected)] }, given)).toBe(equal);
      }),
    );
  });

  test("a condition holds exactly if each of its operators does", () => {
    fc.assert(
      fc.property(aCondition, value, (condition, given) => {
        const each = Object.entries(condition).map(([operator, operand]) => holds({ [operator]: operand }, given));
        expect(holds(condition, given)).toBe(each.every(Boolean));
      }),
      { numRuns: 300 },
    );
  });

  test("of a missing argument only the negations hold", () => {
    fc.assert(
      fc.property(aCondition, (condition) => {
        const isNegative = Object.keys(condition).every((operator) => operator.startsWith("not"));
        expect(holds(condition, undefined)).toBe(isNegative);
      }),
    );
  });
});
