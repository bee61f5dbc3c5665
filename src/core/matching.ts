import type { StepPins } from "./pinned.ts";
import type { FoundSource, SourceGrounds } from "./sources/find-source.ts";
import { MAX_MATCH_WORK } from "./text-matcher.ts";

/** The state of one decision while a call is matched with steps and rules. */
export interface Matching {
  /** What is left of the work that the decision may spend. */
  left: number;
  /** The index of the step whose conditions are looked at, and what they may fix. */
  step: number;
  pins: StepPins;
  /** What values may have been copied from; undefined if nothing is known. */
  readonly grounds: SourceGrounds | undefined;
  /** Where the values were found that the step's conditions want from somewhere, as far as it has been matched. */
  readonly found: FoundSource[];
}

/** Thrown when a decision would take too much work; `check()` turns it into a block. */
export class MatchBudgetExceeded extends Error {}

const NO_PINS: StepPins = new Map();
/** Where nothing is known, nothing is found. */
const NOTHING: FoundSource[] = [];

export function newMatching(grounds?: SourceGrounds): Matching {
  return { left: MAX_MATCH_WORK, step: -1, pins: NO_PINS, grounds, found: grounds ? [] : NOTHING };
}

export function spend(matching: Matching, work: number): void {
  matching.left -= work;
  if (matching.left < 0) throw new MatchBudgetExceeded();
}
