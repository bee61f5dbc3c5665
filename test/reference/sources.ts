import { isJsonObject, type Json, type Source } from "../../src/core/index.ts";
import { matchesGlob } from "./glob.ts";
import { isSame, listPlaces, partsOf } from "./values.ts";
import { numberOf, standsIn, wordsOf } from "./words.ts";
import type { World } from "./world.ts";

/** Whether a value was copied from one of the sources: each of its elements, if it is a list. */
export function isFound(world: World, from: Source | readonly Source[], value: Json): boolean {
  const sources = [from].flat() as Source[];
  if (isNothing(value) || sources.some((source) => isFoundAsOne(world, source, value))) return true;
  return Array.isArray(value) && value.every((item: Json) => isFound(world, sources, item));
}

/** Not by its elements. */
function isFoundAsOne(world: World, source: Source, value: Json): boolean {
  if (typeof source !== "string") return standsAt(world, source, value);
  return typeof value !== "object" && occurs(world, source, value as string | number | boolean);
}

/** Whether what was copied counts as fixed: the user said it, or it stands at a place that the policy trusts. */
export function isFixedSource(world: World, from: Source | readonly Source[], value: Json): boolean {
  const sources = [from].flat() as Source[];
  if (isNothing(value)) return true;
  if (sources.some((source) => isTrusted(world, source, value))) return true;
  // A list that stands somewhere as a whole comes from there.
  if (sources.some((source) => standsAt(world, source, value))) {
    return !Array.isArray(value) && sources.includes("task") && isFound(world, "task", value);
  }
  if (Array.isArray(value)) return value.every((item: Json) => isFixedSource(world, sources, item));
  return sources.includes("task") && isFound(world, "task", value);
}

/** Null and what is empty: there is nothing to copy. */
function isNothing(value: Json): boolean {
  if (value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function standsAt(world: World, source: Source, value: Json): boolean {
  if (typeof source === "string") return false;
  const parts = partsOf(source.path);
  return resultsOf(world, source.step).some((result) => isAt(result, parts, value));
}

function isAt(result: Json, parts: readonly string[], value: Json): boolean {
  return listPlaces(result, parts).some((found) => found.is === "value" && isSame(found.value, value));
}

/** Whether the value, which the source itself has to have, stands at a trusted place too. */
function isTrusted(world: World, source: Source, value: Json): boolean {
  const id = typeof source === "string" ? source : source.step;
  const step = world.plan.steps.find((each) => each.id === id);
  if (step === undefined || !isFoundAsOne(world, source, value)) return false;
  const trusted = (world.policy.trust ?? []).filter(({ tool }) => matchesGlob(tool, step.tool));
  return trusted.some(({ path }) => resultsOf(world, id).some((result) => isAt(result, partsOf(path), value)));
}

/** What the calls of a step gave. The text of an object or a list counts as what it says. */
function resultsOf({ plan, results }: World, id: string): Json[] {
  return results.filter(({ step }) => plan.steps[step]?.id === id).map(({ result }) => read(result));
}

function read(result: Json): Json {
  if (typeof result !== "string") return result;
  try {
    const said: Json = JSON.parse(result);
    return typeof said === "object" && said !== null ? said : result;
  } catch {
    return result;
  }
}

function occurs(world: World, source: string, value: string | number | boolean): boolean {
  if (source !== "task") return resultsOf(world, source).some((result) => leavesOf(result).some(has(value)));
  if (!world.isSigned) return false;
  const plain = typeof value === "string" ? value.toLowerCase() : value;
  return has(plain)(world.task.toLowerCase());
}

/** The texts, numbers, truth values and keys in a result. */
function leavesOf(result: Json): Json[] {
  if (Array.isArray(result)) return result.flatMap(leavesOf);
  return isJsonObject(result) ? Object.entries(result).flatMap(([name, item]) => [name, ...leavesOf(item)]) : [result];
}

function has(value: string | number | boolean): (leaf: Json) => boolean {
  return (leaf) => {
    if (typeof value === "string") return standsIn(value, String(leaf));
    if (typeof value === "number") {
      return typeof leaf === "string" ? wordsOf(leaf).some((word) => numberOf(word) === value) : leaf === value;
    }
    return wordsOf(String(leaf)).includes(String(value));
  };
}
