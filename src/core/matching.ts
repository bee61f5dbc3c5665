import type { CompiledStep } from "./compile-plan.ts";
import type { Json, JsonObject } from "./json.ts";
import type { SourceGrounds } from "./sources/find-source.ts";
import { MAX_MATCH_WORK } from "./text-matcher.ts";

/** The state of one decision while a call is matched with steps and rules. */
export interface Matching {
  readonly args: JsonObject;
  /** The argument that was read last, and its value: a step and a rule often ask for the same one. */
  lastName: string | undefined;
  lastValue: Json | undefined;
  /** What is left of the work that the decision may spend. */
  left: number;
  /** The step whose conditions are looked at. */
  step: CompiledStep | undefined;
  /** What values may have been copied from, and where they were found; undefined if the plan asks for no source. */
  grounds: SourceGrounds | undefined;
}

/** Thrown when a decision would take too much work; `check()` turns it into a block. */
export class MatchBudgetExceeded extends Error {}

/** For whoever matches outside of a decision: `check()` has this state in the call itself, which is cheaper by a third. */
export function newMatching(args: JsonObject = {}): Matching {
  return { args, lastName: undefined, lastValue: undefined, left: MAX_MATCH_WORK, step: undefined, grounds: undefined };
}

/** An argument of the call, an own property only; undefined if it has none of this name. */
export function readArg(matching: Matching, name: string): Json | undefined {
  if (matching.lastName === name) return matching.lastValue;
  const { args } = matching;
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  matching.lastName = name;
  matching.lastValue = value;
  return value;
}

export function spend(matching: Matching, work: number): void {
  matching.left -= work;
  if (matching.left < 0) throw new MatchBudgetExceeded();
}
