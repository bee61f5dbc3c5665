import type { WebhookEvent, WebhookMessage } from "../../core/api/index.ts";
import type { Hold } from "../store/index.ts";

/** What a webhook is told of a hold. */
export function describeMessage(
  event: WebhookEvent,
  hold: Hold,
  { user, publicUrl }: { readonly user: string; readonly publicUrl: string },
): WebhookMessage {
  const { id, kind, planId, agentId, tool, status, expiresAt } = hold;
  return {
    event,
    holdId: id,
    kind,
    planId,
    agentId,
    ...(tool !== null && { tool }),
    user,
    ...(event === "hold.decided" && { status }),
    expiresAt: Math.floor(expiresAt / 1000),
    inboxUrl: `${publicUrl}/?hold=${id}`,
  };
}
