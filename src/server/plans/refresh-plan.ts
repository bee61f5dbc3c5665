import type { SignedPlanAnswer } from "../../core/api/index.ts";
import type { PublicKey } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import type { Agent, IssuedToken, Store } from "../store/index.ts";
import { currentClientKey } from "./client-key.ts";
import { type AgentCaller, assertOwnPlan } from "./find-plan.ts";
import { type Issuer, issueToken, toSignedPlan } from "./issue-token.ts";
import type { KnownPlan, PlanChange, PlanChanges } from "./plan-changes.ts";
import { assertOpen, assertYoung } from "./plan-over.ts";
import type { PlanSources } from "./plan-sources.ts";

export interface Refresher extends Issuer {
  readonly changes: PlanChanges;
  readonly sources: PlanSources;
}

/**
 * Signs a plan again, with the person and the policy as they are now; a plan that was held is signed here first.
 *
 * @param clientKey that the new token shall name, instead of the one of the token before
 * @throws ProblemError `not_found`, `user_not_allowed`, `plan_closed`, `plan_revoked`, `plan_expired`, `plan_pending`,
 * `plan_rejected`, `unknown_user`, `no_policy`
 */
export async function refreshPlan(
  refresher: Refresher,
  caller: AgentCaller,
  { planId, clientKey }: { readonly planId: string; readonly clientKey?: PublicKey | undefined },
): Promise<SignedPlanAnswer> {
  const { context, changes } = refresher;
  return await changes.change(planId, async (found, { now }) => {
    const plan = assertOwnPlan(caller, found);
    const isFirst = plan.status === "pending";
    if (isFirst) await assertApproved(context.store, plan, now);
    else assertOpen(plan);
    assertYoung(plan, caller.agent, now);
    const issued = await issueAgain(refresher, caller.agent, plan, clientKey);
    const change = toTokenChange(plan, issued);
    const result = toSignedPlan(plan, issued, now);
    return isFirst ? { ...change, result, status: "open", whileStatus: ["pending"] } : { ...change, result };
  });
}

async function issueAgain(
  issuer: Issuer,
  agent: Agent,
  plan: KnownPlan,
  clientKey: PublicKey | undefined,
): Promise<IssuedToken> {
  const own = currentClientKey(plan);
  // Who decides does not change: a plan of the server's stays with it.
  const key = own === null ? null : (clientKey ?? own);
  return (await issueToken(issuer, agent, { ...plan, clientKey: key })).issued;
}

/** A new token of a plan, with its entry where the server writes the chain. */
export function toTokenChange(plan: KnownPlan, issued: IssuedToken): Omit<PlanChange<unknown>, "result"> {
  if (plan.clientKey !== null) return { token: issued };
  const type = plan.seq === 0 ? "plan_signed" : "refresh";
  return { token: issued, events: [{ type, token: issued.token }] };
}

async function assertApproved(store: Store, plan: KnownPlan, now: number): Promise<void> {
  const holds = await store.holds.list({ planId: plan.id });
  const hold = holds.find(({ kind }) => kind === "plan");
  switch (hold?.status) {
    case "approved":
      return;
    case "pending":
      if (now < hold.expiresAt) throw new ProblemError("plan_pending");
      throw new ProblemError("plan_rejected", { detail: "nobody approved it in time" });
    default:
      throw new ProblemError("plan_rejected");
  }
}
