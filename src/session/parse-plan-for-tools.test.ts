import { describe, expect, test } from "vitest";
import { aTool } from "../../test/sessions.ts";
import { type Json, PlanError } from "../core/index.ts";
import { parsePlanForTools } from "./parse-plan-for-tools.ts";

const properties = { to: { type: "string" }, amount: { type: "number" } };
const CLOSED = { type: "object", properties, additionalProperties: false };

function problems(inputSchema: Json, args: object, at: object = {}): string[] {
  try {
    const plan = { goal: "Pay", steps: [{ id: "pay", tool: "send_money", args, at }] };
    expect(parsePlanForTools(plan, [aTool({ inputSchema })]).goal).toBe("Pay");
    return [];
  } catch (error) {
    if (!(error instanceof PlanError) || error.issues.length === 0) throw error;
    return error.issues.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe("an argument that the tool does not have", () => {
  test("is a mistake if the schema rules it out", () => {
    expect(problems(CLOSED, { amont: { lte: 5 } })).toEqual([
      "steps[0].args.amont: send_money has no such argument; there are: to, amount",
    ]);
  });

  test.each<[string, Json]>([
    ["that does not say", { type: "object", properties }],
    ["that takes others", { type: "object", properties, additionalProperties: true }],
    ["that takes others of a kind", { type: "object", properties, additionalProperties: { type: "number" } }],
    ["with properties elsewhere", { ...CLOSED, allOf: [{ properties: { amont: {} } }] }],
    ["with properties in one of several", { ...CLOSED, anyOf: [{ properties: { amont: {} } }] }],
    ["with properties in exactly one of several", { ...CLOSED, oneOf: [{ properties: { amont: {} } }] }],
    ["that refers to another", { ...CLOSED, $ref: "#/$defs/payment" }],
    ["with patterns", { ...CLOSED, patternProperties: { "^a": {} } }],
    ["that is no object", true],
  ])("is none under a schema %s", (_name, schema) => {
    expect(problems(schema, { amont: { lte: 5 } })).toEqual([]);
  });

  test("is a mistake too where only a place in it is named, or its source", () => {
    const at = { "/from/iban": { from: "task" }, "/to/iban": { from: "task" }, "/a~1b": { eq: 1 }, "/": { eq: 1 } };
    expect(problems(CLOSED, { note: { from: "pay" } }, at)).toEqual([
      "steps[0].args.note: send_money has no such argument; there are: to, amount",
      'steps[0].at["/from/iban"]: send_money has no such argument; there are: to, amount',
      'steps[0].at["/a~1b"]: send_money has no such argument; there are: to, amount',
      'steps[0].at["/"]: send_money has no such argument; there are: to, amount',
    ]);
  });

  test("is looked up in the schema of the step's own tool", () => {
    const tools = [
      aTool({ name: "read", inputSchema: { ...CLOSED, properties: { path: {} } } }),
      aTool({ inputSchema: CLOSED }),
    ];
    const plan = { goal: "Pay", steps: [{ tool: "send_money", args: { to: { eq: "landlord" } } }] };
    expect(parsePlanForTools(plan, tools).steps).toHaveLength(1);
  });

  test("is looked up among the schema's own", () => {
    expect(problems(CLOSED, { constructor: { eq: 1 } })).toHaveLength(1);
  });
});

test("the arguments that the tool has are taken", () => {
  expect(problems(CLOSED, { to: { eq: "landlord" }, amount: { lte: 5 } })).toEqual([]);
});

test("what parsePlan refuses is refused", () => {
  expect(problems(CLOSED, { to: {} })).toEqual(["steps[0].args.to: give at least one operator"]);
});
