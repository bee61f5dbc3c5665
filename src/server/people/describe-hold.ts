import type { InboxItem, OpenedHoldAnswer } from "../../core/api/index.ts";
import type { Agent, Hold, StoredPlan } from "../store/index.ts";

/** A hold as whoever decided it is told. */
export function describeOpened({ id, status, expiresAt }: Hold): OpenedHoldAnswer {
  return { holdId: id, status, expiresAt: Math.floor(expiresAt / 1000) };
}

/** A hold as the person who decides has to see it: who asks, for whom and for what task, and exactly what will run. */
export function describeHold(hold: Hold, { task, plan, userEmail }: StoredPlan, agent: Agent): InboxItem {
  const { kind, planId, agentId, createdAt, tool, args, step, rule, ruleReason, decidedBy, comment } = hold;
  return {
    ...describeOpened(hold),
    kind,
    planId,
    agentId,
    agentName: agent.name,
    user: userEmail,
    task,
    plan,
    createdAt,
    ...(tool !== null && { tool }),
    ...(args !== undefined && { args }),
    ...(step !== null && { step }),
    ...(rule !== null && { rule }),
    ...(ruleReason !== null && { ruleReason }),
    ...(decidedBy !== null && { decidedBy }),
    ...(comment !== null && { comment }),
  };
}
