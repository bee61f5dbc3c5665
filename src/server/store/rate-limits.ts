import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Counts how often something happened in a window of time, over all instances. */
export class RateLimitStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Counts one more. Windows begin at multiples of their length. Keys are stored as their digests: they may be e-mails or
   * addresses, and as long as an attacker likes.
   *
   * @returns how many there were in this window, with this one
   */
  async hit(key: string, windowSeconds: number, now: number): Promise<number> {
    const start = now - (now % (windowSeconds * 1000));
    // An instance whose clock is behind counts in the newer window instead of starting over.
    const { rows } = await sql<{ count: number }>`
      INSERT INTO rate_limits (key, window_start, count)
      VALUES (${`${windowSeconds} ${digestKey(key)}`}, ${start}, 1)
      ON CONFLICT (key) DO UPDATE SET
        count = CASE WHEN rate_limits.window_start >= excluded.window_start THEN rate_limits.count + 1 ELSE 1 END,
        window_start = CASE WHEN rate_limits.window_start >= excluded.window_start
          THEN rate_limits.window_start ELSE excluded.window_start END
      RETURNING count`.execute(this.#database.query);
    return rows[0]!.count;
  }

  /** Forgets windows that began before a time. */
  async sweep(before: number): Promise<void> {
    await this.#database.query.deleteFrom("rate_limits").where("window_start", "<", before).execute();
  }
}

function digestKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
