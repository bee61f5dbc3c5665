import type { CompiledStep } from "./compile-plan.ts";
import type { SourceGrounds } from "./sources/find-source.ts";
import { MAX_MATCH_WORK } from "./text-matcher.ts";

/** The state of one decision while a call is matched with steps and rules. */
export interface Matching {
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
export function newMatching(): Matching {
  return { left: MAX_MATCH_WORK, step: undefined, grounds: undefined };
}

export function spend(matching: Matching, work: number): void {
  matching.left -= work;
  if (matching.left < 0) throw new MatchBudgetExceeded();
}
