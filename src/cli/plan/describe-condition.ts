import type { PlanCondition, PolicyCondition } from "../../core/condition.ts";
import type { Json } from "../../core/json.ts";
import type { Source } from "../../core/sources/source.ts";

/** A condition of a plan or of a policy. */
export interface AnyCondition
  extends Omit<PlanCondition, "each" | "anyOf">,
    Pick<PolicyCondition, "notIn" | "notGlob"> {
  readonly each?: AnyCondition;
  readonly anyOf?: readonly AnyCondition[];
}

/**
 * What a condition asks for, in words that follow on "must be": `exactly "Dora"`, `at most 50`. Values are printed as JSON,
 * whole: whoever shows them makes hidden characters visible. What {@link AnyCondition.optional} adds is not in it; nothing is
 * left then of a condition that asks for nothing else.
 *
 * @param nameStep what a step is called whose result is a source
 */
export function describeCondition(condition: AnyCondition, nameStep: (id: string) => string = quote): string {
  const words = Object.keys(WORDS).flatMap((operator) => {
    if (condition[operator as keyof AnyCondition] === undefined) return [];
    return WORDS[operator as keyof AnyCondition](condition, nameStep) ?? [];
  });
  return words.join(", and ");
}

type Describe = (condition: AnyCondition, nameStep: (id: string) => string) => string | undefined;

const WORDS: Readonly<Record<keyof AnyCondition, Describe>> = {
  absent: () => "left out",
  eq: ({ eq = null }) => `exactly ${print(eq)}`,
  in: ({ in: values = [] }) => `one of ${list(values)}`,
  notIn: ({ notIn = [] }) => `none of ${list(notIn)} (or missing)`,
  glob: ({ glob = "" }) => `like ${print(glob)}`,
  notGlob: ({ notGlob = "" }) => `not like ${print(notGlob)} (or missing)`,
  regex: ({ regex = "" }) => `what matches ${print(regex)}`,
  gte: ({ gte = 0 }) => `at least ${gte}`,
  lte: ({ lte = 0 }) => `at most ${lte}`,
  from: ({ from = [] }, nameStep) =>
    `copied from ${([from].flat() as Source[]).map((source) => describeSource(source, nameStep)).join(" or from ")}`,
  maxItems: ({ maxItems = 0 }) => `a list of at most ${maxItems}`,
  each: ({ each = {} }, nameStep) => `a list, each element of it ${inner(each, nameStep)}`,
  anyOf: ({ anyOf = [] }, nameStep) => anyOf.map((one) => inner(one, nameStep)).join(", or "),
  // Said where the argument is.
  optional: () => undefined,
};

/** Of an inner condition there may be several parts: which belong together shows. */
function inner(condition: AnyCondition, nameStep: (id: string) => string): string {
  const words = describeCondition(condition, nameStep);
  if (words === "") return "anything";
  return /, (?:and|or) /.test(words) ? `(${words})` : words;
}

function describeSource(source: Source, nameStep: (id: string) => string): string {
  if (source === "task") return "the task";
  return typeof source === "string"
    ? `what ${nameStep(source)} returned`
    : `${print(source.path)} in what ${nameStep(source.step)} returned`;
}

function list(values: readonly Json[]): string {
  return values.length === 0 ? "nothing" : values.map(print).join(", ");
}

function print(value: Json): string {
  return JSON.stringify(value);
}

function quote(id: string): string {
  return `step ${id}`;
}
