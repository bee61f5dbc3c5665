import type { holdEndpoints } from "../../core/api/index.ts";
import type { HandlersOf } from "../handler.ts";
import { toAgentCaller } from "../plans/find-plan.ts";
import type { Refresher } from "../plans/refresh-plan.ts";
import { claimHold } from "./claim-hold.ts";
import { describeHold } from "./describe-hold.ts";
import { findOwnHold } from "./find-hold.ts";
import { openHold } from "./open-hold.ts";
import { waitForHold } from "./wait-for-hold.ts";

type AgentHoldHandlers = HandlersOf<Pick<typeof holdEndpoints, "openHold" | "getHold" | "claimHold">>;

/** Waiting for people, as the agent that waits. */
export function createHoldHandlers(refresher: Refresher): AgentHoldHandlers {
  return {
    async openHold({ caller, body }) {
      return { status: 201, body: await openHold(refresher, toAgentCaller(caller), body) };
    },
    async getHold(request, context) {
      const hold = await findOwnHold(context, toAgentCaller(request.caller), request.params["holdId"] ?? "");
      const waitMs = (request.query.waitSeconds ?? 0) * 1000;
      const now =
        hold.status === "pending" ? await waitForHold(context, hold, { waitMs, signal: request.signal }) : hold;
      return { status: 200, body: describeHold(now, context.clock()) };
    },
    async claimHold({ caller, params, body }, context) {
      const claim = { holdId: params["holdId"] ?? "", approval: body.approval };
      await claimHold(context, toAgentCaller(caller), claim);
      return { status: 200, body: { claimed: true } };
    },
  };
}
