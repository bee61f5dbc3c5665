import type { callEndpoints } from "../../core/api/index.ts";
import type { HandlersOf } from "../handler.ts";
import { toAgentCaller } from "../plans/find-plan.ts";
import type { Refresher } from "../plans/refresh-plan.ts";
import { decideCall } from "./decide-call.ts";
import { recordOutcome } from "./record-outcome.ts";

/** Deciding calls, and what becomes of them. */
export function createCallHandlers(refresher: Refresher): HandlersOf<typeof callEndpoints> {
  return {
    async check({ caller, body }) {
      return { status: 200, body: { decision: await decideCall(refresher, toAgentCaller(caller), body) } };
    },
    async recordOutcome({ caller, body }) {
      await recordOutcome(refresher, toAgentCaller(caller), body.outcome);
      return { status: 200, body: { recorded: true } };
    },
  };
}
