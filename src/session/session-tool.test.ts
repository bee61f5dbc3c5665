import { describe, expect, test } from "vitest";
import { aTool, planOf } from "../../test/sessions.ts";
import { fingerprintTool } from "../core/index.ts";
import { fingerprintTools, listOpenArguments } from "./session-tool.ts";

describe("the fingerprints of tools", () => {
  test("one for each name, also for names that objects have already", () => {
    const tools = ["constructor", "__proto__", "toString"].map((name) => aTool({ name }));
    const prints = fingerprintTools(tools);
    expect(Object.keys(prints)).toEqual(["constructor", "__proto__", "toString"]);
    for (const tool of tools) {
      expect(Object.getOwnPropertyDescriptor(prints, tool.name)?.value).toBe(fingerprintTool(tool));
    }
    expect(Object.isFrozen(prints)).toBe(true);
  });

  test.each([
    ["a reserved name", [aTool({ name: "declare_plan" })], /declare_plan is reserved/],
    ["a name with a dot", [aTool({ name: "a.b" })], /"a\.b" cannot be locked/],
    ["an empty name", [aTool({ name: "" })], /"" cannot be locked/],
    ["a name of 65 letters", [aTool({ name: "a".repeat(65) })], /cannot be locked/],
    ["a name with a line feed, quoted", [aTool({ name: "a\nb" })], /"a\\nb" cannot be locked/],
    ["the same name twice", [aTool(), aTool()], /Two tools are called send_money/],
  ])("refuses %s", (_name, tools, message) => {
    expect(() => fingerprintTools(tools)).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_OPTIONS", message: expect.stringMatching(message) }),
    );
  });
});

describe("the arguments that a plan leaves open", () => {
  const reader = aTool({ name: "read_file", readOnly: true });

  test.each([
    ["all of a step without conditions", planOf({ tool: "send_money" }), [aTool()], [["to", "amount"]]],
    ["those without a condition", planOf({ tool: "send_money", args: { to: { eq: "a" } } }), [aTool()], [["amount"]]],
    [
      "none of a step that fixes everything",
      planOf({ tool: "send_money", args: { to: { eq: "a" }, amount: { lte: 1 } } }),
      [aTool()],
      [],
    ],
    [
      "none that has a place with a condition",
      planOf({ tool: "send_money", at: { "/to/iban": { eq: "DE1" }, "/amount": { lte: 1 } } }),
      [aTool()],
      [],
    ],
    [
      "none whose value has to come from somewhere, be absent, or be made of such",
      planOf({
        tool: "send_money",
        args: { to: { each: { from: "task" } }, amount: { anyOf: [{ absent: true }, { lte: 1 }] } },
      }),
      [aTool()],
      [],
    ],
    [
      "none of a step that blocks all others",
      planOf({ tool: "send_money", args: { to: { eq: "a" } }, otherArgs: "block" }),
      [aTool()],
      [],
    ],
    [
      "those that only a place elsewhere is about",
      planOf({ tool: "send_money", at: { "/x/to": { eq: "a" } } }),
      [aTool()],
      [["to", "amount"]],
    ],
    ["none of a tool that only reads", planOf({ tool: "read_file" }), [reader], []],
    ["none of a tool without properties", planOf({ tool: "send_money" }), [aTool({ inputSchema: {} })], []],
    ["none of a schema that is no object", planOf({ tool: "send_money" }), [aTool({ inputSchema: true })], []],
    [
      "none that otherArgs blocks",
      planOf({ tool: "send_money", args: { to: { eq: "a" } }, otherArgs: "block" }),
      [aTool()],
      [],
    ],
    [
      "those that may have any value",
      planOf({ tool: "send_money", args: { to: { eq: "a" }, amount: { optional: true } }, otherArgs: "block" }),
      [aTool()],
      [["amount"]],
    ],
    [
      "those too that the schema does not list",
      planOf({ tool: "send_money", args: { to: { eq: "a" }, amount: { lte: 1 }, note: { optional: true } } }),
      [aTool()],
      [["note"]],
    ],
    [
      "none of which a place has a condition",
      planOf({ tool: "send_money", at: { "/to/iban": { from: "task" }, "/amount": { lte: 1 } } }),
      [aTool()],
      [],
    ],
    [
      "an argument called like what every object has",
      planOf({ tool: "send_money" }),
      [aTool({ inputSchema: { properties: { constructor: {} } } })],
      [["constructor"]],
    ],
  ])("%s", (_name, plan, tools, args) => {
    expect(listOpenArguments(plan, tools).map((open) => open.args)).toEqual(args);
  });

  test("name their step and their tool", () => {
    const plan = planOf({ tool: "read_file" }, { tool: "send_money", args: { to: { eq: "a" } } });
    expect(listOpenArguments(plan, [reader, aTool()])).toEqual([{ step: 1, tool: "send_money", args: ["amount"] }]);
  });
});
