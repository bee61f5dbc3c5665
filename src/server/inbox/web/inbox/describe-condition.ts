import type { PlanCondition } from "../../../../core/condition.ts";
import type { Json } from "../../../../core/json.ts";

/** One thing that a plan asks of an argument, in words: `amount` `at most` `100`. */
export interface Clause {
  readonly words: string;
  readonly value: Json;
}

const WORDS = {
  eq: "is",
  in: "is one of",
  glob: "is like",
  regex: "matches",
  gte: "is at least",
  lte: "is at most",
} as const satisfies Record<keyof PlanCondition, string>;

export function describeCondition(condition: PlanCondition): readonly Clause[] {
  return Object.entries(WORDS).flatMap(([operator, words]) => {
    const value = condition[operator as keyof PlanCondition];
    return value === undefined ? [] : [{ words, value }];
  });
}
