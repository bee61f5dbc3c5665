import type { PlanCondition } from "./condition.ts";
import type { Json } from "./json.ts";
import { appendPointer, everyAt, type Pointer, parsePointer } from "./json-pointer.ts";
import { type Matching, spend } from "./matching.ts";
import type { PlanStep } from "./plan.ts";

/**
 * Whether a condition fixes what it allows: always, where it is one of given values; or where its source does, which is
 * seen when a value is found there.
 */
type Pin = "always" | "by its source";

/** The places in the arguments that the conditions of a step may fix, by their pointer. */
export type StepPins = ReadonlyMap<string, Pin>;

export function compilePins({ args = {}, at = {} }: Pick<PlanStep, "args" | "at">): StepPins {
  const named = Object.entries(args).map(([name, condition]) => [appendPointer("", name), condition] as const);
  const pins = new Map<string, Pin>();
  for (const [path, condition] of [...Object.entries(at), ...named]) {
    const pin = pinOf(condition);
    if (pin) pins.set(path, pins.get(path) === "always" ? "always" : pin);
  }
  return pins;
}

function pinOf({ eq, in: values, absent, from, each, anyOf }: PlanCondition): Pin | undefined {
  if (eq !== undefined || values !== undefined || absent) return "always";
  if (from !== undefined) return "by its source";
  const inner = each ? [each] : anyOf;
  const pins = inner?.map(pinOf);
  if (!pins || pins.includes(undefined)) return undefined;
  return pins.includes("by its source") ? "by its source" : "always";
}

/** A target in the arguments that a rule asks about: the name of an argument, or a pointer to a place in one. */
export interface Target {
  /** As the policy names it. */
  readonly name: string;
  readonly pointer: Pointer;
  /** The pointers whose condition fixes the target: its own, that of all its elements, and those of what it is part of. */
  readonly fixedBy: readonly string[];
}

export function compileTarget(name: string): Target {
  const pointer = name.startsWith("/") ? (parsePointer(name) ?? []) : [name];
  const around: string[] = [];
  let path = "";
  for (const part of pointer) {
    path = appendPointer(path, part);
    around.push(path);
  }
  return { name, pointer, fixedBy: [`${path}/*`, ...around.reverse()] };
}

/**
 * Whether a call carries the target, and nothing in the step that allows the call has fixed it. What stands in the way to
 * the target may be taken for it by the tool, and counts as carried.
 */
export function isUnpinned({ pointer, fixedBy }: Target, matching: Matching): boolean {
  const isMissing = everyAt(matching.args, pointer, isEmpty, (items) => spend(matching, 50 + 50 * items));
  return !isMissing && !fixedBy.some((path) => isFixed(path, matching));
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function isFixed(path: string, matching: Matching): boolean {
  const pin = matching.step?.pins.get(path);
  if (pin === undefined) return false;
  if (pin === "always") return true;
  const { found = [] } = matching.grounds ?? {};
  spend(matching, found.length);
  return found.every(({ match, pins }) => match.arg !== path || pins);
}
