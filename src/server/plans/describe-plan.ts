import type { PlanAnswer, PlanStatus } from "../../core/api/index.ts";
import { isJsonObject } from "../../core/index.ts";
import type { Agent, StoredPlan } from "../store/index.ts";
import { isOver } from "./plan-over.ts";

/** What the server says of a plan. */
export function describePlan(plan: StoredPlan, agent: Agent | undefined, now: number): PlanAnswer {
  const { id: planId, agentId, userEmail: user, task, createdAt, seq, tokenExpiresAt, flagged } = plan;
  // The reason of a revocation is kept where other remarks are: a plan that is revoked is not looked at for anything else.
  const reason = isJsonObject(flagged as never) ? (flagged as { readonly reason?: unknown }).reason : undefined;
  return {
    planId,
    status: statusOf(plan, agent, now),
    agentId,
    user,
    task,
    plan: plan.plan,
    createdAt,
    ...(tokenExpiresAt !== null && { expiresAt: Math.floor(tokenExpiresAt / 1000) }),
    seq,
    ...(typeof reason === "string" && { reason }),
  };
}

/** Of one that is over and was not closed, that it has expired. */
export function statusOf(
  plan: Pick<StoredPlan, "status" | "createdAt" | "tokenExpiresAt">,
  agent: Agent | undefined,
  now: number,
): PlanStatus {
  return plan.status === "open" && agent && isOver(plan, agent, now) ? "expired" : plan.status;
}
