import type { Json, PlanStep } from "../../src/core/index.ts";
import { type Condition, holds } from "./conditions.ts";
import { isFixedSource } from "./sources.ts";
import { type Found, listPlaces, partsOf } from "./values.ts";
import type { Asked, World } from "./world.ts";

/** Those of the arguments that the call has, and that nothing in the step has fixed. */
export function listOpen(
  world: World,
  names: readonly string[],
  { step, call }: { readonly step: PlanStep; readonly call: Asked },
): string[] {
  return names.filter((name) => {
    const target = name.startsWith("/") ? partsOf(name) : [name];
    return listPlaces(call.args, target).some(isThere) && !isFixed(world, step, { target, call });
  });
}

/** Neither null nor the empty list. What is in the way of the place is there: the tool may take it. */
function isThere(found: Found): boolean {
  if (found.is !== "value") return found.is === "misshapen";
  return found.value !== null && !(Array.isArray(found.value) && found.value.length === 0);
}

interface Target {
  readonly target: readonly string[];
  readonly call: Asked;
}

/**
 * Whether the place is fixed by what the step says of it, of what it is part of, or of all its elements: by given values,
 * or by sources, each of which has to fix what was found there.
 */
function isFixed(world: World, step: PlanStep, { target, call }: Target): boolean {
  const above = target.map((_, index) => target.slice(0, index + 1));
  return [...above, [...target, "*"]].some((parts) => {
    const conditions = conditionsFor(step, parts);
    if (conditions.some((condition) => kindOf(condition) === "given")) return true;
    if (!conditions.some((condition) => kindOf(condition) === "source")) return false;
    const values = listPlaces(call.args, parts).flatMap((found) => (found.is === "value" ? [found.value] : []));
    return conditions.every((condition) => values.every((value) => isFixedBySources(world, condition, value)));
  });
}

/** The conditions for exactly this place: there may be one under `args` and one under `at`. */
function conditionsFor({ args = {}, at = {} }: PlanStep, parts: readonly string[]): Condition[] {
  const [name = ""] = parts;
  const pointer = parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const named = parts.length === 1 && Object.hasOwn(args, name) ? [args[name] as Condition] : [];
  return Object.hasOwn(at, pointer) ? [...named, at[pointer] as Condition] : named;
}

/** Whether a condition leaves nothing to choose, or nothing that does not stand in some source. */
function kindOf({ eq, in: values, from, absent, each, anyOf }: Condition): "given" | "source" | "open" {
  if (absent || eq !== undefined || values !== undefined) return "given";
  if (from !== undefined) return "source";
  const kinds = (each ? [each] : (anyOf ?? [])).map(kindOf);
  if (kinds.length === 0 || kinds.includes("open")) return "open";
  return kinds.includes("source") ? "source" : "given";
}

/** Whether every source that let the value pass fixes it. Of alternatives, the first that holds is the one that counts. */
function isFixedBySources(world: World, { from, each, anyOf }: Condition, value: Json): boolean {
  const chosen = anyOf?.find((one) => holds(world, one, { is: "value", value, path: [] }));
  return (
    (from === undefined || isFixedSource(world, from, value)) &&
    (each === undefined || !Array.isArray(value) || value.every((item: Json) => isFixedBySources(world, each, item))) &&
    (chosen === undefined || isFixedBySources(world, chosen, value))
  );
}
