import type { CompiledCondition } from "../compile-condition.ts";
import type { Json } from "../json.ts";
import { MISSHAPEN } from "../json-pointer.ts";
import { type Matching, spend } from "../matching.ts";
import { findSource } from "./find-source.ts";
import { type CompiledSources, compileSources, type Source } from "./source.ts";

/**
 * The test of a `from`: null and what is empty pass, of a list every element has to come from one of the sources, and an
 * object comes from a place only, where it has to stand as a whole.
 */
export function compileFrom(from: Source | readonly Source[], arg: string): CompiledCondition {
  const sources = compileSources(from);
  return (value, matching) => value !== undefined && comesFrom(value, { matching, sources, arg });
}

interface From {
  readonly matching: Matching;
  readonly sources: CompiledSources;
  readonly arg: string;
}

function comesFrom(value: Json, from: From): boolean {
  if (value === null || value === "") return true;
  if (value === MISSHAPEN) return false;
  if (typeof value !== "object") return isFound(value, from);
  spend(from.matching, 100);
  if ((Array.isArray(value) ? value : Object.keys(value)).length === 0) return true;
  if (from.sources.steps.some(({ place }) => place) && isFound(value, from)) return true;
  return Array.isArray(value) && value.every((item: Json) => comesFrom(item, from));
}

function isFound(value: Json, { matching, sources, arg }: From): boolean {
  const { grounds, step } = matching;
  if (!grounds) return false;
  const found = findSource({ value, arg, step: step?.index, sources, spend: (work) => spend(matching, work) }, grounds);
  if (found) grounds.found.push(found);
  return found !== undefined;
}
