import type { PlanCondition } from "../../../../core/condition.ts";
import type { Json } from "../../../../core/json.ts";
import type { Source } from "../../../../core/sources/source.ts";

/** One thing that a plan asks of an argument, in words: `amount` `is at most` `100`. */
export interface Clause {
  readonly words: string;
  readonly value?: Json;
  /** Where it has to come from: any of them. */
  readonly sources?: readonly Source[];
  /** Conditions in it, of each of which all clauses hold. */
  readonly inner?: readonly (readonly Clause[])[];
}

type Describe<Operator extends keyof PlanCondition> = (given: NonNullable<PlanCondition[Operator]>) => Clause;

const CLAUSES: { readonly [Operator in keyof PlanCondition]-?: Describe<Operator> } = {
  optional: () => ({ words: "may be missing" }),
  absent: () => ({ words: "has to be missing" }),
  eq: (value) => ({ words: "is", value }),
  in: (value) => ({ words: "is one of", value }),
  glob: (value) => ({ words: "is like", value }),
  regex: (value) => ({ words: "matches", value }),
  gte: (value) => ({ words: "is at least", value }),
  lte: (value) => ({ words: "is at most", value }),
  maxItems: (count) => ({ words: count === 1 ? "has at most one item" : `has at most ${count} items` }),
  each: (inner) => ({ words: "has items, each of which", inner: [describeCondition(inner)] }),
  anyOf: (inner) => ({ words: "is one of these:", inner: inner.map(describeCondition) }),
  from: (sources) => ({ words: "was copied from", sources: [sources].flat() as Source[] }),
};

export function describeCondition(condition: PlanCondition): readonly Clause[] {
  return (Object.keys(CLAUSES) as (keyof PlanCondition)[]).flatMap((operator) => {
    const given = condition[operator];
    return given === undefined ? [] : [(CLAUSES[operator] as (given: unknown) => Clause)(given)];
  });
}
