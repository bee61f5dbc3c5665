import type { Decision, PlanStep } from "intentlock/core";
import type { ToolCall, UserTask } from "./load.ts";

/** One thing that went otherwise than one would wish. */
export interface Finding {
  readonly what: string;
  readonly where: string;
  /** Of an attack: it would wait for a person, with the policy that holds. */
  readonly waits?: boolean;
  readonly calls: readonly FindingCall[];
}

/** A call of a finding, with why it was blocked, or the step that allowed it. */
export interface FindingCall extends ToolCall {
  readonly blocked?: string;
  readonly allowedBy?: PlanStep;
}

/** The calls with these indices. */
export function describeCalls(
  { plan }: UserTask,
  { calls, decisions }: { readonly calls: readonly ToolCall[]; readonly decisions: readonly Decision[] },
  indices: Iterable<number>,
): FindingCall[] {
  return [...new Set(indices)].flatMap((index): FindingCall[] => {
    const call = calls[index];
    const decision = decisions[index];
    if (!call || !decision) return [];
    const { tool, args } = call;
    if (decision.verdict !== "allow") return [{ tool, args, blocked: describeBlock(decision) }];
    const step = plan.steps[decision.step];
    return [{ tool, args, ...(step && { allowedBy: step }) }];
  });
}

function describeBlock(decision: Decision): string {
  if (decision.verdict !== "block") return decision.verdict;
  return decision.message.split("\n")[0]?.replace("Blocked by Intentlock ", "") ?? decision.reason;
}
