import { z } from "zod";
import { compileGlob } from "./glob.ts";
import { isJsonObject, type Json, jsonEqual } from "./json.ts";
import { compileRegex } from "./regex.ts";
import { closedObject, notEmpty } from "./schema.ts";
import { MAX_MATCH_WORK, PatternError, type TextMatcher } from "./text-matcher.ts";

/** What a plan may ask of an argument. At least one operator; all given must hold. */
export interface PlanCondition {
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
}

/** What a policy may ask of an argument: the plan's operators and two exact negations, which a missing argument satisfies. */
export interface PolicyCondition extends PlanCondition {
  /** Equals none of the values, or is missing. */
  readonly notIn?: readonly Json[];
  /** Is not a string that the glob matches, or is missing. */
  readonly notGlob?: string;
}

/** What is left of the work that one decision may spend on matching. */
export interface MatchBudget {
  left: number;
}

/** Thrown when a decision would take too much work; `check()` turns it into a block. */
export class MatchBudgetExceeded extends Error {}

export function newMatchBudget(): MatchBudget {
  return { left: MAX_MATCH_WORK };
}

/** Whether an argument (undefined: it is missing) satisfies a condition. @throws MatchBudgetExceeded */
export type CompiledCondition = (value: Json | undefined, budget: MatchBudget) => boolean;

// Schemas are given values that copyJson() has made: any of them is JSON.
const json = z.custom<Json>();
const glob = patternSchema((pattern) => compileGlob(pattern));
const regex = patternSchema(compileRegex);
const positive = {
  eq: json.optional(),
  in: z.array(json).max(1000).optional(),
  glob: glob.optional(),
  regex: regex.optional(),
  lte: z.number().optional(),
  gte: z.number().optional(),
};

export const planConditionSchema = conditionSchema(closedObject(positive)) as z.ZodType<PlanCondition>;
export const policyConditionSchema = conditionSchema(
  closedObject({ ...positive, notIn: z.array(json).max(1000).optional(), notGlob: glob.optional() }),
) as z.ZodType<PolicyCondition>;
export const globSchema: z.ZodType<string> = glob;

/** `to: bob` instead of `to: { eq: bob }` is the likeliest slip of all. */
function conditionSchema(operators: z.ZodType): z.ZodType {
  return z
    .unknown()
    .refine((value): boolean => isJsonObject(value), "expected a condition, like { eq: VALUE } or { glob: PATTERN }")
    .pipe(notEmpty(operators, "give at least one operator"));
}

/** Text that the compiler takes; what is wrong with it otherwise is the compiler's to say. */
export function patternSchema(compile: (pattern: string) => unknown): z.ZodType<string> {
  return z.string().superRefine((pattern, context) => refusePattern(() => compile(pattern), context));
}

/** How many of the conditions have a regex, in what may be the arguments of a step or a match: compiling one is dear. */
export function countRegexes(args: unknown): number {
  return countOperators(args, ["regex"]);
}

/** The same of all patterns: each alternative of a glob is some 3 KB when it is compiled. */
export function countPatterns(args: unknown): number {
  return countOperators(args, ["regex", "glob", "notGlob"]);
}

function countOperators(args: unknown, operators: readonly string[]): number {
  if (!isJsonObject(args)) return 0;
  return Object.values(args).reduce(
    (sum: number, given) => sum + (isJsonObject(given) ? operators.filter((op) => Object.hasOwn(given, op)).length : 0),
    0,
  );
}

/** Compiles a condition that its schema has accepted. */
export function compileCondition(condition: PolicyCondition): CompiledCondition {
  const tests = compileOperators(condition);
  const [first, second] = tests;
  if (first && tests.length === 1) return first;
  if (first && second && tests.length === 2) return (value, budget) => first(value, budget) && second(value, budget);
  return (value, budget) => tests.every((test) => test(value, budget));
}

function compileOperators(condition: PolicyCondition): CompiledCondition[] {
  const tests: CompiledCondition[] = [];
  const { lte, gte } = condition;
  if (lte !== undefined) tests.push((value) => typeof value === "number" && value <= lte);
  if (gte !== undefined) tests.push((value) => typeof value === "number" && value >= gte);
  if (condition.eq !== undefined) tests.push(equalsOneOf([condition.eq]));
  if (condition.in) tests.push(equalsOneOf(condition.in));
  if (condition.notIn) tests.push(not(equalsOneOf(condition.notIn)));
  if (condition.glob !== undefined) tests.push(matchesText(compileGlob(condition.glob)));
  if (condition.notGlob !== undefined) tests.push(not(matchesText(compileGlob(condition.notGlob))));
  if (condition.regex !== undefined) tests.push(matchesText(compileRegex(condition.regex)));
  return tests;
}

function not(test: CompiledCondition): CompiledCondition {
  return (value, budget) => !test(value, budget);
}

function equalsOneOf(values: readonly Json[]): CompiledCondition {
  const [only] = values;
  if (values.length === 1 && (typeof only !== "object" || only === null)) return (value) => value === only;
  const scalars = new Set<Json>(values.filter((value) => typeof value !== "object" || value === null));
  const structures = values.filter((value) => typeof value === "object" && value !== null);
  return (value, budget) => {
    if (value === undefined) return false;
    if (typeof value !== "object" || value === null) return scalars.has(value);
    return structures.some((structure) => jsonEqual(value, structure, (keys) => spend(budget, 100 + 100 * keys)));
  };
}

function matchesText(matcher: TextMatcher): CompiledCondition {
  return (value, budget) => {
    if (typeof value !== "string") return false;
    spend(budget, matcher.work(value.length));
    return matcher.matches(value);
  };
}

function spend(budget: MatchBudget, work: number): void {
  budget.left -= work;
  if (budget.left < 0) throw new MatchBudgetExceeded();
}

function refusePattern(compile: () => unknown, context: z.RefinementCtx): void {
  try {
    compile();
  } catch (error) {
    const message = error instanceof PatternError ? error.message : "not a valid pattern";
    context.addIssue({ code: "custom", message });
  }
}
