import { z } from "zod";
import { planConditionSchema } from "../condition.ts";
import { freezeJson, type Json, type JsonObject } from "../json.ts";
import { planSchema } from "../plan.ts";
import { problemSchema } from "../problem.ts";
import { agentAnswerSchema, keyAnswerSchema } from "./agents.ts";
import { auditEntrySchema } from "./audit-entry.ts";
import { outcomeSchema } from "./calls.ts";
import { decisionSchema } from "./decisions.ts";
import type { AnyEndpoint } from "./endpoint.ts";
import { holdAnswerSchema, inboxItemSchema, openedHoldAnswerSchema } from "./holds.ts";
import { personAnswerSchema, removedAnswerSchema } from "./people.ts";
import { pendingPlanAnswerSchema, planAnswerSchema, signedPlanAnswerSchema, taskSchema } from "./plans.ts";
import { policyVersionSchema } from "./policies.ts";
import { signingKeyAnswerSchema } from "./signing-keys.ts";
import { webhookAnswerSchema } from "./webhooks.ts";

/** What more than one endpoint speaks of, by the name that it has in the document. */
const SHARED: Readonly<Record<string, z.ZodType>> = {
  Plan: planSchema,
  PlanCondition: planConditionSchema,
  Task: taskSchema,
  SignedPlan: signedPlanAnswerSchema,
  PendingPlan: pendingPlanAnswerSchema,
  PlanRecord: planAnswerSchema,
  Decision: decisionSchema,
  Outcome: outcomeSchema,
  AuditEntry: auditEntrySchema,
  OpenedHold: openedHoldAnswerSchema,
  Hold: holdAnswerSchema,
  InboxItem: inboxItemSchema,
  PolicyVersion: policyVersionSchema,
  Agent: agentAnswerSchema,
  ApiKey: keyAnswerSchema,
  Person: personAnswerSchema,
  Webhook: webhookAnswerSchema,
  SigningKey: signingKeyAnswerSchema,
  Removed: removedAnswerSchema,
  Problem: problemSchema,
};

/** The schemas of an API in JSON Schema, and how the rest of its document refers to them. */
export interface ApiSchemas {
  readonly components: Readonly<Record<string, JsonObject>>;
  /** @throws TypeError for a schema that is not one of the API's */
  refer(schema: z.ZodType): JsonObject;
}

/** Where a schema is in the document. */
export function referTo(name: string): string {
  return `#/components/schemas/${name}`;
}

/** The schemas of every body and every answer, each once, and what they share. */
export function describeSchemas(endpoints: Readonly<Record<string, AnyEndpoint>>): ApiSchemas {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SHARED)) registry.add(schema, { id });
  for (const [name, { body, answers }] of Object.entries(endpoints)) {
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    if (body) addOnce(registry, body, `${title}Request`);
    const given = Object.entries(answers);
    for (const [status, schema] of given) addOnce(registry, schema, `${title}${given.length > 1 ? status : ""}Answer`);
  }
  const { schemas } = z.toJSONSchema(registry, { ...IN_JSON_SCHEMA, uri: referTo });
  const components = Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, toComponent(schema)]));
  return {
    components: {
      ...components,
      Plan: describePlan(components["Plan"]),
      PlanCondition: { ...components["PlanCondition"], minProperties: 1 },
    },
    refer(schema) {
      const id = registry.get(schema)?.id;
      if (id === undefined) throw new TypeError("The schema is none of the API's");
      return { $ref: referTo(id) };
    },
  };
}

/** The fields of a query and their schemas. */
export function describeQuery(query: z.ZodType): {
  readonly properties: JsonObject;
  readonly required: readonly Json[];
} {
  const { properties = {}, required = [] } = toComponent(z.toJSONSchema(query, IN_JSON_SCHEMA));
  return { properties: properties as JsonObject, required: required as readonly Json[] };
}

/** One schema alone, without names for its parts. */
export function describeSchema(schema: z.ZodType): JsonObject {
  return toComponent(z.toJSONSchema(schema, IN_JSON_SCHEMA));
}

const IN_JSON_SCHEMA = {
  target: "draft-2020-12",
  io: "output",
  // Checks in code have no JSON Schema: their `meta()` says what can be said.
  unrepresentable: "any",
  override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }) {
    const { def } = zodSchema._zod;
    // What readers pass over may be there, so that a client of today reads the answers of tomorrow.
    if (def.type === "object" && !def.catchall) delete jsonSchema.additionalProperties;
  },
} as const;

function addOnce(registry: z.core.$ZodRegistry<{ id: string }>, schema: z.ZodType, id: string): void {
  if (!registry.has(schema)) registry.add(schema, { id });
}

function toComponent(schema: unknown): JsonObject {
  const { $schema: _, $id: __, ...component } = schema as Record<string, Json>;
  // Through text: properties that are undefined, and functions, are not in it.
  return freezeJson(JSON.parse(JSON.stringify(component))) as JsonObject;
}

/** The arguments of a step, and the places in them, are names that somebody chose, which no schema of zod can express without losing one. */
function describePlan(plan: unknown): JsonObject {
  const copy = structuredClone(plan) as PlanInJsonSchema;
  const { properties } = copy.properties.steps.items;
  const conditions = { type: "object", additionalProperties: { $ref: referTo("PlanCondition") } };
  properties["args"] = conditions;
  properties["at"] = { ...conditions, propertyNames: { pattern: "^/" } };
  return freezeJson(copy) as JsonObject;
}

interface PlanInJsonSchema {
  readonly properties: { readonly steps: { readonly items: { readonly properties: Record<string, Json> } } };
}
