import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../core/index.ts";
import { compileSchema } from "./validate-args.ts";

const DRAFT_7 = "http://json-schema.org/draft-07/schema#";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

function schemaOf(property: object, over: object = {}): Json {
  return { type: "object", properties: { value: property }, required: ["value"], ...over } as Json;
}

describe("a schema", () => {
  test.each<[string, Json, JsonObject, JsonObject]>([
    ["a type", schemaOf({ type: "string" }), { value: "a" }, { value: 1 }],
    ["no number for a text", schemaOf({ type: "number" }), { value: 20 }, { value: "20" }],
    ["a format", schemaOf({ type: "string", format: "email" }), { value: "alice@acme.dev" }, { value: "alice" }],
    ["a time", schemaOf({ format: "date-time" }), { value: "2026-11-30T10:00:00Z" }, { value: "2026-13-30" }],
    ["a pattern", schemaOf({ pattern: "^a+$" }), { value: "aaa" }, { value: "ab" }],
    ["a pattern anywhere", schemaOf({ pattern: "a|b" }), { value: "xbx" }, { value: "x" }],
    [
      "different items",
      schemaOf({ uniqueItems: true }),
      { value: [{ a: 1, b: 2 }] },
      {
        value: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
    ],
    [
      "a property that is the object's own",
      schemaOf({}, { required: ["constructor"] }),
      { constructor: 1 },
      { value: 1 },
    ],
    ["no others", schemaOf({}, { additionalProperties: false }), { value: 1 }, { value: 1, __proto__x: 2 }],
    ["draft 7", schemaOf({ items: [{ type: "string" }] }, { $schema: DRAFT_7 }), { value: ["a"] }, { value: [1] }],
    ["draft 7 that does not say so", schemaOf({ items: [{ type: "string" }] }), { value: ["a"] }, { value: [1] }],
    [
      "2020-12",
      schemaOf({ prefixItems: [{ type: "string" }] }, { $schema: DRAFT_2020 }),
      { value: ["a"] },
      { value: [1] },
    ],
    ["2020-12 that does not say so", schemaOf({ prefixItems: [{ type: "string" }] }), { value: ["a"] }, { value: [1] }],
    [
      "a reference",
      schemaOf({ $ref: "#/$defs/a" }, { $defs: { a: { type: "string" } } }),
      { value: "a" },
      { value: 1 },
    ],
    [
      "an id that others have",
      schemaOf({ type: "string" }, { $id: "https://acme.dev/s" }),
      { value: "a" },
      { value: 1 },
    ],
    ["the id of a dialect", schemaOf({ type: "string" }, { $id: DRAFT_2020 }), { value: "a" }, { value: 1 }],
    [
      "keywords and formats that nobody knows",
      schemaOf({ type: "string", format: "x-y", hint: 1 }),
      { value: "a" },
      { value: 1 },
    ],
  ])("asks for %s", (_name, schema, good, bad) => {
    for (let again = 0; again < 2; again++) {
      const validate = compileSchema(schema);
      expect([validate(good), validate(bad)]).toEqual([undefined, expect.any(String)]);
    }
  });

  test.each<[string, Json]>([
    ["none", null],
    ["a reference to elsewhere", schemaOf({ $ref: "https://evil.example/schema.json" })],
    ["an asynchronous one", schemaOf({ type: "string" }, { $async: true })],
    ["one that does not compile", schemaOf({ type: "no-such-type" })],
  ])("that cannot be used takes nothing: %s", (_name, schema) => {
    expect(compileSchema(schema)({ value: "a" })).toBe("the input schema of the tool cannot be used");
  });

  test("does not stall a decision with a pattern, or with many items", () => {
    const bomb = compileSchema(schemaOf({ pattern: "^(a+)+$" }));
    expect(bomb({ value: `${"a".repeat(20_000)}!` })).toMatch(/must match pattern/);
    const unique = compileSchema(schemaOf({ uniqueItems: true }));
    expect(unique({ value: Array.from({ length: 50_000 }, (_, a) => ({ a })) })).toBeUndefined();
  });

  test("leaves a pattern that has no linear time to the server", () => {
    expect(compileSchema(schemaOf({ pattern: "^(?!a)" }))({ value: "a" })).toBeUndefined();
  });

  test("says what is wrong by names, and by no values", () => {
    const validate = compileSchema(schemaOf({ type: "string" }, { additionalProperties: false }));
    expect(validate({ value: "a", secret: "s3cr3t" })).toBe(
      'the arguments must NOT have additional properties: "secret"',
    );
    expect(validate({ value: 7 })).toBe("value must be string");
  });
});
