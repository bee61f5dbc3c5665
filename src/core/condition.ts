import { z } from "zod";
import { compileGlob } from "./glob.ts";
import { isJsonObject, type Json } from "./json.ts";
import { compileRegex } from "./regex.ts";
import { closedObject, notEmpty } from "./schema.ts";
import { type Source, sourcesSchema } from "./sources/source.ts";
import { PatternError } from "./text-matcher.ts";

/** What plans and policies may ask of an argument. At least one operator; all given must hold. */
interface Condition<Inner> {
  /** Equals the value exactly; the order of keys does not matter. */
  readonly eq?: Json;
  /** Equals one of the values. */
  readonly in?: readonly Json[];
  /** Is a string that the glob matches: `*` does not cross `/`. */
  readonly glob?: string;
  /** Is a string that the RE2 expression matches in full. */
  readonly regex?: string;
  /** Is a number, at most this. */
  readonly lte?: number;
  /** Is a number, at least this. */
  readonly gte?: number;
  /** Is a list, each of whose elements satisfies the condition. */
  readonly each?: Inner;
  /** Is a list of at most so many elements. */
  readonly maxItems?: number;
  /** Satisfies at least one of the conditions. */
  readonly anyOf?: readonly Inner[];
  /** May be missing; if it is there, the rest of the condition must hold. */
  readonly optional?: true;
  /** Is missing. Stands alone. */
  readonly absent?: true;
}

/** What a plan may ask of an argument. */
export interface PlanCondition extends Condition<PlanCondition> {
  /** Was copied from one of these: it occurs there as whole words. Null and what is empty pass. */
  readonly from?: Source | readonly Source[];
}

/** What a policy may ask of an argument: two exact negations more, which a missing argument satisfies. */
export interface PolicyCondition extends Condition<PolicyCondition> {
  /** Equals none of the values, or is missing. */
  readonly notIn?: readonly Json[];
  /** Is not a string that the glob matches, or is missing. */
  readonly notGlob?: string;
}

const MAX_ALTERNATIVES = 100;

// Schemas are given values that copyJson() has made: any of them is JSON.
const json = z.custom<Json>();
const glob = patternSchema((pattern) => compileGlob(pattern));
const regex = patternSchema(compileRegex);

function operators<Inner>(inner: z.ZodType<Inner>) {
  return {
    eq: json.optional(),
    in: z.array(json).max(1000).optional(),
    glob: glob.optional(),
    regex: regex.optional(),
    lte: z.number().optional(),
    gte: z.number().optional(),
    each: inner.optional(),
    maxItems: z.int().min(0).optional(),
    anyOf: z.array(inner).min(1, "give at least one alternative").max(MAX_ALTERNATIVES).optional(),
    optional: z.literal(true, "write true, or leave it out").optional(),
    absent: z.literal(true, "write true, or leave it out").optional(),
  };
}

export const planConditionSchema: z.ZodType<PlanCondition> = z.lazy(() => planCondition);
export const policyConditionSchema: z.ZodType<PolicyCondition> = z.lazy(() => policyCondition);
export const globSchema: z.ZodType<string> = glob;

const planCondition = conditionSchema(
  closedObject({ ...operators(planConditionSchema), from: sourcesSchema.optional() }),
) as z.ZodType<PlanCondition>;
const policyCondition = conditionSchema(
  closedObject({
    ...operators(policyConditionSchema),
    notIn: z.array(json).max(1000).optional(),
    notGlob: glob.optional(),
  }),
) as z.ZodType<PolicyCondition>;

/** `to: bob` instead of `to: { eq: bob }` is the likeliest slip of all. */
function conditionSchema(operators: z.ZodType): z.ZodType {
  return z
    .unknown()
    .refine((value): boolean => isJsonObject(value), "expected a condition, like { eq: VALUE } or { glob: PATTERN }")
    .refine(
      (value) => !isJsonObject(value) || !Object.hasOwn(value, "absent") || Object.keys(value).length === 1,
      "absent stands alone: what is missing satisfies nothing else. To allow both, write optional: true",
    )
    .pipe(notEmpty(operators, "give at least one operator"));
}

/** Text that the compiler takes; what is wrong with it otherwise is the compiler's to say. */
export function patternSchema(compile: (pattern: string) => unknown): z.ZodType<string> {
  return z.string().superRefine((pattern, context) => refusePattern(() => compile(pattern), context));
}

function refusePattern(compile: () => unknown, context: z.RefinementCtx): void {
  try {
    compile();
  } catch (error) {
    const message = error instanceof PatternError ? error.message : "not a valid pattern";
    context.addIssue({ code: "custom", message });
  }
}

/** How many regexes there are in what may be the conditions of a step or a match: compiling one is dear. */
export function countRegexes(conditions: unknown): number {
  return countOperators(conditions, ["regex"]);
}

/** The same of all patterns: each alternative of a glob is some 3 KB when it is compiled. */
export function countPatterns(conditions: unknown): number {
  return countOperators(conditions, ["regex", "glob", "notGlob"]);
}

function countOperators(conditions: unknown, operators: readonly string[]): number {
  if (!isJsonObject(conditions)) return 0;
  return Object.values(conditions).reduce((sum: number, given) => sum + countIn(given, operators), 0);
}

function countIn(condition: unknown, operators: readonly string[]): number {
  if (!isJsonObject(condition)) return 0;
  const own = operators.filter((operator) => Object.hasOwn(condition, operator)).length;
  const { each, anyOf } = condition;
  const inner = [each, ...(Array.isArray(anyOf) ? (anyOf as readonly Json[]) : [])];
  return inner.reduce((sum: number, given) => sum + countIn(given, operators), own);
}
