import type { PlanCondition } from "../../core/condition.ts";
import { compileGlob } from "../../core/glob.ts";
import type { Match, Plan, PlanStep, Policy, PolicyRule } from "../../core/index.ts";
import { appendPointer } from "../../core/json-pointer.ts";
import { compilePins, compileTarget } from "../../core/pinned.ts";
import { listSources, TASK } from "../../core/sources/source.ts";
import { describeCondition } from "./describe-condition.ts";

/** What a step is looked at with. */
interface Surroundings {
  readonly plan: Plan;
  readonly policy: Policy;
  readonly nameStep: (id: string) => string;
}

/** What the rules of a policy do with the calls of a step: those that can decide about one, in their order. */
export function explainRules(step: PlanStep, around: Surroundings): string[] {
  const lines: string[] = [];
  for (const rule of around.policy.rules) {
    if (!namesTool(rule.match, step.tool)) continue;
    const conditions = describeMatch(rule.match, step, around);
    const except =
      rule.except && namesTool(rule.except, step.tool) ? describeMatch(rule.except, step, around) : undefined;
    // Of what it asks for, the step has nothing; or all of it is excepted.
    if (!conditions || except?.length === 0) continue;
    const when = conditions.length === 0 ? "" : ` if ${conditions.join(", and if ")}`;
    lines.push(`${describeDecision(rule)}${when}${except ? `, except if ${except.join(", and if ")}` : ""}`);
    if (when === "" && !except) return lines;
  }
  return [...lines, "what no rule matches is blocked"];
}

function describeDecision({ id, decision, approvers }: PolicyRule): string {
  if (decision !== "hold") return `${id} ${decision}s it`;
  const { roles = [], emails = [], self } = approvers ?? {};
  return `${id} holds it for ${[...roles, ...emails, ...(self ? ["the user"] : [])].join(", ")}`;
}

function namesTool({ tool, inPlan }: Match, name: string): boolean {
  return inPlan !== false && (tool === undefined || [tool].flat().some((glob) => compileGlob(glob).matches(name)));
}

/** What else has to be so; undefined if it cannot be: all that the rule asks about is fixed by the step. */
function describeMatch(
  { args, at, unpinned, user }: Match,
  step: PlanStep,
  around: Surroundings,
): string[] | undefined {
  const open = unpinned?.flatMap((name) => describeTarget(name, step, around) ?? []);
  if (open?.length === 0) return undefined;
  const listed = [...Object.entries(args ?? {}), ...Object.entries(at ?? {})];
  return [
    ...(open ? [open.join(" or ")] : []),
    ...listed.map(
      ([name, condition]) => `${name} is ${describeCondition(condition)}${condition.optional ? ", or missing" : ""}`,
    ),
    ...Object.entries(user ?? {}).map(([field, value]) => `the user's ${field} is ${value}`),
  ];
}

/** When a target is not fixed; undefined if no call of the step can have it so. */
function describeTarget(name: string, step: PlanStep, { plan, policy, nameStep }: Surroundings): string | undefined {
  const { pointer, fixedBy } = compileTarget(name);
  const pins = compilePins(step);
  const fixing = fixedBy.filter((path) => pins.has(path));
  if (fixing.some((path) => pins.get(path) === "always")) return undefined;
  if (fixing.length > 0) {
    const ids = fixing.flatMap((path) => listIds(path, step));
    if (ids.length === 0) return undefined;
    const trusted = ids.flatMap((id) => listTrusted(plan.steps.find((one) => one.id === id)?.tool ?? "", policy));
    const where = [...new Set(ids)].map(nameStep).join(" or ");
    const but = trusted.length === 0 ? "" : ` and does not stand at ${[...new Set(trusted)].join(" or ")} there`;
    return `${name} is copied from ${where}${but}`;
  }
  const mayBeThere = step.otherArgs !== "block" || isListed(pointer[0] ?? "", step);
  return mayBeThere ? `${name} is given, which nothing fixes` : undefined;
}

/** The steps whose results fix what stands at a pointer; the user's own words always do. */
function listIds(path: string, { args = {}, at = {} }: PlanStep): string[] {
  const named = Object.entries(args).filter(([name]) => appendPointer("", name) === path);
  const found: readonly PlanCondition[] = [...named.map(([, condition]) => condition), ...(at[path] ? [at[path]] : [])];
  return found.flatMap((one) =>
    listSources({ args: { one } }).flatMap(({ source }) => (source === TASK ? [] : [source])),
  );
}

function listTrusted(tool: string, { trust = [] }: Policy): string[] {
  return trust.filter((place) => compileGlob(place.tool).matches(tool)).map(({ path }) => path || "the whole");
}

function isListed(name: string, { args = {}, at = {} }: PlanStep): boolean {
  const prefix = appendPointer("", name);
  return Object.hasOwn(args, name) || Object.keys(at).some((path) => path === prefix || path.startsWith(`${prefix}/`));
}
