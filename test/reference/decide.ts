import type { Match, PolicyRule } from "../../src/core/index.ts";
import { allHold } from "./conditions.ts";
import { matchesGlob } from "./glob.ts";
import { listOpen } from "./unpinned.ts";
import { partsOf } from "./values.ts";
import type { Asked, World } from "./world.ts";

/** `allow`, `hold` or `block`, the rule or reason, the step, and the arguments that an `unpinned` rule found open. */
export interface Verdict {
  readonly verdict: "allow" | "hold" | "block";
  readonly reason: string;
  readonly step?: number;
  readonly unpinned?: readonly string[];
}

/** The decision about a call, as the pages on plans and policies say it: every step and every rule is looked at in order. */
export function decide(world: World, call: Asked): Verdict {
  const steps = world.plan.steps.map((_, index) => index).filter((index) => matchesStep(world, index, call));
  if (steps.length === 0) return { verdict: "block", reason: "not_in_plan" };
  const step = steps.find((index) => (call.used[index] ?? 0) < (world.plan.steps[index]?.maxCalls ?? Infinity));
  if (step === undefined) return { verdict: "block", reason: "call_limit" };
  for (const rule of world.policy.rules) {
    if (!isMatch(world, rule.match, { step, call })) continue;
    if (rule.except && isMatch(world, rule.except, { step, call })) continue;
    return apply(world, rule, { step, call });
  }
  return { verdict: "block", reason: "no_matching_rule", step };
}

interface Planned {
  readonly step: number;
  readonly call: Asked;
}

function apply(world: World, { id, decision, match }: PolicyRule, { step, call }: Planned): Verdict {
  const open = match.unpinned && listOpen(world, match.unpinned, { step: world.plan.steps[step]!, call });
  return { verdict: decision, reason: id, step, ...(open && { unpinned: open }) };
}

function matchesStep(world: World, index: number, call: Asked): boolean {
  const step = world.plan.steps[index];
  if (step === undefined || step.tool !== call.tool) return false;
  return allHold(world, step, call) && (step.otherArgs !== "block" || hasOnlyListed(step, call));
}

function hasOnlyListed({ args = {}, at = {} }: World["plan"]["steps"][number], call: Asked): boolean {
  const listed = [...Object.keys(args), ...Object.keys(at).map((pointer) => partsOf(pointer)[0])];
  return Object.entries(call.args).every(([name, value]) => value === null || listed.includes(name));
}

function isMatch(world: World, match: Match, { step, call }: Planned): boolean {
  const { tool, user = {}, unpinned, inPlan } = match;
  const globs = tool === undefined ? ["**"] : [tool].flat();
  if (!globs.some((glob) => matchesGlob(glob, call.tool))) return false;
  if (user.email !== undefined && !matchesGlob(asciiLower(user.email), asciiLower(world.user.email))) return false;
  if (user.role !== undefined && !world.user.roles.includes(user.role)) return false;
  if (user.group !== undefined && !world.user.groups.includes(user.group)) return false;
  if (inPlan === false || !allHold(world, match, call)) return false;
  return unpinned === undefined || listOpen(world, unpinned, { step: world.plan.steps[step]!, call }).length > 0;
}

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
