import type { planEndpoints } from "../../core/api/index.ts";
import { toOperator } from "../admin/operator.ts";
import { revokePlanAsAdmin } from "../admin/plans.ts";
import { type HandlersOf, ProblemError, type ServerContext } from "../handler.ts";
import type { Agent, StoredPlan } from "../store/index.ts";
import { describePlan } from "./describe-plan.ts";
import { findOwnPlan, toAgentCaller } from "./find-plan.ts";
import { type Refresher, refreshPlan } from "./refresh-plan.ts";
import { revokePlan } from "./revoke-plan.ts";
import { signPlan } from "./sign-plan.ts";

/** Signing plans, and what becomes of them. */
export function createPlanHandlers(refresher: Refresher): HandlersOf<typeof planEndpoints> {
  return {
    async signPlan({ caller, body }) {
      const answer = await signPlan(refresher, toAgentCaller(caller), body);
      return { status: "status" in answer ? 202 : 201, body: answer };
    },
    async refreshPlan({ caller, params }) {
      const answer = await refreshPlan(refresher, toAgentCaller(caller), { planId: params["planId"] ?? "" });
      return { status: 201, body: answer };
    },
    async revokePlan({ caller, params, body }, context) {
      const planId = params["planId"] ?? "";
      if (caller.kind === "agent") {
        const plan = await findOwnPlan(caller, planId, context);
        await revokePlan(context, plan, { by: `agent:${plan.agentId}`, reason: body.reason });
      } else {
        await revokePlanAsAdmin({ ...context, ...toOperator(caller, context) }, planId, body);
      }
      refresher.changes.forget(planId);
      refresher.sources.forget(planId);
      return { status: 200, body: await describe(planId, context) };
    },
    async getPlan({ caller, params }, context) {
      const planId = params["planId"] ?? "";
      if (caller.kind === "agent") {
        const plan = await findOwnPlan(caller, planId, context);
        return { status: 200, body: describePlan(plan, caller.agent, context.clock()) };
      }
      const plan = await context.store.plans.get(planId);
      if (!plan || caller.kind !== "person") throw new ProblemError("not_found");
      const { email, roles } = caller.person;
      // Approvers see what they decide about in the inbox, and no more of it.
      if (!roles.includes("admin") && plan.userEmail !== email) throw new ProblemError("not_found");
      return { status: 200, body: describePlan(plan, await context.store.agents.get(plan.agentId), context.clock()) };
    },
  };
}

async function describe(planId: string, { store, clock }: ServerContext) {
  const plan = (await store.plans.get(planId)) as StoredPlan;
  const agent = (await store.agents.get(plan.agentId)) as Agent;
  return describePlan(plan, agent, clock());
}
