import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { verifyChain } from "../src/core/index.ts";
import { type FlaggedFilter, selectFlagged } from "../src/server/store/flagged-plans.ts";
import { type DecisionFilter, type DecisionPlace, openStore, type Store } from "../src/server/store/index.ts";
import { selectDecisions } from "../src/server/store/list-decisions.ts";
import { openSqlite } from "../src/server/store/open-sqlite.ts";
import { takePage } from "../src/server/store/page.ts";
import { createStore } from "../src/server/store/store.ts";
import { takeCalls } from "./fixtures/take-calls.ts";
import { aDecision, addPlan, anAppend, NOW_MS } from "./store-builders.ts";

const WRITER = fileURLToPath(new URL("./fixtures/store-writer.ts", import.meta.url));

let folder: string;
const stores: Store[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "intentlock-sqlite-"));
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await rm(folder, { recursive: true });
});

async function open(name = "store.db"): Promise<Store> {
  const store = await openStore({ sqlite: join(folder, name) });
  stores.push(store);
  return store;
}

async function modeOf(...names: string[]): Promise<string> {
  return ((await stat(join(folder, ...names))).mode & 0o777).toString(8);
}

describe("a SQLite file", () => {
  test("and its folder are their owner's alone", async () => {
    const before = process.umask(0);
    const store = await open("new/deep/store.db").finally(() => process.umask(before));
    await addPlan(store);
    expect([await modeOf("new"), await modeOf("new", "deep")]).toEqual(["700", "700"]);
    for (const end of ["", "-wal", "-shm"]) expect(await modeOf("new", "deep", `store.db${end}`)).toBe("600");
  });

  test("is on the disk when a commit returns", async () => {
    const { query, close } = await openSqlite(join(folder, "store.db"));
    const pragma = async (name: string): Promise<unknown> => {
      const { rows } = await sql<Record<string, unknown>>`PRAGMA ${sql.raw(name)}`.execute(query);
      return Object.values(rows[0] ?? {})[0];
    };
    expect(await pragma("journal_mode")).toBe("wal");
    expect(await pragma("synchronous")).toBe(2);
    expect(await pragma("foreign_keys")).toBe(1);
    await close();
  });

  test.each<[string, DecisionFilter & { readonly before?: DecisionPlace }, string]>([
    ["all", {}, "SCAN audit_entries USING COVERING INDEX audit_entries_decisions"],
    [
      "the next part",
      { before: { receivedAt: 1, planId: "a", seq: 1 } },
      "COVERING INDEX audit_entries_decisions ((received_at,plan_id,seq)<(?,?,?))",
    ],
    ["a time", { from: 1, to: 2 }, "COVERING INDEX audit_entries_decisions (received_at>? AND received_at<?)"],
    ["a tool", { tool: "a" }, "COVERING INDEX audit_entries_decisions"],
    ["a verdict and a reason", { verdict: "block", reason: "a" }, "COVERING INDEX audit_entries_decisions"],
    ["an agent and a verdict", { agentId: "a", verdict: "block" }, "COVERING INDEX audit_entries_agent (agent_id=?)"],
    ["a person and a tool", { userEmail: "a", tool: "a" }, "COVERING INDEX audit_entries_user (user_email=?)"],
    ["an agent and a person", { agentId: "a", userEmail: "a" }, "COVERING INDEX audit_entries_user (user_email=?)"],
  ])("finds decisions in an index, without a look at an entry and without sorting: of %s", async (_, filter, index) => {
    const { query, close } = await openSqlite(join(folder, "store.db"));
    const statement = selectDecisions({ ...filter, limit: 10, maxBytes: 1 }, 10);
    const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN ${statement}`.execute(query);
    const steps = rows.map(({ detail }) => detail);
    const found = steps.findIndex((detail) => detail.includes(index));
    expect([index, steps[found - 1]]).toEqual([index, "MATERIALIZE found"]);
    expect(steps[found + 1]).toBe("SCAN f");
    await close();
  });

  test.each<[string, FlaggedFilter, string]>([
    ["all", {}, "SCAN plans USING INDEX plans_flagged"],
    ["a time and an agent", { agentId: "a", from: 1 }, "SEARCH plans USING INDEX plans_flagged (created_at>?)"],
  ])("finds flagged plans in their index, without sorting: of %s", async (_, filter, step) => {
    const { query, close } = await openSqlite(join(folder, "store.db"));
    const steps = await takePage(selectFlagged({ query }, filter).select("id"), {}).explain<{ detail: string }>(
      undefined,
      sql`QUERY PLAN`,
    );
    expect(steps.map(({ detail }) => detail)).toEqual([step]);
    await close();
  });

  test("that is none, or damaged, says what to do", async () => {
    const path = join(folder, "store.db");
    await writeFile(path, "This is no database. ".repeat(1000));
    await expect(open()).rejects.toMatchObject({
      code: "ERR_STORE_UNUSABLE",
      message: expect.stringMatching(/store\.db cannot be used \(file is not a database\): check .* backup/),
    });
    const store = await open("other.db");
    await store.close();
    await truncate(join(folder, "other.db"), 5000);
    await expect(open("other.db")).rejects.toMatchObject({ code: "ERR_STORE_UNUSABLE" });
    await mkdir(join(folder, "a-folder"));
    await expect(open("a-folder")).rejects.toMatchObject({ code: "ERR_STORE_UNUSABLE" });
    await writeFile(join(folder, "file"), "");
    await expect(open("file/store.db")).rejects.toMatchObject({ code: "ERR_STORE_UNUSABLE" });
  });

  test("whose name looks like a URL of SQLite is a file like any other", async () => {
    const before = process.cwd();
    process.chdir(folder);
    const store = await openStore({ sqlite: "file:x?mode=memory" }).finally(() => process.chdir(before));
    stores.push(store);
    expect((await stat(join(folder, "file:x?mode=memory"))).size).toBeGreaterThan(0);
  });

  test("is shared by processes: none takes what another has taken", async () => {
    const store = await open();
    const { id } = await addPlan(store);
    const run = promisify(execFile);
    const path = join(folder, "store.db");
    const others = ["a", "b"].map(() => run(process.execPath, [WRITER, path, id, "150"]));
    const here = await takeCalls(store, id, { maxCalls: 150, workers: 4 });
    const there = (await Promise.all(others)).map(({ stdout, stderr }) => {
      expect(stderr).toBe("");
      return Number(stdout);
    });
    expect(here + there[0]! + there[1]!).toBe(150);
    const entries = (await store.auditEntries.ofPlan(id)).map(({ entry }) => entry);
    expect(verifyChain(entries, id).head?.seq).toBe(151);
  });

  test("wakes those that listen in another process", async () => {
    const [one, two] = [await open(), await open()];
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const stop = one.signals.listen("hold", resolve);
    await addPlan(two);
    expect(await promise).toBeUndefined();
    stop();
  });
});

describe("appends that share a commit", () => {
  test("are all there, and one that fails takes no other with it", async () => {
    const store = await open();
    const plans = await Promise.all(Array.from({ length: 8 }, () => addPlan(store)));
    const [bad, late, ...good] = plans as [(typeof plans)[0], (typeof plans)[0], ...typeof plans];
    // The token's id is taken: the append fails after it has written.
    const token = { jti: good[0]!.jti, token: "x", expiresAt: NOW_MS };
    const appended = await Promise.allSettled([
      ...good.slice(0, 3).map((plan) => store.plans.append(plan.id, anAppend(plan))),
      store.plans.append(bad.id, anAppend(bad, { token })),
      store.plans.append(late.id, { ...anAppend(late, { entries: [] }), expectSeq: 7 }),
      ...good.slice(3).map((plan) => store.plans.append(plan.id, anAppend(plan))),
    ]);
    const answers = appended.map((one) => (one.status === "fulfilled" ? one.value : one.reason.code));
    expect(answers).toEqual([true, true, true, "ERR_STORE", false, true, true, true]);
    for (const plan of good) expect(await store.auditEntries.ofPlan(plan.id)).toHaveLength(2);
    for (const plan of [bad, late]) {
      expect(await store.plans.state(plan.id)).toMatchObject({ seq: 1, used: [0], tokenJti: plan.jti });
      expect(await store.auditEntries.ofPlan(plan.id)).toHaveLength(1);
    }
  });

  test("are more than one group takes", async () => {
    const store = await open();
    const plan = await addPlan(store);
    const appends = Array.from({ length: 600 }, (_, index) =>
      store.plans.append(plan.id, { ...anAppend(plan, { entries: [] }), expectSeq: 1, used: [index] }),
    );
    expect((await Promise.all(appends)).every(Boolean)).toBe(true);
    expect(await store.plans.state(plan.id)).toMatchObject({ used: [599] });
  });

  test("fail when the disk is full, change nothing, and work again when it is not", async () => {
    const path = join(folder, "store.db");
    const database = await openSqlite(path);
    const store = createStore(database);
    stores.push(store);
    const plan = await addPlan(store);
    await sql`PRAGMA max_page_count = 1`.execute(database.query);
    const append = anAppend(plan, { event: aDecision(plan, "x".repeat(1e6)) });
    await expect(store.plans.append(plan.id, append)).rejects.toMatchObject({ code: "ERR_STORE" });
    const policy = { agentId: plan.agentId, text: "x".repeat(1e6), createdAt: 1, createdBy: "a", comment: null };
    await expect(store.policies.push(policy)).rejects.toMatchObject({ code: "ERR_STORE" });
    expect(await store.plans.state(plan.id)).toMatchObject({ seq: 1 });
    expect(await store.policies.latest(plan.agentId)).toBeUndefined();
    await sql`PRAGMA max_page_count = 1000000`.execute(database.query);
    expect(await store.plans.append(plan.id, append)).toBe(true);
  });

  test("asked for before the store is closed still happen", async () => {
    const store = await open();
    const plan = await addPlan(store);
    const append = store.plans.append(plan.id, anAppend(plan));
    await store.close();
    expect(await append).toBe(true);
    expect(await (await open()).plans.state(plan.id)).toMatchObject({ seq: 2 });
    await expect(store.plans.append(plan.id, anAppend(plan))).rejects.toMatchObject({ code: "ERR_STORE" });
  });
});

test("the warning of Node.js about SQLite is not shown, and others are", async () => {
  const { getBuiltinModule } = process;
  const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const shown = process.emitWarning;
  vi.spyOn(process, "getBuiltinModule").mockImplementation((name: string) => {
    process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
    process.emitWarning("another", "Warning");
    return getBuiltinModule(name as "node:sqlite");
  });
  await open();
  expect(emitWarning.mock.calls).toEqual([["another", "Warning"]]);
  expect(process.emitWarning).toBe(shown);
  vi.restoreAllMocks();
});
