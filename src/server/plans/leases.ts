import type { leaseEndpoints, OpenHold, ResumedPlanAnswer, ResumePlanBody } from "../../core/api/index.ts";
import { type HandlersOf, ProblemError, type ServerContext } from "../handler.ts";
import type { Hold, PlanState, StoredPlan } from "../store/index.ts";
import { type AgentCaller, assertOwnPlan, toAgentCaller } from "./find-plan.ts";
import { assertOpen, isOver } from "./plan-over.ts";
import { type Refresher, refreshPlan } from "./refresh-plan.ts";

/** How long a lease lasts that nobody makes longer. */
export const LEASE_MS = 60_000;

/** Working on a plan alone, and going on with one. */
export function createLeaseHandlers(refresher: Refresher): HandlersOf<typeof leaseEndpoints> {
  return {
    async leasePlan({ caller, params, body }, context) {
      const lease = { planId: params["planId"] ?? "", holder: body.holder };
      const leaseUntil = await (body.release ? releaseLease : takeLease)(context, toAgentCaller(caller), lease);
      return { status: 200, body: { leaseUntil } };
    },
    async resumePlan({ caller, params, body }) {
      const answer = await resumePlan(refresher, toAgentCaller(caller), { ...body, planId: params["planId"] ?? "" });
      return { status: 200, body: answer };
    },
  };
}

/** @throws ProblemError `not_found`, `user_not_allowed`, `lease_held`, and for a plan that is over */
async function takeLease(
  { store, clock }: ServerContext,
  caller: AgentCaller,
  { planId, holder }: { readonly planId: string; readonly holder: string },
): Promise<number> {
  const plan: PlanState = assertOwnPlan(caller, await store.plans.state(planId));
  assertOpen(plan);
  const now = Math.floor(clock());
  if (isOver(plan, caller.agent, now)) throw new ProblemError("plan_expired");
  const until = now + LEASE_MS;
  if (!(await store.plans.takeLease(planId, { holder, until, now }))) throw new ProblemError("lease_held");
  return until;
}

/** Of a plan that is over, too. @throws ProblemError `not_found`; `lease_held` by another holder */
async function releaseLease(
  { store, clock }: ServerContext,
  caller: AgentCaller,
  { planId, holder }: { readonly planId: string; readonly holder: string },
): Promise<number> {
  assertOwnPlan(caller, await store.plans.state(planId));
  if (!(await store.plans.releaseLease(planId, holder))) throw new ProblemError("lease_held");
  return Math.floor(clock());
}

async function resumePlan(
  refresher: Refresher,
  caller: AgentCaller,
  { planId, holder, clientKey }: ResumePlanBody & { readonly planId: string },
): Promise<ResumedPlanAnswer> {
  const { context } = refresher;
  const leaseUntil = await takeLease(context, caller, { planId, holder });
  const signed = await refreshPlan(refresher, caller, { planId, clientKey });
  // After the refresh: in a chain of the server's that is an entry, too.
  const plan = (await context.store.plans.get(planId)) as StoredPlan;
  const { taskDigest, used, spent, seq, head } = plan;
  const openHolds = await listOpenHolds(context, planId);
  return { ...signed, leaseUntil, taskDigest, used, spent, seq, head, openHolds };
}

async function listOpenHolds({ store, clock }: ServerContext, planId: string): Promise<OpenHold[]> {
  const holds = await store.holds.list({ planId, limit: 1000 });
  return holds.flatMap((hold) => toOpenHold(hold, clock()));
}

function toOpenHold(hold: Hold, now: number): OpenHold[] {
  const { id, status, decisionSeq, callId, tool, digest, expiresAt } = hold;
  if (decisionSeq === null || callId === null || tool === null) return [];
  const isPending = status === "pending" && now < expiresAt;
  const isUsable = status === "approved" && hold.claimedAt === null && now < (hold.approvalExpiresAt ?? Infinity);
  if (!isPending && !isUsable) return [];
  const at = Math.floor(expiresAt / 1000);
  return [{ holdId: id, decisionSeq, callId, tool, digest, status: isPending ? "pending" : "approved", expiresAt: at }];
}
