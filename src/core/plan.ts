import { z } from "zod";
import { countPatterns, type PlanCondition, planConditionSchema } from "./condition.ts";
import { type Issue, PlanError } from "./errors.ts";
import { freezeJson, isJsonObject, type Json, type JsonObject, JsonProblem } from "./json.ts";
import { DECLARE_PLAN, isToolName, TOOL_NAME } from "./names.ts";
import { closedObject, cutIssues, findSchemaIssues, namedValues, placedValues, toIssue } from "./schema.ts";
import { listSources, stepIdSchema, TASK } from "./sources/source.ts";

/** What an agent may do for one task: the user's goal and the steps that serve it. */
export interface Plan {
  readonly goal: string;
  readonly steps: readonly PlanStep[];
}

/** Calls of one tool that the plan allows. */
export interface PlanStep {
  /** Unique in the plan: what a `from` names the step by. */
  readonly id?: string;
  /** The exact name of the tool. */
  readonly tool: string;
  /** Every argument listed must be present and satisfy its condition; the others are unconstrained. */
  readonly args?: Readonly<Record<string, PlanCondition>>;
  /**
   * Conditions for places in the arguments, by their JSON Pointer (RFC 6901), in which `*` stands for every element of a
   * list: `/items/*` + `/email`.
   */
  readonly at?: Readonly<Record<string, PlanCondition>>;
  /** `block`: arguments that neither `args` nor `at` lists must be absent or null. */
  readonly otherArgs?: "block";
  /** The most calls that this step allows, from 1; absent: no limit by this step. */
  readonly maxCalls?: number;
}

/** The most steps of a plan, the most bytes of its JSON, and the most globs and regexes: a regex takes up to some 20 ms to compile. */
export const MAX_PLAN_STEPS = 200;
export const MAX_PLAN_BYTES = 262_144;
export const MAX_PLAN_PATTERNS = 200;

/** So many tools are listed to whoever named one that there is not. */
const MAX_TOOLS_SHOWN = 50;

const planStepSchema: z.ZodType<PlanStep> = closedObject({
  id: stepIdSchema.optional(),
  tool: z
    .string()
    .regex(TOOL_NAME, "a tool's name is 1 to 64 letters, digits, _ or -")
    .refine((name) => name !== DECLARE_PLAN, `${DECLARE_PLAN} is reserved and cannot be a step`),
  args: namedValues(planConditionSchema).optional(),
  at: placedValues(planConditionSchema).optional(),
  otherArgs: z.literal("block", "write block, or leave it out").optional(),
  maxCalls: z.int().min(1).optional(),
}) as z.ZodType<PlanStep>;

export const planSchema: z.ZodType<Plan> = closedObject({
  goal: z.string().min(1, "say what the user asked for").max(10_000),
  steps: z
    .array(planStepSchema)
    .max(MAX_PLAN_STEPS, `a plan has at most ${MAX_PLAN_STEPS} steps`)
    .superRefine(refuseWrongIds),
});

/** Two steps of one id, and sources that are no step's. */
function refuseWrongIds(steps: readonly PlanStep[], context: z.RefinementCtx): void {
  // Steps that are none have nothing to be read.
  if (context.issues.length > 0) return;
  const ids = new Set<string>([TASK]);
  for (const [index, { id }] of steps.entries()) {
    if (id === undefined) continue;
    if (ids.has(id))
      context.addIssue({ code: "custom", path: [index, "id"], message: `another step has the id ${id}` });
    ids.add(id);
  }
  for (const [index, step] of steps.entries()) {
    for (const { path, source } of listSources(step)) {
      if (ids.has(source)) continue;
      const message = `no step has the id ${source}; there are: ${listNames(ids)}. Give the step that is meant an id`;
      context.addIssue({ code: "custom", path: [index, ...path], message });
    }
  }
}

/**
 * Checks a plan that a model or an application wrote, and freezes it.
 *
 * @param options.tools the names of the tools that there are; a step with another one is refused
 * @throws PlanError listing every problem with its path: unknown fields and tools, operators that plans do not have
 * (`notIn`, `notGlob`), empty conditions, patterns out of bounds, more than 200 steps, 200 globs and regexes or 256 KiB
 */
export function parsePlan(value: unknown, options: { readonly tools: Iterable<string> }): Plan {
  const tools = new Set(options.tools);
  let copy: Json;
  try {
    copy = freezeJson(value, MAX_PLAN_BYTES);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new PlanError([{ path: error.path, message: error.message }]);
  }
  const steps = listSteps(copy);
  if (
    steps.reduce((sum, step) => sum + countPatterns(step["args"]) + countPatterns(step["at"]), 0) > MAX_PLAN_PATTERNS
  ) {
    throw new PlanError([{ path: "steps", message: `a plan has at most ${MAX_PLAN_PATTERNS} globs and regexes` }]);
  }
  const issues: Issue[] = findSchemaIssues(planSchema, copy).map(toIssue);
  for (const [index, { tool }] of steps.entries()) {
    if (!isToolName(tool) || tools.has(tool) || tool === DECLARE_PLAN) continue;
    issues.push({ path: `steps[${index}].tool`, message: `unknown tool; there are: ${listNames(tools)}` });
  }
  if (issues.length > 0) throw new PlanError(cutIssues(issues));
  return copy as unknown as Plan;
}

/** The steps of what may be a plan, with an empty one for what is none. */
function listSteps(plan: Json): JsonObject[] {
  const steps = isJsonObject(plan) && Object.hasOwn(plan, "steps") ? plan["steps"] : [];
  return Array.isArray(steps) ? steps.map((step: Json) => (isJsonObject(step) ? step : {})) : [];
}

function listNames(tools: ReadonlySet<string>): string {
  const shown = [...tools].slice(0, MAX_TOOLS_SHOWN).join(", ");
  return tools.size > MAX_TOOLS_SHOWN ? `${shown} and ${tools.size - MAX_TOOLS_SHOWN} more` : shown || "none";
}
