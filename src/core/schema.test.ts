import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  closedObject,
  closedVariants,
  cutIssues,
  findSchemaIssues,
  MAX_ISSUES,
  namedValues,
  notEmpty,
  parseChecked,
  placedValues,
  type SchemaIssue,
  toIssue,
  variant,
} from "./schema.ts";

const point = closedObject({ x: z.number(), y: z.number().optional() });

function describeIssues(schema: z.ZodType, value: unknown): string[] {
  return findSchemaIssues(schema, value).map(describeIssue);
}

function describeIssue(issue: SchemaIssue): string {
  const { path, message } = toIssue(issue);
  return `${issue.isKey ? "key " : ""}${path || "."}: ${message}`;
}

describe("closedObject", () => {
  const UNKNOWN = "unknown field; there are: x, y";
  test.each<[string, string, string[]]>([
    ["the fields it has", '{"x":1,"y":2}', []],
    ["a missing field", "{}", ["x: missing; expected a number"]],
    ["a null", '{"x":null}', ["x: empty; expected a number"]],
    ["one unknown field", '{"x":1,"z":2}', [`key z: ${UNKNOWN}`]],
    ["two unknown fields", '{"x":1,"z":2,"a b":3}', [`key z: ${UNKNOWN}`, `key ["a b"]: ${UNKNOWN}`]],
    ["__proto__", '{"x":1,"__proto__":{"y":2}}', [`key __proto__: ${UNKNOWN}`]],
    ["__proto__ in place of a field", '{"__proto__":{"x":1}}', [`key __proto__: ${UNKNOWN}`]],
    ["constructor", '{"x":1,"constructor":1}', [`key constructor: ${UNKNOWN}`]],
    ["a list", "[1]", [".: expected an object"]],
    ["null", "null", [".: empty; expected an object"]],
  ])("%s", (_name, text, issues) => {
    expect(describeIssues(point, JSON.parse(text))).toEqual(issues);
  });
});

describe("closedVariants", () => {
  const shape = closedVariants("type", [
    variant({ type: z.literal("circle"), radius: z.number() }),
    variant({ type: z.literal(["square", "rhomb"]), side: z.number() }),
  ]);
  test.each<[string, string, string[]]>([
    ["one", '{"type":"circle","radius":1}', []],
    ["another", '{"type":"rhomb","side":1}', []],
    ["none of them", '{"type":"line"}', ["type: expected one of circle, square, rhomb"]],
    ["no choice", '{"radius":1}', ["type: expected one of circle, square, rhomb"]],
    [
      "a field of another",
      '{"type":"square","side":1,"radius":1}',
      ["key radius: unknown field; there are: type, side"],
    ],
    ["a missing field", '{"type":"circle"}', ["radius: missing; expected a number"]],
    ["__proto__", '{"type":"circle","radius":1,"__proto__":{}}', ["key __proto__: unknown field"]],
    ["__proto__ in place of a field", '{"type":"circle","__proto__":{"radius":1}}', ["key __proto__: unknown field"]],
    ["null", "null", [".: empty; expected an object"]],
    ["a list", "[]", [".: expected an object"]],
  ])("%s", (_name, text, issues) => {
    expect(describeIssues(shape, JSON.parse(text))).toEqual(issues);
  });
});

describe("namedValues", () => {
  test.each<[string, string, string[]]>([
    ["any name", '{"a":{"x":1},"":{"x":2},"constructor":{"x":3}}', []],
    ["a good __proto__", '{"__proto__":{"x":1}}', []],
    ["a bad __proto__", '{"__proto__":{"x":"1"}}', ["__proto__.x: expected a number"]],
    ["a bad value", '{"a b":{"x":"1"}}', ['["a b"].x: expected a number']],
    ["an unknown field of a value", '{"a":{"x":1,"z":1}}', ["key a.z: unknown field; there are: x, y"]],
    ["a list", "[]", [".: expected an object"]],
    ["null", "null", [".: empty; expected an object"]],
  ])("%s", (_name, text, issues) => {
    expect(describeIssues(namedValues(point), JSON.parse(text))).toEqual(issues);
  });
});

describe("placedValues", () => {
  const POINTER = "expected a JSON Pointer into the arguments, like /to/address or /items/*/email";
  test.each<[string, object, string[]]>([
    ["places", { "/to": { x: 1 }, "/items/*/to": { x: 1 }, "/": { x: 1 }, "/a~1b": { x: 1 } }, []],
    ["all of the arguments", { "": { x: 1 } }, [`key [""]: ${POINTER}`]],
    ["no pointer", { to: { x: 1 } }, [`key to: ${POINTER}`]],
    ["an element of the arguments", { "/*": { x: 1 } }, [`key ["/*"]: ${POINTER}`]],
    ["a bad value", { "/to": { x: "1" } }, ['["/to"].x: expected a number']],
  ])("%s", (_name, value, issues) => {
    expect(describeIssues(placedValues(point), value)).toEqual(issues);
  });
});

