import { type CompiledArgs, compileArgs, findFailing } from "./compile-condition.ts";
import type { JsonObject } from "./json.ts";
import { appendPointer, parsePointer } from "./json-pointer.ts";
import type { Matching } from "./matching.ts";
import { compilePins, type StepPins } from "./pinned.ts";
import type { Plan, PlanStep } from "./plan.ts";

/** A step ready to be matched. */
export interface CompiledStep {
  readonly index: number;
  readonly maxCalls: number;
  readonly args: CompiledArgs;
  /** The only arguments that a call may have, where the step blocks all others. */
  readonly listed: ReadonlySet<string> | undefined;
  readonly pins: StepPins;
}

/** The steps of a plan by the name of their tool, in the plan's order. @throws PatternError for a pattern out of bounds */
export function compilePlan(plan: Plan): ReadonlyMap<string, readonly CompiledStep[]> {
  const byTool = new Map<string, CompiledStep[]>();
  for (const [index, step] of plan.steps.entries()) {
    const compiled = {
      index,
      maxCalls: step.maxCalls ?? Number.POSITIVE_INFINITY,
      args: compileArgs(step),
      listed: step.otherArgs === "block" ? listArgs(step) : undefined,
      pins: compilePins(step),
    };
    const steps = byTool.get(step.tool);
    if (steps) steps.push(compiled);
    else byTool.set(step.tool, [compiled]);
  }
  return byTool;
}

function listArgs({ args = {}, at = {} }: PlanStep): ReadonlySet<string> {
  const placed = Object.keys(at).map((path) => parsePointer(path)?.[0] ?? "");
  return new Set([...Object.keys(args), ...placed]);
}

/** What of a call a step does not allow: the pointer of an argument, or of a place in one; undefined if it matches. */
export function findMismatch(step: CompiledStep, matching: Matching): string | undefined {
  matching.step = step;
  if (matching.grounds) matching.grounds.found.length = 0;
  const failing = findFailing(step.args, matching);
  if (failing) return failing.pointer ? failing.name : appendPointer("", failing.name);
  return step.listed ? findUnlisted(step.listed, matching.args) : undefined;
}

function findUnlisted(listed: ReadonlySet<string>, args: JsonObject): string | undefined {
  const name = Object.keys(args).find((name) => args[name] !== null && !listed.has(name));
  return name === undefined ? undefined : appendPointer("", name);
}
