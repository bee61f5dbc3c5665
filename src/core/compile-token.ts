import type { PlanClaims } from "./claims.ts";
import { type CompiledStep, compilePlan } from "./compile-plan.ts";
import { type CompiledPolicy, type CompiledRule, compilePolicy } from "./compile-policy.ts";
import { compileGlob } from "./glob.ts";
import type { Policy } from "./policy.ts";
import { namesOfSources, type Place, toPlace } from "./sources/source.ts";

/** A token's plan and policy, ready to decide. */
export interface CompiledToken {
  readonly claims: PlanClaims;
  /** What the plan and the policy say of a tool; undefined for a tool that no step names. */
  tool(name: string): CompiledTool | undefined;
  /** If a `from` of the plan names any source: the places in the results of each step that the policy trusts, by its id. */
  readonly trusted: ReadonlyMap<string, readonly Place[]> | undefined;
}

export interface CompiledTool {
  readonly steps: readonly CompiledStep[];
  readonly rules: readonly CompiledRule[];
  /** What the tool's fingerprint has to be; undefined if the token does not say. */
  readonly fingerprint: string | undefined;
}

/** @throws PatternError for a pattern out of bounds */
export function compileToken(claims: PlanClaims): CompiledToken {
  const steps = compilePlan(claims.plan);
  const policy = sharedPolicy(claims.policy);
  const tools = new Map<string, CompiledTool>();
  return {
    claims,
    trusted: findTrusted(claims),
    tool(name) {
      const known = tools.get(name);
      if (known) return known;
      const itsSteps = steps.get(name);
      if (!itsSteps) return undefined;
      const fingerprint = claims.tools && Object.hasOwn(claims.tools, name) ? claims.tools[name] : undefined;
      const made = { steps: itsSteps, rules: policy.rulesFor(name, claims.user), fingerprint };
      tools.set(name, made);
      return made;
    },
  };
}

function findTrusted({ plan, policy }: PlanClaims): CompiledToken["trusted"] {
  const named = namesOfSources(plan);
  if (named.size === 0) return undefined;
  const trust = (policy.trust ?? []).map(({ tool, path }) => ({ tools: compileGlob(tool), place: toPlace(path) }));
  return new Map(
    plan.steps.flatMap(({ id, tool }): [string, Place[]][] => {
      if (id === undefined || !named.has(id)) return [];
      return [[id, trust.filter(({ tools }) => tools.matches(tool)).map(({ place }) => place)]];
    }),
  );
}

/** An agent's tokens carry one policy in as many copies: the last few are compiled once, by their text. */
function sharedPolicy(policy: Policy): CompiledPolicy {
  const text = JSON.stringify(policy);
  const known = policies.get(text);
  if (known) return known;
  const made = compilePolicy(policy);
  const [oldest] = policies.keys();
  if (policies.size >= MAX_POLICIES && oldest !== undefined) policies.delete(oldest);
  policies.set(text, made);
  return made;
}

const MAX_POLICIES = 20;
const policies = new Map<string, CompiledPolicy>();
