import { LEEWAY_SECONDS } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import type { Agent, StoredPlan } from "../store/index.ts";
import { AGENT_DEFAULTS } from "./agent-defaults.ts";

/** @throws ProblemError `plan_closed`, `plan_revoked`, `plan_rejected`, `plan_pending` unless the plan is open */
export function assertOpen({ status }: Pick<StoredPlan, "status">): void {
  switch (status) {
    case "open":
      return;
    case "closed":
      throw new ProblemError("plan_closed");
    case "revoked":
      throw new ProblemError("plan_revoked");
    case "rejected":
      throw new ProblemError("plan_rejected");
    case "pending":
      throw new ProblemError("plan_pending");
    default:
      throw new TypeError(`unknown status ${status satisfies never}`);
  }
}

/** Whether a plan is too old to be signed again. */
export function isTooOld({ createdAt }: Pick<StoredPlan, "createdAt">, { settings }: Agent, now: number): boolean {
  return now >= createdAt + (settings.planMaxAgeSeconds ?? AGENT_DEFAULTS.planMaxAgeSeconds) * 1000;
}

/** @throws ProblemError `plan_expired` */
export function assertYoung(plan: Pick<StoredPlan, "createdAt">, agent: Agent, now: number): void {
  if (isTooOld(plan, agent, now)) throw new ProblemError("plan_expired");
}

/** Whether a plan can no longer be signed again, and its last token has run out. */
export function isOver(plan: Pick<StoredPlan, "createdAt" | "tokenExpiresAt">, agent: Agent, now: number): boolean {
  return isTooOld(plan, agent, now) && now >= (plan.tokenExpiresAt ?? 0);
}

/** In seconds: the last moment at which a call of the plan can be allowed. */
export function endOfLife(
  { createdAt, tokenExpiresAt }: Pick<StoredPlan, "createdAt" | "tokenExpiresAt">,
  { settings }: Agent,
): number {
  const { planMaxAgeSeconds, planTtlSeconds } = { ...AGENT_DEFAULTS, ...settings };
  const last = Math.max(createdAt / 1000 + planMaxAgeSeconds + planTtlSeconds, (tokenExpiresAt ?? 0) / 1000);
  return Math.ceil(last) + LEEWAY_SECONDS;
}
