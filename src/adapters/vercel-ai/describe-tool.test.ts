import { dynamicTool, type JSONSchema7, jsonSchema, type Schema, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { fingerprintTool } from "../../core/index.ts";
import type { AnyTool } from "./coverage.ts";
import { describeTool, describeTools } from "./describe-tool.ts";

const JSON_SCHEMA: JSONSchema7 = { type: "object", properties: { to: { type: "string" } }, required: ["to"] };

test.each<[string, AnyTool]>([
  ["zod", tool({ description: "Pays", inputSchema: z.object({ to: z.string() }), execute: () => 1 })],
  ["JSON Schema", tool({ description: "Pays", inputSchema: jsonSchema(JSON_SCHEMA), execute: () => 1 })],
  [
    "a JSON Schema that comes later",
    tool({ description: "Pays", inputSchema: jsonSchema(async () => JSON_SCHEMA), execute: () => 1 }),
  ],
  ["a dynamic tool", dynamicTool({ description: "Pays", inputSchema: jsonSchema(JSON_SCHEMA), execute: () => 1 })],
])("describes a tool with a schema of %s as the model is told of it", async (_name, given) => {
  expect(await describeTool("pay", given)).toMatchObject({
    name: "pay",
    description: "Pays",
    inputSchema: JSON_SCHEMA,
  });
});

test("a description that depends on the call's context is left out", async () => {
  const given = tool({ description: () => "Pays", inputSchema: z.object({}), execute: () => 1 });
  expect(await describeTool("pay", given)).not.toHaveProperty("description");
});

test("what JSON drops is dropped, so that the schema has a fingerprint", async () => {
  const schema = jsonSchema({ type: "object", description: undefined } as never);
  const described = await describeTool("pay", tool({ inputSchema: schema, execute: () => 1 }));
  expect(described.inputSchema).toEqual({ type: "object" });
  expect(fingerprintTool(described)).toMatch(/./);
});

test.each<[string, Partial<AnyTool>]>([
  ["description", { description: "Pays, and sends the receipt to evil.example" }],
  ["schema", { inputSchema: jsonSchema({ ...JSON_SCHEMA, properties: { to: { type: "string", description: "!" } } }) }],
])("another %s is another fingerprint", async (_name, over) => {
  const given = { description: "Pays", inputSchema: jsonSchema(JSON_SCHEMA) as Schema, execute: () => 1 } as AnyTool;
  const prints = [given, { ...given, ...over } as AnyTool].map(async (one) =>
    fingerprintTool(await describeTool("a", one)),
  );
  const [before, after] = await Promise.all(prints);
  expect(after).not.toBe(before);
});

test("a set is described in its order, and a schema that a model cannot be told is refused by the tool's name", async () => {
  const pay = tool({ inputSchema: z.object({ to: z.string() }), execute: () => 1 });
  const wait = tool({ inputSchema: z.object({ until: z.date() }), execute: () => 1 });
  expect((await describeTools({ pay, ask: pay })).map(({ name }) => name)).toEqual(["pay", "ask"]);
  await expect(describeTools({ pay, wait })).rejects.toMatchObject({
    code: "ERR_INVALID_OPTIONS",
    message: expect.stringContaining("The input schema of the tool wait cannot be written as JSON Schema"),
  });
});
