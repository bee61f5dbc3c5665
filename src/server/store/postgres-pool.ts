import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import type { Pool, PoolClient } from "pg";
import { storeError } from "./database.ts";
import { checkParameters } from "./parameters.ts";

/**
 * A pool as Kysely wants it, over one of `pg`. Every connection is set up before it is used; every parameter is looked
 * at; the errors are ours.
 */
export class CheckedPool implements PostgresPool {
  readonly options: object = {};
  readonly #pool: Pool;
  readonly #setUp: string;
  /** Kysely knows a connection by its object, so each has one for as long as it lives. */
  readonly #clients = new WeakMap<PoolClient, CheckedClient>();
  readonly #drained: (() => void)[] = [];
  #users = 0;

  constructor(pool: Pool, { setUp }: { readonly setUp: string }) {
    this.#pool = pool;
    this.#setUp = setUp;
    // A connection that breaks while nobody uses it: the pool has already dropped it.
    pool.on("error", () => {});
  }

  async connect(): Promise<PostgresPoolClient> {
    this.#users += 1;
    try {
      const client = await this.#pool.connect();
      return this.#clients.get(client) ?? (await this.#prepare(client));
    } catch (error) {
      this.#leave();
      throw storeError(error);
    }
  }

  /** Waits for those that have a connection or wait for one. Kysely turns the latter away once it is closed. */
  async drain(): Promise<void> {
    if (this.#users > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  async #prepare(client: PoolClient): Promise<CheckedClient> {
    // One that breaks in use rejects its query as well, and without a listener it would end the process.
    client.on("error", () => {});
    try {
      await client.query(this.#setUp);
    } catch (error) {
      client.release(true);
      throw error;
    }
    const checked = new CheckedClient(client, () => this.#leave());
    this.#clients.set(client, checked);
    return checked;
  }

  #leave(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}

class CheckedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #onRelease: () => void;

  constructor(client: PoolClient, onRelease: () => void) {
    this.#client = client;
    this.#onRelease = onRelease;
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query(cursor: unknown): never;
  async query<Row>(sql: unknown, parameters: readonly unknown[] = []): Promise<PostgresQueryResult<Row>> {
    const text = String(sql);
    checkParameters(parameters);
    try {
      const { command, rowCount, rows } = await this.#client.query<Row & object>({
        ...nameStatement(text, parameters),
        text,
        values: [...parameters],
      });
      return { command: command as PostgresQueryResult<Row>["command"], rowCount: rowCount ?? 0, rows };
    } catch (error) {
      throw storeError(error);
    }
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy);
    this.#onRelease();
  }
}

/** As many as a connection keeps prepared. There are fewer in this folder; some come in several lengths. */
const MAX_STATEMENTS = 200;
const names = new Map<string, string>();

/**
 * The name under which a connection keeps a statement prepared. One that reads `*` gets none: when a newer release adds
 * a column, PostgreSQL refuses what was prepared before.
 */
function nameStatement(text: string, parameters: readonly unknown[]): { readonly name?: string } {
  if (parameters.length === 0 || text.includes("*")) return {};
  const known = names.get(text);
  if (known !== undefined) return { name: known };
  if (names.size >= MAX_STATEMENTS) return {};
  const name = `intentlock_${names.size}`;
  names.set(text, name);
  return { name };
}
