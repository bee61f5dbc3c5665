import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, type ToolDefinition, toolset } from "./define-tool.ts";

type Definition = ToolDefinition<z.ZodType>;

const schema = z.object({ repo: z.string() });

function define(over: Partial<Record<keyof Definition, unknown>> = {}) {
  return defineTool({ name: "list", description: "Lists", schema, impl: () => "ok", ...over } as Definition);
}

describe("a tool that is none", () => {
  test.each<[string, Partial<Record<keyof Definition, unknown>>, string]>([
    ["has no name", { name: undefined }, "a name is 1 to 64 letters"],
    ["has a bad name", { name: "list issues" }, 'The tool "list issues" cannot be locked'],
    ["has a name that is too long", { name: "x".repeat(65) }, "a name is 1 to 64 letters"],
    ["has the reserved name", { name: "declare_plan" }, "The tool name declare_plan is reserved"],
    ["has no description", { description: undefined }, "The tool list needs a description"],
    ["has no impl", { impl: undefined }, "The tool list needs an impl"],
    ["has no schema", { schema: undefined }, "The tool list needs a schema of zod 4"],
    ["has a JSON Schema", { schema: { type: "object" } }, "The tool list needs a schema of zod 4"],
    ["takes a text", { schema: z.string() }, "The schema of the tool list has to be an object"],
    ["takes a date", { schema: z.object({ at: z.date() }) }, "The input schema of the tool list cannot be written"],
  ])("%s", (_, over, message) => {
    expect(() => define(over)).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_OPTIONS", message: expect.stringContaining(message) }),
    );
  });
});

describe("a toolset", () => {
  test("has what the model is told, and apart from it what runs", () => {
    const set = toolset([define()]);
    expect(set.tools).toEqual([{ name: "list", description: "Lists", schema }]);
    expect(Object.keys(set.impls)).toEqual(["list"]);
    expect([set, set.tools, set.impls].every(Object.isFrozen)).toBe(true);
  });

  test("takes names that every object has", () => {
    const names = ["constructor", "__proto__", "toString"];
    const { impls } = toolset(names.map((name) => define({ name })));
    expect(Object.keys(impls)).toEqual(names);
    expect(Object.getPrototypeOf(impls)).toBe(Object.prototype);
  });

  test.each<[string, unknown, string]>([
    ["two tools of one name", [define(), define()], "Two tools are called list"],
    ["a tool that defineTool has not made", [{ name: "list", execute: () => 1 }], "item 0 is no tool"],
    ["nothing in the list", [define({ name: "other" }), undefined], "item 1 is no tool"],
    ["no list", define(), "toolset: expected a list"],
  ])("is not made of %s", (_, tools, message) => {
    expect(() => toolset(tools as never)).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_OPTIONS", message: expect.stringContaining(message) }),
    );
  });
});

describe("what the model reads of a tool", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;

  test.each<[string, unknown, unknown]>([
    ["a text", "as it is", "as it is"],
    ["an object", { a: [1, null] }, { a: [1, null] }],
    ["what JSON makes of it", { at: new Date(0), gone: undefined }, { at: "1970-01-01T00:00:00.000Z" }],
    ["nothing", undefined, null],
    ["a function", () => 1, null],
  ])("%s", async (_, value, expected) => {
    expect(await define({ impl: async () => value }).impl({}, { callId: "1" })).toEqual(expected);
  });

  test.each<[string, () => unknown, string]>([
    ["an error", () => Promise.reject(new Error("no such repo")), "no such repo"],
    ["a text that is thrown", () => Promise.reject("no such repo"), "no such repo"],
    ["a result that is no JSON", () => circular, "it has run, and its result cannot be written as JSON"],
    ["a big number", () => 1n, "it has run, and its result cannot be written as JSON"],
  ])("of %s", async (_, impl, message) => {
    const running = define({ impl }).impl({}, { callId: "1" });
    const error = await running.catch((thrown: unknown) => thrown);
    expect((error as Error).message).toContain(message);
    expect(String(error)).toBe(`Tool failed: ${(error as Error).message}`);
  });
});
