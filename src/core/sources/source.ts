import { z } from "zod";
import type { PlanCondition } from "../condition.ts";
import { type Pointer, parsePointer } from "../json-pointer.ts";
import type { Plan, PlanStep } from "../plan.ts";
import { closedObject } from "../schema.ts";

/**
 * Where a value may have been copied from: `task`, the user's own words; the id of a step, whose results it has to occur
 * in; or a place in a step's structured results, at which it has to stand.
 */
export type Source = string | { readonly step: string; readonly path: string };

/** What the user asked for, as a source. No step may have it as its id. */
export const TASK = "task";

const MAX_SOURCES = 20;

/** What a step's id may be. */
export const stepIdSchema: z.ZodType<string> = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, "a step's id is 1 to 64 letters, digits, _ or -")
  .refine((id) => id !== TASK, `${TASK} is the user's task: give the step another id`);

/** A JSON Pointer. */
export const pointerSchema: z.ZodType<string> = z
  .string()
  .refine((text) => parsePointer(text) !== undefined, "expected a JSON Pointer, like /items/*/email");

// It is models that write them, and a step without a path is what they slip on.
const SHAPES = "task, or the id of a step (anywhere in its results), or { step, path } (exactly there)";

const source = z.union([z.string().max(64), closedObject({ step: z.string().max(64), path: pointerSchema })], {
  error: `expected ${SHAPES}`,
});

export const sourcesSchema: z.ZodType<Source | readonly Source[]> = z.union(
  [z.array(source).min(1, "name at least one source").max(MAX_SOURCES), source],
  { error: `expected ${SHAPES}, or a list of these` },
) as z.ZodType<Source | readonly Source[]>;

/** The sources of a `from`, ready to be asked. */
export interface CompiledSources {
  readonly task: boolean;
  readonly steps: readonly StepSource[];
}

export interface StepSource {
  readonly step: string;
  /** Absent: anywhere in the results. */
  readonly place?: Place | undefined;
}

/** A pointer, and how it was written. */
export interface Place {
  readonly path: string;
  readonly pointer: Pointer;
}

export function compileSources(from: Source | readonly Source[]): CompiledSources {
  const list = [from].flat() as Source[];
  return {
    task: list.includes(TASK),
    steps: list.flatMap((given): StepSource[] => {
      if (given === TASK) return [];
      return [typeof given === "string" ? { step: given } : { step: given.step, place: toPlace(given.path) }];
    }),
  };
}

export function toPlace(path: string): Place {
  return { path, pointer: parsePointer(path) ?? [] };
}

/** A source that a condition of a step names, by its id, and where in the step. */
export interface NamedSource {
  readonly source: string;
  readonly path: readonly (string | number)[];
}

/** Every source that the conditions of a step name. */
export function listSources({ args = {}, at = {} }: Pick<PlanStep, "args" | "at">): NamedSource[] {
  const placed = Object.entries({ args, at }).flatMap(([field, conditions]) =>
    Object.entries(conditions).map(([name, condition]) => ({ condition, path: [field, name] })),
  );
  return placed.flatMap(({ condition, path }) => listSourcesOf(condition, path));
}

/** The task, and the ids of the steps, as far as a `from` of the plan names them. */
export function namesOfSources({ steps }: Plan): ReadonlySet<string> {
  return new Set(steps.flatMap(listSources).map(({ source }) => source));
}

function listSourcesOf({ from, each, anyOf = [] }: PlanCondition, path: NamedSource["path"]): NamedSource[] {
  const own = from === undefined ? [] : ([from].flat() as Source[]);
  return [
    ...own.map((given) => ({ source: typeof given === "string" ? given : given.step, path: [...path, "from"] })),
    ...(each ? listSourcesOf(each, [...path, "each"]) : []),
    ...anyOf.flatMap((inner, index) => listSourcesOf(inner, [...path, "anyOf", index])),
  ];
}
