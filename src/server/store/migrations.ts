import { type Kysely, sql } from "kysely";
import { IntentlockError } from "../../core/index.ts";
import { createTables } from "./create-tables.ts";
import type { DatabaseKind } from "./database.ts";
import type { Tables } from "./schema.ts";

/** Each brings the tables one version further. What has been released is never changed: a new one is added. */
const MIGRATIONS: readonly ((kind: DatabaseKind) => readonly string[])[] = [createTables];

/** The version of the tables that this code works with. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/**
 * Brings the tables to {@link SCHEMA_VERSION}. The caller holds the lock and the transaction: of several instances that
 * start at once, one migrates and the others find it done.
 *
 * @throws IntentlockError `ERR_STORE_UNUSABLE` if the tables are of a newer version
 */
export async function migrate(query: Kysely<Tables>, kind: DatabaseKind): Promise<void> {
  const int = kind === "sqlite" ? "INTEGER" : "BIGINT";
  await sql.raw(`CREATE TABLE IF NOT EXISTS intentlock_schema (version ${int} NOT NULL)`).execute(query);
  const { rows } = await sql<{ version: number }>`SELECT version FROM intentlock_schema`.execute(query);
  const version = rows[0]?.version ?? 0;
  if (version > SCHEMA_VERSION) {
    throw new IntentlockError(
      "ERR_STORE_UNUSABLE",
      `The database has version ${version} of the tables, and this release of intentlock knows ${SCHEMA_VERSION}: start a release that is at least as new as the one that wrote it`,
    );
  }
  if (version === SCHEMA_VERSION) return;
  for (const migration of MIGRATIONS.slice(version)) {
    for (const statement of migration(kind)) await sql.raw(statement).execute(query);
  }
  await sql`DELETE FROM intentlock_schema`.execute(query);
  await sql`INSERT INTO intentlock_schema (version) VALUES (${SCHEMA_VERSION})`.execute(query);
}
