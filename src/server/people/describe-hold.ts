import type { InboxItem, OpenedHoldAnswer } from "../../core/api/index.ts";
import type { Agent, Hold, PlanText } from "../store/index.ts";

/** A hold as whoever decided it is told. */
export function describeOpened({ id, status, expiresAt }: Hold): OpenedHoldAnswer {
  return { holdId: id, status, expiresAt: Math.floor(expiresAt / 1000) };
}

/** A hold as the person who decides has to see it: who asks, for whom and for what task, and exactly what will run. */
export function describeHold(
  hold: Hold,
  { task, plan, userEmail }: Pick<PlanText, "task" | "plan" | "userEmail">,
  agent: Pick<Agent, "name">,
): InboxItem {
  const { kind, planId, agentId, createdAt, digest, approvers, tool, fingerprint, args, step, rule, ruleReason } = hold;
  const { decidedAt, decidedBy, comment } = hold;
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
    digest,
    approvers,
    ...(tool !== null && { tool }),
    ...(fingerprint !== null && { fingerprint }),
    ...(args !== undefined && { args }),
    ...(step !== null && { step }),
    ...(rule !== null && { rule }),
    ...(ruleReason !== null && { ruleReason }),
    ...(decidedAt !== null && { decidedAt }),
    ...(decidedBy !== null && { decidedBy }),
    ...(comment !== null && { comment }),
  };
}
