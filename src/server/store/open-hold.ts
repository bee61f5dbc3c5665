import { sql, type Transaction } from "kysely";
import { type Database, lockRows, transact } from "./database.ts";
import { type Hold, type NewHold, toHold, toHoldRow } from "./hold-record.ts";
import { checkNames } from "./parameters.ts";
import { planDeliveries } from "./plan-deliveries.ts";
import type { HoldRow, Tables } from "./schema.ts";

/** The channel on which it is signalled that a hold was opened; the payload is its id. Who waits for one does not listen. */
export const HOLD_OPENED_SIGNAL = "hold_opened";

/** What came of opening a hold. `existing`: this decision has one already, whatever became of it. */
export type OpenedHold =
  | { readonly outcome: "opened" | "existing"; readonly hold: Hold }
  /** `rejected`: the same action was rejected in this plan before. `limit`: the plan has had all its holds. */
  | { readonly outcome: "rejected" | "limit" | "plan_not_open"; readonly hold?: undefined };

/**
 * Opens a hold and counts it. Everything is looked at under the lock of the plan's row, so that parallel calls get no
 * more holds than there are, and one decision never two.
 */
export async function openHold(
  database: Database,
  hold: NewHold,
  { maxHolds }: { readonly maxHolds: number },
): Promise<OpenedHold> {
  checkNames({ id: hold.id, digest: hold.digest, fingerprint: hold.fingerprint });
  return transact(database, async (query) => {
    const plan = await lockRows(
      database,
      query
        .selectFrom("plans")
        .select(["status", "holds_count"])
        .where("id", "=", hold.planId)
        .where("agent_id", "=", hold.agentId),
    ).executeTakeFirst();
    if (!plan) return { outcome: "plan_not_open" };

    const existing = await findExisting(query, hold);
    if (existing) return { outcome: "existing", hold: existing };
    if (plan.status !== (hold.kind === "plan" ? "pending" : "open")) return { outcome: "plan_not_open" };
    if (await wasRejected(query, hold)) return { outcome: "rejected" };
    if (plan.holds_count >= maxHolds) return { outcome: "limit" };

    await query
      .updateTable("plans")
      .set({ holds_count: plan.holds_count + 1 })
      .where("id", "=", hold.planId)
      .execute();
    const row = toHoldRow(hold);
    await insert({ ...database, query }, row);
    await planDeliveries(query, [hold], { event: "hold.pending", now: hold.createdAt });
    return { outcome: "opened", hold: toHold(row) };
  });
}

/** Adds a hold and signals it; on PostgreSQL a signal is sent by the commit. */
async function insert(database: Database, row: HoldRow): Promise<void> {
  const change = database.query.insertInto("holds").values(row);
  if (database.kind === "postgres") {
    await sql`WITH opened AS (${change.returning("id")})
      SELECT pg_notify(${database.channel}, ${`${HOLD_OPENED_SIGNAL} `} || opened.id) FROM opened`.execute(
      database.query,
    );
    return;
  }
  await change.execute();
  await database.signals.notify(HOLD_OPENED_SIGNAL, row.id);
}

async function findExisting(query: Transaction<Tables>, hold: NewHold): Promise<Hold | undefined> {
  const row = await query
    .selectFrom("holds")
    .selectAll()
    .where("plan_id", "=", hold.planId)
    .where("kind", "=", hold.kind)
    .where("decision_seq", "is not distinct from", hold.decisionSeq)
    .executeTakeFirst();
  return row && toHold(row);
}

async function wasRejected(query: Transaction<Tables>, hold: NewHold): Promise<boolean> {
  const row = await query
    .selectFrom("holds")
    .select("id")
    .where("plan_id", "=", hold.planId)
    .where("status", "=", "rejected")
    .where("digest", "=", hold.digest)
    .where("fingerprint", "is not distinct from", hold.fingerprint)
    .executeTakeFirst();
  return row !== undefined;
}
