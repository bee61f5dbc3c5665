import { type Caller, ProblemError, type ServerContext } from "../handler.ts";
import type { Agent, ApiKey, PlanState, StoredPlan } from "../store/index.ts";

/** An agent that asks. */
export interface AgentCaller {
  readonly agent: Agent;
  readonly apiKey: ApiKey;
}

/** @throws ProblemError `forbidden` for a person: the table lets agents in alone where this is used */
export function toAgentCaller(caller: Caller): AgentCaller {
  if (caller.kind !== "agent") throw new ProblemError("forbidden");
  return caller;
}

/** @throws ProblemError `user_not_allowed` */
export function assertMayActFor({ mayActFor }: ApiKey, userEmail: string): void {
  if (mayActFor !== null && !mayActFor.includes(userEmail)) throw new ProblemError("user_not_allowed");
}

/**
 * Whether a plan is the agent's own, for a person that the key may act for.
 *
 * @throws ProblemError `not_found` for one of another agent, as if there were none; `user_not_allowed`
 */
export function assertOwnPlan<T extends Pick<PlanState, "agentId" | "userEmail">>(
  { agent, apiKey }: AgentCaller,
  plan: T | undefined,
): T {
  if (plan?.agentId !== agent.id) throw new ProblemError("not_found");
  assertMayActFor(apiKey, plan.userEmail);
  return plan;
}

/** @throws ProblemError as {@link assertOwnPlan} does */
export async function findOwnPlan(caller: Caller, planId: string, { store }: ServerContext): Promise<StoredPlan> {
  const who = toAgentCaller(caller);
  return assertOwnPlan(who, await store.plans.get(planId));
}