describe("parseChecked", () => {
  const options = { code: "ERR_INVALID_CLAIMS", what: "the point is", maxBytes: 20 } as const;

  test("gives a frozen copy", () => {
    const given = { x: 1 };
    const copy = parseChecked(point, given, options);
    expect(copy).toEqual(given);
    expect(copy).not.toBe(given);
    expect(Object.isFrozen(copy)).toBe(true);
  });

  test.each<[string, unknown, string]>([
    ["what the schema refuses", { x: "1" }, "the point is not valid: x: expected a number"],
    ["what is wrong as a whole", null, "the point is not valid: empty; expected an object"],
    ["what is no JSON", { x: 1n }, "the point is not valid: x: bigint is not JSON"],
    ["what is too large", { x: 1, y: 2_000_000_000 }, "the point is not valid: larger than 20 bytes of JSON"],
  ])("refuses %s, with its code", (_name, value, message) => {
    expect(() => parseChecked(point, value, options)).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_CLAIMS", message: expect.stringContaining(message) }),
    );
  });

  test("has a limit if none is given", () => {
    const { maxBytes: _, ...rest } = options;
    expect(parseChecked(point, { x: 1, y: 2_000_000_000 }, rest)).toEqual({ x: 1, y: 2_000_000_000 });
  });
});

test("what is no object is not looked at any further", () => {
  const refined = namedValues(point).refine((named) => Object.keys(named).length < 2, "too many");
  expect(describeIssues(refined, null)).toEqual([".: empty; expected an object"]);
  expect(describeIssues(refined, { a: { x: 1 }, b: { x: 1 } })).toEqual([".: too many"]);
});

describe("notEmpty", () => {
  const schema = notEmpty(namedValues(z.number()), "say something");
  test.each<[string, unknown, string[]]>([
    ["something", { a: 1 }, []],
    ["nothing", {}, [".: say something"]],
    ["null", null, [".: empty; expected an object"]],
    ["undefined", undefined, [".: missing; expected an object"]],
    ["text", "a", [".: expected an object"]],
  ])("%s", (_name, value, issues) => {
    expect(describeIssues(schema, value)).toEqual(issues);
  });
});

describe("the words of a problem", () => {
  const choice = z.union([z.string().min(2), z.array(z.string())], { error: "expected text or a list" });
  test.each<[string, z.ZodType, unknown, string]>([
    ["text", z.string(), 1, ".: expected text"],
    ["a number", z.number(), "1", ".: expected a number"],
    ["a number that is none", z.number(), Number.NaN, ".: expected a number"],
    ["a whole number", z.int(), 1.5, ".: expected a whole number"],
    ["true or false", z.boolean(), "yes", ".: expected true or false"],
    ["a list", z.array(z.string()), {}, ".: expected a list"],
    ["a choice", z.enum(["allow", "block"]), "deny", ".: expected one of allow, block"],
    ["a missing choice", z.enum(["allow", "block"]), undefined, ".: missing; expected one of allow, block"],
    ["too long", z.string().max(2), "abc", ".: expected at most 2 characters"],
    ["too short", z.string().min(2), "a", ".: expected at least 2 characters"],
    ["too many", z.array(z.string()).max(1), ["a", "b"], ".: expected at most 1 items"],
    ["too large", z.number().max(2), 3, ".: expected at most 2"],
    ["too small", z.number().min(2), 1, ".: expected at least 2"],
    ["of its own", z.string("expected a name"), 1, ".: expected a name"],
    ["no branch of a union", choice, 1, ".: expected text or a list"],
    ["the branch of a union that comes closest", choice, ["a", 1], "[1]: expected text"],
    [
      "the first branch, if it comes closest",
      z.union([z.array(z.string()), z.string()]),
      ["a", 1],
      "[1]: expected text",
    ],
    ["the one branch of a union that fits", choice, "a", ".: expected at least 2 characters"],
  ])("%s", (_name, schema, value, issue) => {
    expect(describeIssues(schema, value)).toEqual([issue]);
  });

  test("never the value", () => {
    expect(describeIssues(point, { x: "secret words", y: ["secret words"] }).join()).not.toContain("secret");
  });
});

describe("cutIssues", () => {
  const issues = Array.from({ length: MAX_ISSUES + 1 }, (_, index) => ({ path: `steps[${index}]`, message: "bad" }));
  test("keeps as many as people read", () => {
    expect(cutIssues(issues.slice(1))).toEqual(issues.slice(1));
  });

  test("says that there are more unknown fields", () => {
    const fields = Array.from({ length: 150 }, (_, index) => [`z${index}`, 1]);
    const found = cutIssues(findSchemaIssues(point, Object.fromEntries([["x", 1], ...fields])).map(toIssue));
    expect(found).toHaveLength(MAX_ISSUES + 1);
    expect(found.at(-1)).toMatchObject({ message: "there are more problems than are listed" });
  });

  test("says that there are more", () => {
    const more = { path: "", message: "there are more problems than are listed" };
    expect(cutIssues(issues)).toEqual([...issues.slice(0, MAX_ISSUES), more]);
  });
});
