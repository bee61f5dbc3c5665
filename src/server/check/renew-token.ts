import type { OpenedToken } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import { AGENT_DEFAULTS } from "../plans/agent-defaults.ts";
import { issueToken } from "../plans/issue-token.ts";
import type { KnownPlan, PlanChange } from "../plans/plan-changes.ts";
import { isTooOld } from "../plans/plan-over.ts";
import { type Refresher, toTokenChange } from "../plans/refresh-plan.ts";
import type { Agent } from "../store/index.ts";

/** A new token, and the change that makes it the plan's. */
export interface Renewal {
  readonly opened: OpenedToken;
  readonly change: Omit<PlanChange<unknown>, "result">;
}

/**
 * A new token for a plan whose own runs out or can no longer be verified. Where none can be made, the old one it is:
 * `check()` says whether it still counts.
 */
export async function renewToken(
  refresher: Refresher,
  agent: Agent,
  { plan, opened, now }: { readonly plan: KnownPlan; readonly opened: OpenedToken; readonly now: number },
): Promise<Renewal | undefined> {
  const ttlMs = (agent.settings.planTtlSeconds ?? AGENT_DEFAULTS.planTtlSeconds) * 1000;
  if (opened.valid && now < (plan.tokenExpiresAt ?? 0) - ttlMs / 10) return undefined;
  if (isTooOld(plan, agent, now)) return undefined;
  try {
    const made = await issueToken(refresher, agent, plan);
    return { opened: made.opened, change: toTokenChange(plan, made.issued) };
  } catch (error) {
    if (error instanceof ProblemError) return undefined;
    throw error;
  }
}
