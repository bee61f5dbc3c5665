import { describe, expect, test } from "vitest";
import { z } from "zod";
import { sampleEntries, samples } from "../../../test/api-samples.ts";
import type { Json, JsonObject } from "../json.ts";
import { PROBLEMS } from "../problem.ts";
import { type AnyEndpoint, describeApi, endpoints, listParameters, problemsOf } from "./index.ts";

interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: JsonObject }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonObject }>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content: Record<string, { readonly schema: JsonObject }> }>
  >;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonObject>>;
    readonly securitySchemes: Readonly<Record<string, JsonObject>>;
  };
}

const api = describeApi({ version: "1.2.3" }) as unknown as Document;
const { schemas, securitySchemes } = api.components;
const all = Object.entries<AnyEndpoint>(endpoints);

function operationOf({ path, method }: AnyEndpoint): Operation {
  const operation = api.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`no ${method} ${path}`);
  return operation;
}

function* listRefs(value: Json): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === "$ref") yield item as string;
    else yield* listRefs(item);
  }
}

/** What reads by the document alone, made from it by another way than it was made. */
function readerOf(schema: JsonObject): z.ZodType {
  const local = (value: unknown): never =>
    JSON.parse(JSON.stringify(value).replaceAll("#/components/schemas/", "#/$defs/")) as never;
  return z.fromJSONSchema({ ...(local(schema) as object), $defs: local(schemas) });
}

describe("the OpenAPI document", () => {
  test("says what it is, of which version, and is frozen JSON", () => {
    expect(api).toMatchObject({ openapi: "3.1.0", info: { title: "Intentlock", version: "1.2.3" } });
    expect(Object.isFrozen(api.paths["/v1/check"])).toBe(true);
    expect(JSON.parse(JSON.stringify(api))).toEqual(api);
  });

  test("has every endpoint, and no other", () => {
    const operations = Object.values(api.paths).flatMap((methods) => Object.values(methods));
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(all.map(([name]) => name).sort());
  });

  test("has no reference that leads nowhere, and no schema that nobody refers to", () => {
    const refs = new Set(listRefs(api as unknown as Json));
    const names = Object.keys(schemas).map((name) => `#/components/schemas/${name}`);
    expect([...refs].filter((ref) => !names.includes(ref))).toEqual([]);
    expect(names.filter((name) => !refs.has(name))).toEqual([]);
  });

  test("has no leftovers of how it was made", () => {
    const text = JSON.stringify(api);
    for (const word of ["$schema", "$id", "__shared", "$defs", "undefined"]) expect(text).not.toContain(`"${word}"`);
  });

  test.each(all)("of %s names parameters, security, answers and problems", (_name, endpoint) => {
    const { parameters = [], security, responses, requestBody } = operationOf(endpoint);
    const inPath = parameters.filter((one) => one.in === "path").map(({ name }) => name);
    expect(inPath).toEqual(listParameters(endpoint.path));
    expect(parameters.some((one) => one.in === "query")).toBe(endpoint.query !== undefined);
    expect(parameters.every(({ schema }) => schema["type"] === "string" || schema["type"] === "integer")).toBe(true);
    expect(security.length === 0).toBe(endpoint.auth.includes("none"));
    expect(security.flatMap(Object.keys).every((name) => Object.hasOwn(securitySchemes, name))).toBe(true);
    expect(requestBody !== undefined).toBe(endpoint.body !== undefined);
    const statuses = problemsOf(endpoint).map((code) => String(PROBLEMS[code].status));
    expect(new Set(Object.keys(responses))).toEqual(new Set([...Object.keys(endpoint.answers), ...statuses]));
    for (const code of problemsOf(endpoint)) {
      const problem = responses[String(PROBLEMS[code].status)];
      expect(problem?.description).toContain(`\`${code}\``);
      expect(JSON.stringify(problem?.content["application/problem+json"])).toContain(`"${code}"`);
    }
  });

  test.each(all)("of %s takes what the endpoint takes", (name, endpoint) => {
    const { requestBody, responses } = operationOf(endpoint);
    const sample = samples[name as keyof typeof samples];
    if (sample.body) {
      const reader = readerOf(requestBody?.content["application/json"]?.schema as JsonObject);
      expect(reader.safeParse(sample.body).error).toBeUndefined();
      expect(reader.safeParse({ ...sample.body, typo: 1 }).success).toBe(false);
      expect(reader.safeParse("x").success).toBe(false);
    }
    for (const [status, given] of Object.entries(sample.answers)) {
      const reader = readerOf(responses[status]?.content[endpoint.media ?? "application/json"]?.schema as JsonObject);
      for (const answer of given) {
        expect(reader.safeParse(answer).error).toBeUndefined();
        expect(reader.safeParse({ ...answer, later: 1 }).success).toBe(true);
      }
    }
  });

  test("knows every kind of audit entry", () => {
    const reader = readerOf({ $ref: "#/components/schemas/AuditEntry" });
    for (const entry of sampleEntries) {
      expect(reader.safeParse(entry).error).toBeUndefined();
      expect(reader.safeParse({ ...entry, event: { type: "approved" } }).success).toBe(false);
    }
  });

  test("knows the conditions of a plan", () => {
    const reader = readerOf({ $ref: "#/components/schemas/Plan" });
    const plan = (args: object) => ({ goal: "g", steps: [{ tool: "t", args }] });
    expect(reader.safeParse(plan({ to: { eq: "bob" }, amount: { lte: 5 } })).success).toBe(true);
    expect(reader.safeParse(plan({ to: { equals: "bob" } })).success).toBe(false);
    expect(reader.safeParse(plan({ to: "bob" })).success).toBe(false);
    expect(schemas["PlanCondition"]).toMatchObject({ minProperties: 1 });
    const condition = { $ref: "#/components/schemas/PlanCondition" };
    expect(schemas["PlanCondition"]).toMatchObject({
      properties: { each: condition, anyOf: { items: condition } },
    });
    expect(schemas["Plan"]).toMatchObject({
      properties: {
        steps: {
          items: {
            properties: {
              args: { additionalProperties: condition },
              at: { additionalProperties: condition, propertyNames: { pattern: "^/" } },
            },
          },
        },
      },
    });
  });

  test("shows the private half of no key", () => {
    expect(JSON.stringify(schemas["SignPlanRequest"])).not.toContain('"d"');
  });
});
