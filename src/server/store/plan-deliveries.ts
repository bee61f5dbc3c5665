import { type Kysely, sql } from "kysely";
import type { WebhookEvent } from "../../core/api/index.ts";
import type { Tables } from "./schema.ts";

/**
 * Plans a delivery to every webhook that wants this event of these holds. It is done together with the change that the
 * event is of, so that none is lost. Again for the same hold and event, it plans nothing.
 */
export async function planDeliveries(
  query: Kysely<Tables>,
  holds: readonly { readonly id: string; readonly agentId: string }[],
  { event, now }: { readonly event: WebhookEvent; readonly now: number },
): Promise<void> {
  for (const { id, agentId } of holds) {
    // Receivers sign and compare ids between dots: they have none.
    const end = `:${id}:${event.replace(".", "-")}`;
    await sql`
      INSERT INTO webhook_deliveries (id, webhook_id, hold_id, event, attempts, next_attempt_at)
      SELECT id || ${end}, id, ${id}, ${event}, 0, ${now} FROM webhooks
      WHERE disabled_at IS NULL AND (agent_id IS NULL OR agent_id = ${agentId}) AND events LIKE ${`%"${event}"%`}
      ON CONFLICT (webhook_id, hold_id, event) DO NOTHING`.execute(query);
  }
}
