import { openApprovalToken } from "../../core/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { type AgentCaller, assertOwnPlan } from "../plans/find-plan.ts";
import { assertOpen, isOver } from "../plans/plan-over.ts";
import { findOwnHold } from "./find-hold.ts";

/**
 * Uses an approval up, for a client that decides itself. Of any number that try at once, one does.
 *
 * @throws ProblemError `not_found`, `approval_invalid`, `already_claimed`, `plan_closed`, `plan_revoked`, `plan_expired`
 */
export async function claimHold(
  context: ServerContext,
  caller: AgentCaller,
  { holdId, approval }: { readonly holdId: string; readonly approval: string },
): Promise<void> {
  const { store, keys, clock } = context;
  const hold = await findOwnHold(context, caller, holdId);
  const plan = assertOwnPlan(caller, await store.plans.state(hold.planId));
  assertOpen(plan);
  if (isOver(plan, caller.agent, clock())) throw new ProblemError("plan_expired");
  const opened = await openApprovalToken(approval, await keys.publicKeys(), { audience: caller.agent.id });
  const isTheirs =
    opened.valid &&
    opened.claims.holdId === hold.id &&
    opened.claims.planId === hold.planId &&
    approval === hold.approval;
  if (!isTheirs) throw new ProblemError("approval_invalid");
  const now = clock();
  if (now >= opened.claims.exp * 1000) throw new ProblemError("approval_invalid", { detail: "it has expired" });
  if (!(await store.holds.claim(hold.id, now))) throw new ProblemError("already_claimed");
}
