import type { PlanCondition, PolicyCondition } from "./condition.ts";
import { compileGlob } from "./glob.ts";
import { type Json, jsonEqual } from "./json.ts";
import { appendPointer, everyAt, MISSHAPEN, type Pointer, parsePointer } from "./json-pointer.ts";
import { type Matching, readArg, spend } from "./matching.ts";
import { compileRegex } from "./regex.ts";
import { compileFrom } from "./sources/compile-from.ts";
import type { TextMatcher } from "./text-matcher.ts";

/** Whether an argument (undefined: it is missing) satisfies a condition. @throws MatchBudgetExceeded */
export type CompiledCondition = (value: Json | undefined, matching: Matching) => boolean;

/** The conditions of a step or a match, whether they are for arguments or for places in them. */
export type CompiledArgs = readonly CompiledArg[];

interface CompiledArg {
  /** The argument's name, or the pointer to a place in the arguments. */
  readonly name: string;
  readonly holds: CompiledCondition;
  /** For conditions under `at`. */
  readonly pointer: Pointer | undefined;
}

/** What has conditions: a step of a plan, or a match of a policy. */
export interface Conditioned {
  readonly args?: Readonly<Record<string, PlanCondition | PolicyCondition>>;
  readonly at?: Readonly<Record<string, PlanCondition | PolicyCondition>>;
}

/** @throws PatternError for a pattern out of bounds */
export function compileArgs({ args = {}, at = {} }: Conditioned): CompiledArgs {
  const named = Object.entries(args).map(([name, condition]) => {
    return { name, holds: compileCondition(condition, appendPointer("", name)), pointer: undefined };
  });
  const placed = Object.entries(at).map(([path, condition]) => {
    return { name: path, holds: compileCondition(condition, path), pointer: parsePointer(path) ?? [] };
  });
  return [...named, ...placed];
}

/** The first condition that the arguments fail; undefined if all hold. */
export function findFailing(conditions: CompiledArgs, matching: Matching): CompiledArg | undefined {
  for (const condition of conditions) {
    const { name, holds, pointer } = condition;
    const passes = pointer === undefined ? holds(readArg(matching, name), matching) : holdsAt(pointer, holds, matching);
    if (!passes) return condition;
  }
  return undefined;
}

function holdsAt(pointer: Pointer, holds: CompiledCondition, matching: Matching): boolean {
  return everyAt(
    matching.args,
    pointer,
    (found) => holds(found, matching),
    (items) => spend(matching, 50 + 50 * items),
  );
}

/**
 * Compiles a condition that its schema has accepted.
 *
 * @param place the pointer of what it is a condition on, for the record of where a value came from
 */
export function compileCondition(condition: PlanCondition & PolicyCondition, place = ""): CompiledCondition {
  const tests = compileOperators(condition, place);
  const all = joinTests(tests);
  return condition.optional ? (value, matching) => value === undefined || all(value, matching) : all;
}

function joinTests(tests: readonly CompiledCondition[]): CompiledCondition {
  const [first, second] = tests;
  if (first && tests.length === 1) return first;
  if (first && second && tests.length === 2)
    return (value, matching) => first(value, matching) && second(value, matching);
  return (value, matching) => tests.every((test) => test(value, matching));
}

function compileOperators(condition: PlanCondition & PolicyCondition, place: string): CompiledCondition[] {
  const tests: CompiledCondition[] = [];
  const { lte, gte, maxItems, each, anyOf, from } = condition;
  if (condition.absent) tests.push((value) => value === undefined);
  if (lte !== undefined) tests.push((value) => typeof value === "number" && value <= lte);
  if (gte !== undefined) tests.push((value) => typeof value === "number" && value >= gte);
  if (maxItems !== undefined) tests.push((value) => Array.isArray(value) && value.length <= maxItems);
  if (condition.eq !== undefined) tests.push(equalsOneOf([condition.eq]));
  if (condition.in) tests.push(equalsOneOf(condition.in));
  if (condition.notIn) tests.push(not(equalsOneOf(condition.notIn)));
  if (condition.glob !== undefined) tests.push(matchesText(compileGlob(condition.glob)));
  if (condition.notGlob !== undefined) tests.push(not(matchesText(compileGlob(condition.notGlob))));
  if (condition.regex !== undefined) tests.push(matchesText(compileRegex(condition.regex)));
  if (each) tests.push(holdsForEach(compileCondition(each, place)));
  if (anyOf) tests.push(holdsForOne(anyOf.map((inner) => compileCondition(inner, place))));
  // Last: what it finds is on record, and counts only if everything else holds.
  if (from !== undefined) tests.push(compileFrom(from, place));
  // `optional` alone: any value, but not what is in the way of one.
  if (tests.length === 0) tests.push((value) => value !== MISSHAPEN);
  return tests;
}

function holdsForEach(test: CompiledCondition): CompiledCondition {
  return (value, matching) => {
    if (!Array.isArray(value)) return false;
    spend(matching, 50 * value.length);
    return value.every((item: Json) => test(item, matching));
  };
}

function holdsForOne(alternatives: readonly CompiledCondition[]): CompiledCondition {
  return (value, matching) => {
    const found = matching.grounds?.found;
    const length = found?.length ?? 0;
    return alternatives.some((test) => {
      spend(matching, 50);
      if (test(value, matching)) return true;
      // What a part of it has found is no reason.
      if (found) found.length = length;
      return false;
    });
  };
}

function not(test: CompiledCondition): CompiledCondition {
  return (value, matching) => !test(value, matching);
}

function equalsOneOf(values: readonly Json[]): CompiledCondition {
  const [only] = values;
  if (values.length === 1 && (typeof only !== "object" || only === null)) return (value) => value === only;
  const scalars = new Set<Json>(values.filter((value) => typeof value !== "object" || value === null));
  const structures = values.filter((value) => typeof value === "object" && value !== null);
  return (value, matching) => {
    if (value === undefined) return false;
    if (typeof value !== "object" || value === null) return scalars.has(value);
    return structures.some((structure) => jsonEqual(value, structure, (keys) => spend(matching, 100 + 100 * keys)));
  };
}

function matchesText(matcher: TextMatcher): CompiledCondition {
  return (value, matching) => {
    if (typeof value !== "string") return false;
    spend(matching, matcher.work(value.length));
    return matcher.matches(value);
  };
}
