import { ProblemError, type ServerContext } from "../handler.ts";
import { type AgentCaller, assertOwnPlan } from "../plans/find-plan.ts";
import type { Hold } from "../store/index.ts";

/** @throws ProblemError `not_found` for a hold of another agent, as if there were none; `user_not_allowed` */
export async function findOwnHold({ store }: ServerContext, caller: AgentCaller, holdId: string): Promise<Hold> {
  const hold = await store.holds.get(holdId);
  if (hold?.agentId !== caller.agent.id) throw new ProblemError("not_found");
  assertOwnPlan(caller, await store.plans.state(hold.planId));
  return hold;
}
