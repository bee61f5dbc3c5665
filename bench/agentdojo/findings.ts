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

/** A call of a finding, with why it was blocked, or the step that allowed it and what a person is asked about. */
export interface FindingCall extends ToolCall {
  readonly blocked?: string;
  readonly allowedBy?: PlanStep;
  readonly asks?: string;
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
    const asks = decision.unpinned && { asks: describeAsk(decision, plan.steps) };
    return [{ tool, args, ...(step && { allowedBy: step }), ...asks }];
  });
}

function describeBlock(decision: Decision): string {
  if (decision.verdict !== "block") return decision.verdict;
  return decision.message.split("\n")[0]?.replace("Blocked by Intentlock ", "") ?? decision.reason;
}

/** What a person is asked about: the arguments that nothing has fixed, and what gave them. */
function describeAsk({ tool, unpinned = [], sources = [] }: Decision, steps: readonly PlanStep[]): string {
  const asked = unpinned.map((name) => {
    const pointers = [`/${name}`, `/${name}/*`];
    const from = sources.filter(({ arg }) => pointers.includes(arg)).map(({ from }) => from);
    const tools = new Set(from.map((id) => steps.find((step) => step.id === id)?.tool ?? id));
    return `${name} (${tools.size > 0 ? `from ${[...tools].join(" and ")}` : "not fixed"})`;
  });
  return `${tool} asks about ${asked.join(", ")}`;
}
