import { type Selectable, sql } from "kysely";
import type { WebhookEvent } from "../../core/api/index.ts";
import type { Database } from "./database.ts";
import { readJson, writeJson } from "./json-text.ts";
import { checkNames } from "./parameters.ts";
import type { WebhookRow } from "./schema.ts";

/** Where it is told that a hold waits. */
export interface Webhook {
  readonly id: string;
  /** Null: for holds of all agents. */
  readonly agentId: string | null;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** What its deliveries are signed with. */
  readonly secret: string;
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

/** A delivery that the caller has taken, and is alone to try until its lease ends. */
export interface DueDelivery {
  readonly id: string;
  readonly holdId: string;
  readonly event: WebhookEvent;
  /** With this one. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: string;
}

export class WebhookStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async create({ id, agentId, url, events, secret, createdAt }: Omit<Webhook, "disabledAt">): Promise<void> {
    checkNames({ id });
    const row = {
      id,
      agent_id: agentId,
      url,
      events: writeJson(events),
      secret,
      created_at: createdAt,
      disabled_at: null,
    };
    await this.#database.query.insertInto("webhooks").values(row).execute();
  }

  /** Oldest first, also those that are disabled. */
  async list(): Promise<readonly Webhook[]> {
    const query = this.#database.query.selectFrom("webhooks").selectAll().orderBy("created_at").orderBy("id");
    return (await query.execute()).map(toWebhook);
  }

  /** For good. @returns false if there is no such webhook, or it was disabled before */
  async disable(id: string, now: number): Promise<boolean> {
    const rows = await this.#database.query
      .updateTable("webhooks")
      .set({ disabled_at: now })
      .where("id", "=", id)
      .where("disabled_at", "is", null)
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  /** Takes what is to be tried now. Another instance gets it when the lease ends and nobody has marked it: then this one is gone. */
  async takeDue({ now, limit, leaseMs }: { now: number; limit: number; leaseMs: number }): Promise<DueDelivery[]> {
    const { query, kind } = this.#database;
    const { rows } = await sql<DueDelivery>`
      WITH due AS MATERIALIZED (
        SELECT d.id FROM webhook_deliveries AS d JOIN webhooks AS w ON w.id = d.webhook_id
        WHERE d.next_attempt_at <= ${now} AND w.disabled_at IS NULL
        ORDER BY d.next_attempt_at, d.id LIMIT ${limit}
        ${kind === "postgres" ? sql`FOR UPDATE OF d SKIP LOCKED` : sql``}
      )
      UPDATE webhook_deliveries SET attempts = attempts + 1, next_attempt_at = ${now + leaseMs}
      WHERE id IN (SELECT id FROM due)
      RETURNING id, hold_id AS "holdId", event, attempts,
        (SELECT url FROM webhooks WHERE webhooks.id = webhook_id) AS url,
        (SELECT secret FROM webhooks WHERE webhooks.id = webhook_id) AS secret`.execute(query);
    return rows;
  }

  async markDelivered(id: string, now: number): Promise<void> {
    const done = { delivered_at: now, next_attempt_at: null, last_error: null };
    await this.#database.query.updateTable("webhook_deliveries").set(done).where("id", "=", id).execute();
  }

  /** @param nextAttemptAt null: it is given up */
  async markFailed(
    id: string,
    { error, nextAttemptAt }: { error: string; nextAttemptAt: number | null },
  ): Promise<void> {
    const failed = { next_attempt_at: nextAttemptAt, last_error: error };
    await this.#database.query.updateTable("webhook_deliveries").set(failed).where("id", "=", id).execute();
  }
}

function toWebhook(row: Selectable<WebhookRow>): Webhook {
  return {
    id: row.id,
    agentId: row.agent_id,
    url: row.url,
    events: readJson<readonly WebhookEvent[]>(row.events),
    secret: row.secret,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
