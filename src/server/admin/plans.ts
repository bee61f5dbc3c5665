import { ProblemError, type ServerContext } from "../handler.ts";
import { revokePlan } from "../plans/revoke-plan.ts";
import { toDetails } from "./details.ts";
import { describeEvent, type Operator } from "./operator.ts";

/**
 * Revokes a plan of any agent as an administrator: none of its calls is allowed from here on, and nobody can decide its
 * holds any more.
 *
 * @throws ProblemError `not_found`, `plan_closed`
 */
export async function revokePlanAsAdmin(
  operator: Operator & Pick<ServerContext, "log">,
  planId: string,
  { reason }: { readonly reason?: string | undefined } = {},
): Promise<void> {
  const { actor, clock, log } = operator;
  const at = clock();
  await operator.store.administer(async (store) => {
    const plan = await store.plans.state(planId);
    if (!plan) throw new ProblemError("not_found");
    if (plan.status === "revoked") return;
    await revokePlan({ store, clock, log }, plan, { by: actor, reason });
    const details = toDetails({ agentId: plan.agentId, reason });
    await store.adminAudit.append(describeEvent(operator, { at, action: "plan.revoke", target: planId, details }));
  });
}
