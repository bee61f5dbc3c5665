import type { ExplainedStep } from "../plan/explain-plan.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { count } from "./words.ts";

/** A plan, step by step. */
export function printPlan(goal: string, steps: readonly ExplainedStep[], paint: Paint): string {
  const warnings = steps.reduce((sum, step) => sum + step.warnings.length, 0);
  const lines = [printable(goal), "", ...steps.flatMap((step) => printStep(step, paint))];
  if (steps.length === 0) lines.push("No calls at all.", "");
  lines.push(`${count(steps.length, "step")}, ${paint(warnings > 0 ? "yellow" : "green", count(warnings, "warning"))}`);
  return lines.map((line) => `${line}\n`).join("");
}

function printStep(
  { step, id, tool, maxCalls, conditions, warnings, policy = [] }: ExplainedStep,
  paint: Paint,
): string[] {
  const name = id === undefined ? tool : `${tool} (${id})`;
  return [
    `${step + 1}. Call ${printable(name)} ${howOften(maxCalls)}:`,
    ...conditions.map((one) => `   - ${printable(one)}`),
    ...warnings.map((one) => `   ${paint("yellow", `warning: ${printable(one)}`)}`),
    ...policy.map((one) => `   policy: ${printable(one)}`),
    "",
  ];
}

function howOften(maxCalls: number | null): string {
  if (maxCalls === null) return "any number of times";
  if (maxCalls === 1) return "at most once";
  return maxCalls === 2 ? "at most twice" : `at most ${maxCalls} times`;
}
