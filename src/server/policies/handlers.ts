import type { policyEndpoints } from "../../core/api/index.ts";
import { type Policy, PolicyError, parsePolicy } from "../../core/index.ts";
import { type HandlersOf, ProblemError } from "../handler.ts";
import type { PolicyCache } from "../plans/policy-cache.ts";
import { testPolicy } from "./test-policy.ts";

type TryingHandlers = HandlersOf<Pick<typeof policyEndpoints, "validatePolicy" | "testPolicy">>;

/** Trying policies before they count. */
export function createPolicyHandlers(policies: PolicyCache): TryingHandlers {
  return {
    async validatePolicy({ body }) {
      const { issues } = readPolicy(body.text);
      return { status: 200, body: { valid: issues.length === 0, issues } };
    },
    async testPolicy({ caller, body }, context) {
      const agent = await context.store.agents.getByName(body.agent);
      // An agent tries policies on its own decisions, and hears of no other's.
      if (!agent || (caller.kind === "agent" && caller.agent.id !== agent.id)) throw new ProblemError("not_found");
      const { policy, issues } = readPolicy(body.text);
      if (!policy) throw new ProblemError("invalid_policy", { issues });
      const current = await policies.latest(agent.id);
      // A key may act for few people: it is not told what was done for the others.
      const withCalls = caller.kind === "person";
      return { status: 200, body: await testPolicy(context, { agent, current, next: policy, withCalls }, body) };
    },
  };
}

function readPolicy(text: string): { readonly policy?: Policy; readonly issues: PolicyError["issues"] } {
  try {
    return { policy: parsePolicy(text), issues: [] };
  } catch (error) {
    if (error instanceof PolicyError) return { issues: error.issues };
    throw error;
  }
}
