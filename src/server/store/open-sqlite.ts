import type { DatabaseSync } from "node:sqlite";
import { Kysely } from "kysely";
import { IntentlockError } from "../../core/index.ts";
import { type Database, transact } from "./database.ts";
import { migrate } from "./migrations.ts";
import { openSqliteFile } from "./node-sqlite.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import type { Tables } from "./schema.ts";
import { createSqliteDialect } from "./sqlite-dialect.ts";
import { SqliteSignals } from "./sqlite-signals.ts";

/**
 * Opens a SQLite file, or `:memory:`, and brings its tables up to date. Several processes may have one file open.
 *
 * @throws IntentlockError `ERR_STORE_UNUSABLE` if it cannot be opened, is damaged or of a newer version
 */
export async function openSqlite(path: string): Promise<Database> {
  const file = openFile(path);
  const signals = new SqliteSignals(file);
  const query = new Kysely<Tables>({ dialect: createSqliteDialect(file) });
  const close = async (): Promise<void> => {
    signals.close();
    // Appends that were asked for begin with the next turn of the event loop, and then stand in line before this.
    await new Promise<void>((resolve) => setImmediate(resolve));
    await query.connection().execute(async () => {});
    await query.destroy();
    if (file.isOpen) file.close();
  };
  const database: Database = { kind: "sqlite", query, signals, close };
  try {
    await prepareFile(file);
    await transact(database, (transaction) => migrate(transaction, "sqlite"));
    return database;
  } catch (cause) {
    await close();
    throw unusable(path, cause);
  }
}

function openFile(path: string): DatabaseSync {
  try {
    return openSqliteFile(path);
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** FULL: a commit is on the disk when it returns, also in WAL mode. */
async function prepareFile(file: DatabaseSync): Promise<void> {
  await retryWhileBusy(() => file.exec("PRAGMA journal_mode = WAL"));
  file.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF");
}

function unusable(path: string, cause: unknown): IntentlockError {
  if (cause instanceof IntentlockError && cause.code === "ERR_STORE_UNUSABLE") return cause;
  const inner = cause instanceof IntentlockError ? cause.cause : cause;
  const why = inner instanceof Error ? inner.message : "unknown error";
  return new IntentlockError(
    "ERR_STORE_UNUSABLE",
    `The database file ${path} cannot be used (${why}): check the folder's permissions and the disk, or restore the file from a backup`,
    { cause },
  );
}
