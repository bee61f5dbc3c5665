import type { Plan, PlanStep, Policy } from "../../core/index.ts";
import { listOpenArguments, type SessionTool } from "../../session/session-tool.ts";
import { describeCondition } from "./describe-condition.ts";
import { explainRules } from "./explain-rules.ts";

/** A step in words. */
export interface ExplainedStep {
  /** Its index, from 0, as decisions name it. */
  readonly step: number;
  readonly id?: string;
  readonly tool: string;
  /** Null: as many as it likes. */
  readonly maxCalls: number | null;
  /** What arguments have to be, a clause each. */
  readonly conditions: readonly string[];
  /** What the step leaves open, a sentence each. */
  readonly warnings: readonly string[];
  /** What the policy does with its calls, in the order of its rules; absent without a policy. */
  readonly policy?: readonly string[];
}

/** What a plan is explained with. */
export interface ExplainOptions {
  /** Absent: nobody has said which tools there are, so that any may change something. */
  readonly tools?: readonly SessionTool[] | undefined;
  readonly policy?: Policy | undefined;
}

/** A plan, step by step, in plain words. */
export function explainPlan(plan: Plan, { tools, policy }: ExplainOptions): readonly ExplainedStep[] {
  const nameStep = (id: string): string => `${plan.steps.find((step) => step.id === id)?.tool ?? "a tool"} (${id})`;
  const open = tools && listOpenArguments(plan, tools);
  return plan.steps.map((step, index) => ({
    step: index,
    ...(step.id !== undefined && { id: step.id }),
    tool: step.tool,
    maxCalls: step.maxCalls ?? null,
    conditions: describeArguments(step, nameStep),
    warnings: open
      ? open.flatMap((given) => (given.step === index ? given.args.map((arg) => `${arg} is left open`) : []))
      : warnBlindly(step),
    ...(policy && { policy: explainRules(step, { plan, policy, nameStep }) }),
  }));
}

function describeArguments({ args = {}, at = {}, otherArgs }: PlanStep, nameStep: (id: string) => string): string[] {
  const listed = [...Object.entries(args), ...Object.entries(at)];
  const clauses = listed.map(([name, condition]) => {
    const words = describeCondition(condition, nameStep);
    if (!condition.optional) return `${name} must be ${words}`;
    return words === "" ? `${name} may be anything, or left out` : `${name} must be ${words}, or left out`;
  });
  const others = listed.length === 0 ? "arguments" : "other arguments";
  return [...clauses, otherArgs === "block" ? `no ${others}` : `${others} may be anything`];
}

/** Without the tools, nobody knows which arguments there are, nor whether a step changes anything. */
function warnBlindly({ args = {}, at = {}, otherArgs }: PlanStep): string[] {
  const free = Object.keys(args).filter((name) => describeCondition(args[name] ?? {}) === "");
  const warnings = free.map((name) => `${name} is left open`);
  if (otherArgs === "block") return warnings;
  const hasNone = Object.keys(args).length === 0 && Object.keys(at).length === 0;
  return [...warnings, hasNone ? "every argument is left open" : "arguments that are not listed are left open"];
}
