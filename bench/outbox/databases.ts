import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import type { AuditEntry } from "intentlock/core";
import pg from "pg";

/** What one would write instead of an outbox: a row for each entry, durable when it is answered. */
export interface Log {
  append(entry: AuditEntry): Promise<void>;
  close(): Promise<void>;
}

/** SQLite in this thread, one statement an entry, each with its own sync. */
export function openSqlite(path: string): Log {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE log (entry TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO log (entry) VALUES (?)");
  return {
    append: async (entry) => void insert.run(JSON.stringify(entry)),
    close: async () => database.close(),
  };
}

/** PostgreSQL as it is set up, with ten connections; its sync is shared by what commits at a time. */
export async function openPostgres(url: string): Promise<Log> {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const table = `intentlock_bench_${randomUUID().replaceAll("-", "")}`;
  await pool.query(`CREATE TABLE ${table} (entry text NOT NULL)`);
  return {
    append: async (entry) =>
      void (await pool.query(`INSERT INTO ${table} (entry) VALUES ($1)`, [JSON.stringify(entry)])),
    async close() {
      await pool.query(`DROP TABLE ${table}`);
      await pool.end();
    },
  };
}
