import type { endpoints } from "../core/api/index.ts";
import { createCallHandlers } from "./check/handlers.ts";
import type { HandlersOf, ServerContext } from "./handler.ts";
import { createPlanHandlers } from "./plans/handlers.ts";
import { PlanChanges } from "./plans/plan-changes.ts";
import { PolicyCache } from "./plans/policy-cache.ts";
import { createSystemHandlers } from "./system-handlers.ts";

/** The handlers of all endpoints, and what has to be done from time to time. */
export interface Handlers {
  readonly handlers: Partial<HandlersOf<typeof endpoints>>;
  sweep(): Promise<void>;
}

export function createHandlers(context: ServerContext): Handlers {
  const refresher = { context, policies: new PolicyCache(context.store), changes: new PlanChanges(context) };
  return {
    handlers: {
      ...createPlanHandlers(refresher),
      ...createCallHandlers(refresher),
      ...createSystemHandlers(),
    },
    sweep: async () => {},
  };
}
