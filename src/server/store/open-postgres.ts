import { createHash } from "node:crypto";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { ClientConfig, PoolConfig } from "pg";
import { IntentlockError } from "../../core/index.ts";
import type { Database } from "./database.ts";
import { loadPg } from "./load-pg.ts";
import { migrate } from "./migrations.ts";
import { CheckedPool } from "./postgres-pool.ts";
import { PostgresSignals } from "./postgres-signals.ts";
import type { Tables } from "./schema.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly postgres: string;
  /** Where the tables are. It is made if it is not there. Without it: the first in the user's search path. */
  readonly schema?: string;
  /** As many connections as one instance has at once, beside the one that listens. */
  readonly poolSize?: number;
}

const DEFAULT_POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5000;
const INT8 = 20;

/**
 * Opens a PostgreSQL database and brings its tables up to date.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS`; `ERR_MISSING_PEER` without the package `pg`; `ERR_STORE_UNUSABLE` if it
 * cannot be reached, refuses, or is of a newer version
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  checkOptions(options);
  const pg = await loadPg();
  const config: ClientConfig & PoolConfig = {
    application_name: "intentlock",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    max: options.poolSize ?? DEFAULT_POOL_SIZE,
    types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
    connectionString: options.postgres,
  };
  const pool = new CheckedPool(new pg.Pool(config), { setUp: setUpConnection(options.schema) });
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    const channel = `intentlock_${hash(await prepareSchema(query, options.schema))}`;
    const send = async (text: string): Promise<void> => {
      await sql`SELECT pg_notify(${channel}, ${text})`.execute(query);
    };
    const signals = await PostgresSignals.open({ Client: pg.Client, config, channel, send });
    const close = async (): Promise<void> => {
      await pool.drain();
      await signals.close();
      await query.destroy();
    };
    return { kind: "postgres", query, signals, channel, close };
  } catch (cause) {
    await query.destroy();
    throw unusable(cause);
  }
}

function checkOptions({ postgres, schema, poolSize = DEFAULT_POOL_SIZE }: PostgresOptions): void {
  const problem =
    !/^postgres(?:ql)?:\/\//.test(postgres) || !URL.canParse(postgres)
      ? "postgres: expected a URL that begins with postgres://"
      : schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)
        ? "schema: expected lower-case letters, digits and _, at most 63"
        : !Number.isInteger(poolSize) || poolSize < 1 || poolSize > 1000
          ? "poolSize: expected a whole number from 1 to 1000"
          : undefined;
  // Not the URL: it holds the password.
  if (problem !== undefined) throw new IntentlockError("ERR_INVALID_OPTIONS", problem);
}

/**
 * What the store relies on, whatever the server's defaults are: that a commit is on the disk when it returns, that a
 * condition is looked at again after waiting for a lock, and that no instance that hangs keeps its locks for ever.
 */
function setUpConnection(schema: string | undefined): string {
  return `
    ${schema === undefined ? "" : `SET search_path TO "${schema}";`}
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
    SET default_transaction_isolation TO 'read committed';
    SET statement_timeout TO '30s';
    SET idle_in_transaction_session_timeout TO '30s'`;
}

/** Migrates under a lock that all instances share. @returns the name of the schema */
function prepareSchema(query: Kysely<Tables>, schema: string | undefined): Promise<string> {
  return query.transaction().execute(async (transaction) => {
    await sql`SET LOCAL statement_timeout TO 0`.execute(transaction);
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('intentlock migrations', 0))`.execute(transaction);
    if (schema !== undefined) {
      const { rows } = await sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`.execute(transaction);
      if (rows.length === 0) await sql`CREATE SCHEMA ${sql.id(schema)}`.execute(transaction);
    }
    const { rows } = await sql<{ name: string | null }>`SELECT current_schema() AS name`.execute(transaction);
    const name = rows[0]?.name;
    if (!name) throw new IntentlockError("ERR_STORE_UNUSABLE", "The database has no schema to use: name one");
    await migrate(transaction, "postgres");
    return name;
  });
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function unusable(cause: unknown): IntentlockError {
  if (cause instanceof IntentlockError && cause.code !== "ERR_STORE") return cause;
  const inner = cause instanceof IntentlockError ? cause.cause : cause;
  const why = inner instanceof Error && inner.message !== "" ? inner.message : "no answer";
  return new IntentlockError(
    "ERR_STORE_UNUSABLE",
    `PostgreSQL cannot be used (${why}): check the URL, that the server is up, and the rights of its user`,
    { cause },
  );
}
