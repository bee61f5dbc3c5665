import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyChain } from "../src/core/index.ts";
import type { Store } from "../src/server/store/index.ts";
import { openPostgres, type PostgresOptions } from "../src/server/store/open-postgres.ts";
import { tryToTake } from "./fixtures/take-calls.ts";
import { addPlan, aHold, anAppend, anApproval } from "./store-builders.ts";
import { createPostgresDatabase, POSTGRES_URL, type TestDatabase } from "./stores.ts";

if (POSTGRES_URL === undefined) {
  console.warn("PostgreSQL is skipped: INTENTLOCK_TEST_DATABASE_URL is not set");
}

describe.skipIf(POSTGRES_URL === undefined)("PostgreSQL", () => {
  let database: TestDatabase;
  let options: PostgresOptions;
  let admin: pg.Client;
  let store: Store;

  beforeAll(async () => {
    database = await createPostgresDatabase();
    // A name of its own, so that the tests end the connections of this store and of no other.
    const url = new URL(POSTGRES_URL!);
    const { schema } = database.options as PostgresOptions;
    url.searchParams.set("application_name", schema!);
    options = { postgres: url.href, schema: schema!, poolSize: 4 };
    const { openStore } = await import("../src/server/store/index.ts");
    store = await openStore(options);
    admin = new pg.Client({ connectionString: POSTGRES_URL! });
    await admin.connect();
  });
  afterAll(async () => {
    await store.close();
    await admin.end();
    await database.drop();
  });

  /** Ends the store's connections whose last statement is like this, and waits until they are gone. */
  const terminate = async (like: string): Promise<number> => {
    const { rows } = await admin.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE application_name = $1 AND query ILIKE $2`,
      [options.schema, like],
    );
    return rows.length;
  };
  /**
   * Runs work while a statement holds its locks, on a connection of its own: what a transaction sees of other
   * connections stands still.
   */
  const whileLocked = async (statement: string, work: () => Promise<void>): Promise<void> => {
    const locker = new pg.Client({ connectionString: POSTGRES_URL! });
    await locker.connect();
    try {
      await locker.query(`BEGIN; ${statement}`);
      await work();
    } finally {
      await locker.end();
    }
  };
  /** Resolves when a connection of the store waits for a lock. */
  const waitForLock = async (): Promise<void> => {
    for (;;) {
      const { rows } = await admin.query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'",
        [options.schema],
      );
      if (rows.length > 0) return;
    }
  };

  test("is relied on for what its settings might have turned off", async () => {
    const url = new URL(options.postgres);
    url.searchParams.set("options", "-c synchronous_commit=off -c default_transaction_isolation=serializable");
    const { query, close } = await openPostgres({ ...options, postgres: url.href });
    const show = async (name: string): Promise<unknown> =>
      Object.values((await sql<Record<string, string>>`SHOW ${sql.raw(name)}`.execute(query)).rows[0]!)[0];
    expect(await show("synchronous_commit")).toBe("on");
    expect(await show("default_transaction_isolation")).toBe("read committed");
    expect(await show("search_path")).toBe(options.schema);
    await close();
  });

  test("may drop idle connections: the next operation works", async () => {
    const plan = await addPlan(store);
    await Promise.all(Array.from({ length: 4 }, () => store.plans.state(plan.id)));
    expect(await terminate("%")).toBeGreaterThan(1);
    expect(await store.plans.append(plan.id, anAppend(plan))).toBe(true);
    await store.health();
  });

  test("may drop a connection in the middle of an append: it rejects, nothing is half done, and it works again", async () => {
    const plan = await addPlan(store);
    const hold = aHold(plan);
    await store.holds.open(hold, { maxHolds: 1 });
    await store.holds.decide(hold.id, anApproval());
    await whileLocked(`SELECT 1 FROM ${options.schema}.plans WHERE id = '${plan.id}' FOR UPDATE`, async () => {
      const append = store.plans.append(plan.id, anAppend(plan, { claimHoldId: hold.id }));
      const rejected = expect(append).rejects.toMatchObject({ code: "ERR_STORE" });
      await waitForLock();
      expect(await terminate("WITH held%")).toBe(1);
      await rejected;
    });
    expect(await store.plans.state(plan.id)).toMatchObject({ seq: 1 });
    expect(await store.holds.get(hold.id)).toMatchObject({ claimedAt: null });
    expect(await store.plans.append(plan.id, anAppend(plan, { claimHoldId: hold.id }))).toBe(true);
  });

  test("may drop a connection in the middle of a transaction: nothing of it is there", async () => {
    const plan = await addPlan(store);
    await whileLocked(`LOCK TABLE ${options.schema}.holds IN ACCESS EXCLUSIVE MODE`, async () => {
      const opening = store.holds.open(aHold(plan), { maxHolds: 1 });
      const rejected = expect(opening).rejects.toMatchObject({ code: "ERR_STORE" });
      await waitForLock();
      expect(await terminate('select%"holds"%')).toBe(1);
      await rejected;
    });
    expect(await store.plans.get(plan.id)).toMatchObject({ holdsCount: 0 });
    expect(await store.holds.open(aHold(plan), { maxHolds: 1 })).toMatchObject({ outcome: "opened" });
  });

  test("may drop connections under load: what was answered is there, and limits hold", async () => {
    const plan = await addPlan(store);
    let taken = 0;
    let failed = 0;
    const work = async (): Promise<void> => {
      for (;;) {
        const answer = await tryToTake(store, plan.id, 200).catch(() => "failed");
        // A quick run may be over before a connection was dropped that somebody was using.
        if (answer === "none left" && failed > 0) return;
        if (answer === "taken") taken += 1;
        if (answer === "failed") failed += 1;
      }
    };
    let isOver = false;
    const kill = async (): Promise<void> => {
      while (!isOver) await terminate("%plans%");
    };
    const killing = kill();
    await Promise.all(Array.from({ length: 8 }, work)).finally(() => {
      isOver = true;
    });
    await killing;
    const entries = (await store.auditEntries.ofPlan(plan.id)).map(({ entry }) => entry);
    expect(verifyChain(entries, plan.id).head?.seq).toBe(201);
    expect(await store.plans.state(plan.id)).toMatchObject({ used: [200] });
    // One whose connection broke at the commit may have happened without an answer.
    expect(taken).toBeLessThanOrEqual(200);
    expect(taken + failed).toBeGreaterThanOrEqual(200);
    expect(failed).toBeGreaterThan(0);
  });

  test("may drop the connection that listens: it comes back, and listeners are told to look", async () => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const stopLooking = store.signals.listen("test", resolve);
    expect(await terminate("LISTEN%")).toBe(1);
    expect(await promise).toBeUndefined();
    stopLooking();
    const heard = Promise.withResolvers<string | undefined>();
    const stop = store.signals.listen("test", heard.resolve);
    await store.signals.notify("test", "again");
    expect(await heard.promise).toBe("again");
    stop();
  });

  test("wakes nobody with what others send on the channel", async () => {
    const other = await openPostgres(options);
    const { rows } = await sql<{ channel: string }>`SELECT pg_listening_channels() AS channel`.execute(other.query);
    expect(rows).toEqual([]);
    const heard: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = store.signals.listen("test", (payload) => (payload === "end" ? resolve() : heard.push(payload)));
    if (other.kind !== "postgres") throw new Error("it is PostgreSQL");
    for (const text of ["", "test", "TEST x", " test x", "testing x"]) {
      await sql`SELECT pg_notify(${other.channel}, ${text})`.execute(other.query);
    }
    await store.signals.notify("test", "end");
    await promise;
    expect(heard).toEqual([]);
    stop();
    await other.close();
  });
});
