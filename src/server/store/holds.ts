import { type Kysely, type Selectable, sql, type UpdateQueryBuilder } from "kysely";
import { type Database, transact } from "./database.ts";
import {
  countPending,
  findHead,
  type HeadsRequest,
  type HoldHead,
  listApproved,
  listHeads,
  listHeadsOfPlan,
} from "./hold-heads.ts";
import { type Hold, type HoldStatus, type NewHold, toHold } from "./hold-record.ts";
import { type OpenedHold, openHold } from "./open-hold.ts";
import { type PageRequest, takePage } from "./page.ts";
import { planDeliveries } from "./plan-deliveries.ts";
import type { HoldRow, Tables } from "./schema.ts";

/** The channel on which it is signalled that a hold was decided, has expired or was cancelled; the payload is its id. */
export const HOLD_SIGNAL = "hold";

/** What a person decided. The approval of a plan has no token: a refresh signs the plan. */
export type HoldDecisionRecord = {
  /** The person's e-mail, from their session. */
  readonly by: string;
  readonly comment: string | null;
  readonly now: number;
} & (
  | { readonly status: "approved"; readonly approval: string | null; readonly approvalExpiresAt: number | null }
  | { readonly status: "rejected" }
);

export interface HoldFilter extends PageRequest {
  readonly status?: HoldStatus;
  readonly agentId?: string;
  readonly planId?: string;
}

/** As many holds as expire in one go: a backlog is worked off in several. */
const MAX_EXPIRED = 500;

/** Holds. Each change is one statement with its condition in it: of two that want the same, one succeeds. */
export class HoldStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  open(hold: NewHold, limits: { readonly maxHolds: number }): Promise<OpenedHold> {
    return openHold(this.#database, hold, limits);
  }

  async get(id: string): Promise<Hold | undefined> {
    const row = await this.#database.query.selectFrom("holds").selectAll().where("id", "=", id).executeTakeFirst();
    return row && toHold(row);
  }

  /** Newest first. */
  async list(filter: HoldFilter = {}): Promise<readonly Hold[]> {
    let query = this.#database.query.selectFrom("holds").selectAll();
    if (filter.status !== undefined) query = query.where("status", "=", filter.status);
    if (filter.agentId !== undefined) query = query.where("agent_id", "=", filter.agentId);
    if (filter.planId !== undefined) query = query.where("plan_id", "=", filter.planId);
    const rows = await takePage(query, filter).execute();
    return rows.map(toHold);
  }

  /** Of those that there are, in any order. */
  async getAll(ids: readonly string[]): Promise<readonly Hold[]> {
    if (ids.length === 0) return [];
    const rows = await this.#database.query.selectFrom("holds").selectAll().where("id", "in", ids).execute();
    return rows.map(toHold);
  }

  /** One part of those that wait or of those that do not: see {@link listHeads}. */
  heads(request: HeadsRequest): Promise<readonly HoldHead[]> {
    return listHeads(this.#database, request);
  }

  head(id: string): Promise<HoldHead | undefined> {
    return findHead(this.#database, id);
  }

  /** See {@link listHeadsOfPlan}. */
  headsOf(planId: string): Promise<readonly HoldHead[]> {
    return listHeadsOfPlan(this.#database, planId);
  }

  /** How many wait now, of all agents or of one. */
  countPending(request: { readonly now: number; readonly agentId?: string }): Promise<number> {
    return countPending(this.#database, request);
  }

  /** See {@link listApproved}. */
  approved(request: Parameters<typeof listApproved>[1]): Promise<readonly HoldHead[]> {
    return listApproved(this.#database, request);
  }

  /** Approves or rejects, and signals it. @returns undefined if it is not pending any more, or has run out of time */
  async decide(id: string, decision: HoldDecisionRecord): Promise<Hold | undefined> {
    const isApproved = decision.status === "approved";
    const [hold] = await this.#change(decision.now, (query) =>
      query
        .updateTable("holds")
        .set({
          status: decision.status,
          decided_at: decision.now,
          decided_by: decision.by,
          comment: decision.comment,
          approval: isApproved ? decision.approval : null,
          approval_expires_at: isApproved ? decision.approvalExpiresAt : null,
        })
        .where("id", "=", id)
        .where("status", "=", "pending")
        .where("expires_at", ">", decision.now)
        .returningAll(),
    );
    return hold;
  }

  /** Uses an approval up. True once, and never after its time. */
  async claim(id: string, now: number): Promise<boolean> {
    const rows = await this.#database.query
      .updateTable("holds")
      .set({ claimed_at: now })
      .where("id", "=", id)
      .where("status", "=", "approved")
      .where("claimed_at", "is", null)
      .where(({ eb, or }) => or([eb("approval_expires_at", "is", null), eb("approval_expires_at", ">", now)]))
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  /** Ends those that nobody decided in time, at most 500. @returns what it ended: each hold is returned once, to one caller */
  async expire(now: number): Promise<readonly Hold[]> {
    const { kind } = this.#database;
    return this.#change(now, (query) =>
      query
        // Once, and not again for each row: it locks what it finds.
        .with(
          (name) => name("due").materialized(),
          (some) =>
            some
              .selectFrom("holds")
              .select("id")
              // As it stands in the index, not as a parameter: otherwise it is not the index that is read.
              .where("status", "=", sql.lit("pending"))
              .where("expires_at", "<=", now)
              .orderBy("expires_at")
              .limit(MAX_EXPIRED)
              // Those that another instance has in hand.
              .$if(kind === "postgres", (locked) => locked.forUpdate().skipLocked()),
        )
        .updateTable("holds")
        .set({ status: "expired", decided_at: now })
        .where("id", "in", (some) => some.selectFrom("due").select("due.id"))
        .returningAll(),
    );
  }

  /** Takes back what still waits under a plan that is over. @returns what it cancelled */
  async cancelOfPlan(planId: string, now: number): Promise<readonly Hold[]> {
    return this.#change(now, (query) =>
      query
        .updateTable("holds")
        .set({ status: "cancelled", decided_at: now })
        .where("plan_id", "=", planId)
        .where("status", "=", "pending")
        .returningAll(),
    );
  }

  /** Changes holds, signals each of them and tells webhooks: all of it, or none. */
  #change(now: number, toChange: (query: Kysely<Tables>) => HoldChange): Promise<readonly Hold[]> {
    const database = this.#database;
    return transact(database, async (query) => {
      const holds = (await runChange({ ...database, query }, toChange(query))).map(toHold);
      await planDeliveries(query, holds, { event: "hold.decided", now });
      return holds;
    });
  }
}

type HoldChange = UpdateQueryBuilder<Tables, "holds", "holds", Selectable<HoldRow>>;

/** On PostgreSQL a signal is sent by the commit. */
async function runChange(database: Database, change: HoldChange): Promise<readonly Selectable<HoldRow>[]> {
  if (database.kind === "postgres") {
    const { rows } = await sql<Selectable<HoldRow>>`WITH changed AS (${change})
      SELECT changed.*, pg_notify(${database.channel}, ${`${HOLD_SIGNAL} `} || changed.id) FROM changed`.execute(
      database.query,
    );
    return rows;
  }
  const rows = await change.execute();
  for (const { id } of rows) await database.signals.notify(HOLD_SIGNAL, id);
  return rows;
}
