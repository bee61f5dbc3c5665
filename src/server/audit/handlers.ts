import type { auditEndpoints } from "../../core/api/index.ts";
import type { HandlersOf } from "../handler.ts";
import { toAgentCaller } from "../plans/find-plan.ts";
import type { Refresher } from "../plans/refresh-plan.ts";
import { GivenCalls } from "./given-calls.ts";
import { receiveBatch } from "./receive-batch.ts";

/** What gates have recorded. */
export function createAuditHandlers(refresher: Refresher): HandlersOf<typeof auditEndpoints> {
  const receiver = { ...refresher, given: new GivenCalls(refresher.context.store) };
  return {
    async uploadAudit({ caller, body }) {
      return { status: 200, body: await receiveBatch(receiver, toAgentCaller(caller), body) };
    },
  };
}
