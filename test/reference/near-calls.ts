import { isJsonObject, type Json, type PlanStep } from "../../src/core/index.ts";
import type { Condition } from "./conditions.ts";
import { partsOf } from "./values.ts";

type Args = Readonly<Record<string, Json>>;

interface Drawn {
  readonly others: Args;
  /** Where it has a value, that is taken for the condition whose turn it is. */
  readonly meant: readonly (Json | undefined)[];
  /** Taken where any value may do. */
  readonly usual: Json;
}

/** Arguments for which the conditions of a step hold more often than not. */
export function fitArgs({ args = {}, at = {} }: PlanStep, { others, meant, usual }: Drawn): Args {
  const conditions: [string[], Condition][] = [
    ...Object.entries(args).map(([name, condition]): [string[], Condition] => [[name], condition]),
    ...Object.entries(at).map(([pointer, condition]): [string[], Condition] => [partsOf(pointer), condition]),
  ];
  return conditions.reduce<Json>((built, [parts, condition], index) => {
    const value = meant[index] === undefined ? valueFor(condition, usual) : meant[index];
    return value === undefined ? built : put(built, parts, value);
  }, others) as Args;
}

const TEXTS: Readonly<Record<string, string>> = {
  "*@x.org": "smith@x.org",
  "[a-z.]+@x\\.org": "smith@x.org",
  "\\d+": "50",
};

/** A value for which a condition may well hold. */
function valueFor(condition: Condition, usual: Json): Json | undefined {
  if (condition.optional || condition.absent) return undefined;
  if (condition.eq !== undefined) return condition.eq;
  if (condition.in !== undefined) return condition.in.at(-1);
  if (condition.each !== undefined) {
    const item = valueFor(condition.each, usual);
    return item === undefined ? [] : [item];
  }
  if (condition.anyOf?.[0] !== undefined) return valueFor(condition.anyOf[0], usual);
  if (condition.maxItems !== undefined) return condition.maxItems === 0 ? [] : [usual];
  if (condition.from !== undefined) return usual;
  const pattern = condition.glob ?? condition.regex;
  if (pattern !== undefined) return TEXTS[pattern] ?? (pattern.includes("b") ? "b" : "a");
  return condition.lte ?? condition.gte;
}

function put(into: Json | undefined, [part, ...rest]: readonly string[], value: Json): Json {
  if (part === undefined) return value;
  if (part === "*") return [put(undefined, rest, value)];
  if (Array.isArray(into) && part === "0") return [put(into[0], rest, value), ...into.slice(1)];
  const fields = isJsonObject(into) ? Object.entries(into) : [];
  const inside = fields.find(([name]) => name === part)?.[1];
  return Object.fromEntries([...fields.filter(([name]) => name !== part), [part, put(inside, rest, value)]]);
}
