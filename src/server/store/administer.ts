import { sql } from "kysely";
import { type Database, transact } from "./database.ts";
import type { PlanStore } from "./plans.ts";
import type { Store } from "./store.ts";

/** What can be done inside of one transaction: all but what makes transactions of its own. */
export type StoreInTransaction = Omit<Store, "plans" | "administer" | "health" | "close"> & {
  readonly plans: Pick<PlanStore, "get" | "state" | "states" | "setStatus" | "flag">;
};

/**
 * Runs what an administrator or an approver does in one transaction, and one at a time over all instances: what the work
 * has seen is still so when it writes, and it is on record in `adminAudit`, or nothing has happened.
 *
 * @param work uses the store that it is given, and no other: on SQLite that one would wait for this to end
 */
export function administer<T>(
  database: Database,
  createStore: (database: Database) => StoreInTransaction,
  work: (store: StoreInTransaction) => Promise<T>,
): Promise<T> {
  return transact(database, async (query) => {
    if (database.kind === "postgres") await sql`LOCK TABLE admin_audit IN EXCLUSIVE MODE`.execute(query);
    return await work(createStore({ ...database, query }));
  });
}
