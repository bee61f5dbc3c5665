import type { endpoints } from "../core/api/index.ts";
import { adminHandlers } from "./admin/handlers.ts";
import { createAuditHandlers } from "./audit/handlers.ts";
import { createCallHandlers } from "./check/handlers.ts";
import type { HandlersOf, ServerContext } from "./handler.ts";
import { historyHandlers } from "./history/handlers.ts";
import { createHoldHandlers } from "./holds/handlers.ts";
import { createFeedHandlers, personHandlers } from "./people/handlers.ts";
import { createPlanHandlers } from "./plans/handlers.ts";
import { createLeaseHandlers } from "./plans/leases.ts";
import { PlanChanges } from "./plans/plan-changes.ts";
import type { PlanSources } from "./plans/plan-sources.ts";
import { PolicyCache } from "./plans/policy-cache.ts";
import type { Refresher } from "./plans/refresh-plan.ts";
import { createBudgetHandlers } from "./plans/reserve-budget.ts";
import { createPolicyHandlers } from "./policies/handlers.ts";
import { createSystemHandlers } from "./system-handlers.ts";

/** The handlers of all endpoints of the table, and what they keep in memory of plans. */
export function createHandlers(context: ServerContext, sources: PlanSources): HandlersOf<typeof endpoints> {
  const policies = new PolicyCache(context.store);
  const refresher: Refresher = { context, policies, changes: new PlanChanges(context), sources };
  return {
    ...createPlanHandlers(refresher),
    ...createLeaseHandlers(refresher),
    ...createBudgetHandlers(refresher),
    ...createCallHandlers(refresher),
    ...createHoldHandlers(refresher),
    ...createAuditHandlers(refresher),
    ...createPolicyHandlers(policies),
    ...createSystemHandlers(),
    ...createFeedHandlers(context),
    ...personHandlers,
    ...historyHandlers,
    ...adminHandlers,
  };
}
