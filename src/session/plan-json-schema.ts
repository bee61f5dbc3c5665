import { type Json, type JsonObject, MAX_PLAN_STEPS } from "../core/index.ts";

/**
 * The JSON Schema of a plan, for a model: `maxCalls` is asked for on every step, though a plan need not have it.
 *
 * Conditions within conditions are written out to the second level, where `parsePlan()` takes any: providers refuse `$ref`
 * (Gemini) or recursion (Anthropic's strict mode) in the schema of a tool. OpenAI's strict mode takes no schema with keys
 * that are names of arguments, whatever else is in it; no adapter asks for that.
 */
export function planJsonSchema(names: readonly string[]): Json {
  const inner = conditionSchema({});
  const condition = conditionSchema({ each: inner, anyOf: { type: "array", items: inner } });
  // Not written out once more: the guide has an example.
  const placed = { type: "object", description: "A condition, as in args" };
  const step = {
    type: "object",
    additionalProperties: false,
    required: ["tool", "maxCalls"],
    properties: {
      id: { type: "string", description: "For the steps that name this one in from" },
      tool: { type: "string", enum: names },
      args: { type: "object", additionalProperties: condition, description: "A condition per argument" },
      at: {
        type: "object",
        additionalProperties: placed,
        description: "A condition per place inside of an argument, by its JSON Pointer, like /guests/*/email",
      },
      otherArgs: { type: "string", enum: ["block"], description: "Refuses arguments that are not listed" },
      maxCalls: { type: "integer", minimum: 1 },
    },
  };
  return {
    type: "object",
    additionalProperties: false,
    required: ["goal", "steps"],
    properties: {
      goal: { type: "string", description: "What the user asked for, in one sentence" },
      steps: { type: "array", maxItems: MAX_PLAN_STEPS, items: step },
    },
  };
}

const ANYTHING = { description: "Any JSON value" };
const PLACE = {
  type: "object",
  additionalProperties: false,
  required: ["step", "path"],
  properties: { step: { type: "string" }, path: { type: "string" } },
};
const SOURCE = { anyOf: [{ type: "string", description: "task, or the id of a step" }, PLACE] };
const FROM = { anyOf: [...SOURCE.anyOf, { type: "array", items: SOURCE }], description: "Copied from there" };
// No enum: Gemini has enums of texts only.
const TRUE = { type: "boolean", description: "true, or leave it out" };

function conditionSchema(nested: JsonObject): JsonObject {
  return {
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    properties: {
      eq: ANYTHING,
      in: { type: "array", items: ANYTHING },
      from: FROM,
      glob: { type: "string" },
      regex: { type: "string" },
      lte: { type: "number" },
      gte: { type: "number" },
      maxItems: { type: "integer", minimum: 0 },
      optional: TRUE,
      absent: TRUE,
      ...nested,
    },
  };
}
