import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openStore, type Store, type StoreOptions } from "../src/server/store/index.ts";

/** An empty database of a test. */
export interface TestDatabase {
  readonly options: StoreOptions;
  /** One more instance on it. All are closed with the database. */
  open(): Promise<Store>;
  /** Runs SQL behind the store's back. */
  tamper(sql: string): Promise<void>;
  drop(): Promise<void>;
}

export type CreateDatabase = () => Promise<TestDatabase>;

/** PostgreSQL for tests. Without it they run on SQLite alone. */
export const POSTGRES_URL: string | undefined = process.env["INTENTLOCK_TEST_DATABASE_URL"];

export async function createSqliteDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "intentlock-store-"));
  const path = join(folder, "store.db");
  const { DatabaseSync } = await import("node:sqlite");
  const tamper = async (sql: string): Promise<void> => {
    const file = new DatabaseSync(path);
    file.exec(sql);
    file.close();
  };
  return withStores({ sqlite: path }, { tamper, drop: () => rm(folder, { recursive: true }) });
}

/** A schema of its own, with a random name. */
export async function createPostgresDatabase(): Promise<TestDatabase> {
  const schema = `intentlock_test_${randomUUID().replaceAll("-", "")}`;
  const tamper = (sql: string): Promise<void> => runPostgres(`SET search_path TO ${schema}; ${sql}`);
  const drop = (): Promise<void> => runPostgres(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  return withStores({ postgres: POSTGRES_URL!, schema, poolSize: 8 }, { tamper, drop });
}

export async function runPostgres(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES_URL! });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function withStores(
  options: StoreOptions,
  { tamper, drop }: { readonly tamper: (sql: string) => Promise<void>; readonly drop: () => Promise<void> },
): TestDatabase {
  const stores: Store[] = [];
  return {
    options,
    tamper,
    open: async () => {
      const store = await openStore(options);
      stores.push(store);
      return store;
    },
    drop: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await drop();
    },
  };
}
