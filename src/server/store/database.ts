import type { Kysely, Transaction } from "kysely";
import { IntentlockError } from "../../core/index.ts";
import type { Tables } from "./schema.ts";
import type { Signals } from "./signals.ts";

export type DatabaseKind = "sqlite" | "postgres";

/** What the parts of a store stand on: one database, whichever it is. */
export type Database = DatabaseBase &
  (
    | { readonly kind: "sqlite" }
    /** `channel` is the one of PostgreSQL on which all signals go. */
    | { readonly kind: "postgres"; readonly channel: string }
  );

interface DatabaseBase {
  readonly query: Kysely<Tables>;
  readonly signals: Signals;
  /** Gives back connections, timers and the file. */
  close(): Promise<void>;
}

/**
 * Runs work in one transaction, all or nothing; inside of one, in that one. On SQLite it has the write lock from the start; on PostgreSQL it is READ
 * COMMITTED, and what must not change meanwhile is locked by the work ({@link lockRows}).
 */
export async function transact<T>({ query }: Database, work: (query: Transaction<Tables>) => Promise<T>): Promise<T> {
  if (query.isTransaction) return await work(query as Transaction<Tables>);
  return await query.transaction().execute(work);
}

/** Locks the rows that a query reads until the transaction ends. On SQLite the transaction itself is the lock. */
export function lockRows<Query extends { forUpdate(): Query }>({ kind }: Database, query: Query): Query {
  return kind === "postgres" ? query.forUpdate() : query;
}

/** The error of a database, without its text: that may hold values, and is in `cause` for those who look. */
export function storeError(cause: unknown): IntentlockError {
  if (cause instanceof IntentlockError) return cause;
  const code = codeOf(cause);
  return new IntentlockError("ERR_STORE", `The database failed${code === undefined ? "" : ` (${code})`}`, { cause });
}

/** SQLSTATE, SQLite's number, or what the system says. */
function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== "object" || cause === null) return undefined;
  if ("errcode" in cause && typeof cause.errcode === "number") return `SQLite ${cause.errcode}`;
  return "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}
