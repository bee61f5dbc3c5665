import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type AuditEntry, verifyAudit } from "../src/core/index.ts";
import { type Gate, HttpGate, HybridGate, openOutbox } from "../src/gates/index.ts";
import { openStore, type Store } from "../src/server/store/index.ts";
import { startSession } from "../src/session/index.ts";
import { ALICE, aPlan, aPolicy, aRule, summarize } from "./builders.ts";
import type { TestClock } from "./clock.ts";
import { buildChild } from "./fixtures/outbox-children.ts";
import { aPrivatePostgres, canHavePostgres } from "./fixtures/private-postgres.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";
import { aFolder, inProcess } from "./server-gates.ts";
import { anAgent, approveHold, aServer, type ServerUnderTest } from "./servers.ts";
import { aSessionCall, aTool } from "./sessions.ts";

// Processes are started, killed and waited for.
vi.setConfig({ testTimeout: 600_000 });

const KILLS = 20;

/** A server in a process of its own, on a port, over a SQLite file: it can be killed and started again. And its agent. */
async function aServerProcess(): Promise<{
  readonly url: string;
  readonly apiKey: string;
  readonly under: ServerUnderTest;
  readonly store: Store;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}> {
  const sqlite = join(await aFolder(), "server.db");
  // Beside it, in this process: looks into the same store, and decides as people do.
  const under = await aServer({
    store: await openStore({ sqlite }),
    policy: HOLDING,
    clock: { now: Date.now } as TestClock,
  });
  onTestFinished(() => under.close());
  let child: ChildProcess | undefined;
  let port = "0";
  const start = async (): Promise<void> => {
    const options = ["--port", port, "--database", sqlite, "--log-level", "silent", "--json"];
    const started = spawn(process.execPath, [CLI, "serve", ...options], { stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    let text = "";
    for await (const part of started.stdout) {
      text += part;
      const [, found] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text) ?? [];
      if (found === undefined) continue;
      port = found;
      return;
    }
    throw new Error(`The server did not start: ${text}`);
  };
  const kill = async (): Promise<void> => {
    const exited = child && once(child, "exit");
    child?.kill("SIGKILL");
    await exited;
  };
  onTestFinished(() => void child?.kill("SIGKILL"));
  await start();
  return { url: `http://127.0.0.1:${port}`, apiKey: under.agent.apiKey, under, store: under.store, kill, start };
}

const CLI = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

const HOLDING = aPolicy(
  aRule({ id: "ask", match: { tool: "post_comment" }, decision: "hold", approvers: { roles: ["approver"] } }),
  aRule(),
);

test(`a client that is killed ${KILLS} times: no tool ran without its entry, and the server gets every entry once`, async () => {
  const { url, apiKey, store } = await aServerProcess();
  const folder = await aFolder();
  const [outbox, runs, program] = [join(folder, "outbox.db"), join(folder, "runs"), await buildChild("hybrid-child")];
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [program, outbox, url, apiKey, runs], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), Math.random() * 300));
    await closed;
    expect(child.signalCode).toBe("SIGKILL");
  }
  // Whoever comes next uploads what they have left.
  const gate = new HybridGate({ baseUrl: url, apiKey, outbox });
  const last = await gate.sign(aSignRequest());
  const opened = await openOutbox({ path: outbox });
  onTestFinished(() => opened.close());
  await vi.waitFor(
    async () => {
      const waiting = (await opened.plans()).filter(({ head, uploaded }) => uploaded < head.seq);
      expect(waiting).toEqual([]);
    },
    { timeout: 60_000, interval: 100 },
  );
  await gate.close();
  const plans = await store.plans.list({ limit: 1000 });
  expect(plans.filter(({ flagged }) => flagged !== null)).toEqual([]);
  const entries = await Promise.all(plans.map(({ id }) => entriesOf(store, id)));
  const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: [] };
  const [{ agentId } = { agentId: "" }] = plans;
  for (const { problems, recomputed, decisions } of await verifyAudit(entries.flat(), { keys, audience: agentId })) {
    expect({ problems, recomputed }).toEqual({ problems: [], recomputed: decisions });
  }
  const allowed = new Set(
    entries.flat().flatMap(({ planId, event }) => {
      return event.type === "decision" && event.verdict === "allow" ? `${planId} ${event.callId}` : [];
    }),
  );
  const ran = readFileSync(runs, "utf8").split("\n").filter(Boolean);
  expect(ran.length).toBeGreaterThan(KILLS);
  expect(ran.filter((call) => !allowed.has(call))).toEqual([]);
  expect(new Set(ran).size).toBe(ran.length);
  expect(plans.some(({ id }) => id === last.planId)).toBe(true);
  expect(existsSync(outbox)).toBe(true);
});

async function entriesOf(store: Store, planId: string): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  for (;;) {
    const page = await store.auditEntries.ofPlan(planId, { fromSeq: all.length, limit: 1000 });
    all.push(...page.map(({ entry }) => entry));
    if (page.length < 1000) return all;
  }
}

describe("a server that is killed and started again", () => {
  test("while calls are checked: they are blocked meanwhile, none runs twice, and clients go on", async () => {
    const { url, apiKey, store, kill, start } = await aServerProcess();
    const gate = new HttpGate({ baseUrl: url, apiKey, retries: 0 });
    const plan = await gate.sign(aSignRequest({ plan: aPlan({ maxCalls: 100_000 }) }));
    const verdicts: string[] = [];
    let isOver = false;
    const work = async (worker: number): Promise<void> => {
      for (let call = 0; !isOver; call++)
        verdicts.push(summarize(await gate.check(plan, aGateCall({ callId: `${worker}-${call}` }))));
    };
    const workers = Array.from({ length: 8 }, (_, worker) => work(worker));
    const seen = async (verdict: string): Promise<void> => {
      const before = verdicts.length;
      await vi.waitFor(() => expect(verdicts.slice(before)).toContain(verdict), { timeout: 30_000 });
    };
    for (let round = 0; round < 3; round++) {
      await seen("allow");
      await kill();
      await seen("block:server_unavailable");
      await start();
    }
    await seen("allow");
    isOver = true;
    await Promise.all(workers);
    expect(new Set(verdicts)).toEqual(new Set(["allow", "block:server_unavailable"]));
    // What was decided and not heard of counts as taken; nothing that was heard of is missing.
    const state = await store.plans.state(plan.planId);
    expect(state?.used[0]).toBeGreaterThanOrEqual(verdicts.filter((verdict) => verdict === "allow").length);
    await gate.close();
  });

  test("while a HybridGate decides: nothing is blocked, and everything is uploaded afterwards", async () => {
    const { url, apiKey, store, kill, start } = await aServerProcess();
    const outbox = await openOutbox({ path: join(await aFolder(), "outbox.db") });
    onTestFinished(() => outbox.close());
    const gate = new HybridGate({ baseUrl: url, apiKey, outbox, closeTimeoutMs: 60_000 });
    const plan = await gate.sign(aSignRequest({ plan: aPlan({ maxCalls: 1000 }) }));
    const decide = async (count: number): Promise<void> => {
      const calls = Array.from({ length: count }, (_, index) => gate.check(plan, aGateCall({ callId: `${index}` })));
      expect(new Set((await Promise.all(calls)).map(summarize))).toEqual(new Set(["allow"]));
    };
    await decide(20);
    await kill();
    await decide(20);
    await start();
    await decide(20);
    await gate.close();
    const kept = await entriesOf(store, plan.planId);
    expect(kept.filter(({ event }) => event.type === "decision")).toHaveLength(60);
    expect((await store.plans.get(plan.planId))?.flagged).toBeNull();
  });

  test.each<[string, (url: string, apiKey: string) => Promise<Gate>]>([
    ["HttpGate", async (baseUrl, apiKey) => new HttpGate({ baseUrl, apiKey })],
    [
      "HybridGate",
      async (baseUrl, apiKey) => new HybridGate({ baseUrl, apiKey, outbox: join(await aFolder(), "outbox.db") }),
    ],
  ])("while %s waits for a person: the hold survives, and the call runs once", async (_, makeGate) => {
    const { url, apiKey, under, store, kill, start } = await aServerProcess();
    const gate = await makeGate(url, apiKey);
    const plan = aPlan({ tool: "post_comment" });
    const tools = [aTool({ name: "post_comment" })];
    const session = await startSession({ gate, user: ALICE, task: "Comment", tools, plan });
    const tool = vi.fn(() => "posted");
    const running = session.run(aSessionCall({ tool: "post_comment" }), tool);
    const [hold] = await vi.waitFor(
      async () => {
        const holds = await store.holds.list({ status: "pending" });
        expect(holds).toHaveLength(1);
        return holds;
      },
      { timeout: 30_000 },
    );
    await kill();
    await start();
    await approveHold(under, hold?.id ?? "");
    expect(await running).toMatchObject({ isError: false, content: "posted" });
    expect(tool).toHaveBeenCalledTimes(1);
    await session.close();
    await gate.close();
  });
});

describe("two servers over one PostgreSQL", () => {
  const database = process.env["INTENTLOCK_TEST_DATABASE_URL"];
  if (!database) console.log("PostgreSQL was skipped: INTENTLOCK_TEST_DATABASE_URL is not set");

  async function twoServers(policy = aPolicy()) {
    const schema = `faults_${crypto.randomUUID().replaceAll("-", "")}`;
    const open = async (): Promise<Store> => await openStore({ postgres: database as string, schema });
    const one = await aServer({ store: await open(), policy });
    const two = await aServer({ store: await open(), policy });
    onTestFinished(async () => {
      await Promise.all([one.close(), two.close()]);
      const { default: pg } = await import("pg");
      const client = new pg.Client(database);
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await client.end();
    });
    const { apiKey } = one.agent;
    const gates = await Promise.all(
      [one, two].map(async (under) => new HttpGate({ ...(await inProcess(under)), apiKey, clock: one.clock.now })),
    );
    return { one, two, gates, schema };
  }

  test.runIf(database)("64 calls at once on a step of ten: ten are allowed", async () => {
    const { gates } = await twoServers();
    const plan = await gates[0]?.sign(aSignRequest({ plan: aPlan({ maxCalls: 10 }) }));
    if (!plan) throw new Error("no plan");
    const calls = Array.from({ length: 64 }, (_, index) =>
      (gates[index % 2] as HttpGate).check(plan, aGateCall({ callId: `${index}` })),
    );
    const verdicts = (await Promise.all(calls)).map(summarize);
    expect(verdicts.filter((verdict) => verdict === "allow")).toHaveLength(10);
    expect(new Set(verdicts)).toEqual(new Set(["allow", "block:call_limit"]));
  });

  test.runIf(database)("whose connections break under load: no limit is exceeded, and clients go on", async () => {
    const { one, gates, schema } = await twoServers();
    const plan = await gates[0]?.sign(aSignRequest({ plan: aPlan({ maxCalls: 60 }) }));
    if (!plan) throw new Error("no plan");
    const { default: pg } = await import("pg");
    const client = new pg.Client(database);
    await client.connect();
    let isOver = false;
    const breaking = (async () => {
      while (!isOver) {
        await client.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE $1",
          [`%${schema}%`],
        );
        await client.query("SELECT pg_sleep(0.02)");
      }
    })();
    const allowed: string[] = [];
    const work = async (worker: number): Promise<void> => {
      for (let call = 0; call < 20; call++) {
        const callId = `${worker}-${call}`;
        const decision = await (gates[worker % 2] as HttpGate).check(plan, aGateCall({ callId }));
        if (decision.verdict === "allow") allowed.push(callId);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
    isOver = true;
    await breaking;
    await client.end();
    expect(allowed.length).toBeLessThanOrEqual(60);
    const entries = await entriesOf(one.store, plan.planId);
    const { body } = await one.ask("GET", "/.well-known/jwks.json");
    const [audit] = await verifyAudit(entries, { keys: body.keys, audience: one.agent.agentId });
    expect(audit?.problems).toEqual([]);
    const recorded = entries.flatMap(({ event }) =>
      event.type === "decision" && event.verdict === "allow" ? event.callId : [],
    );
    expect(allowed.filter((callId) => !recorded.includes(callId))).toEqual([]);
    expect(summarize((await gates[0]?.check(plan, aGateCall({ callId: "last" }))) as never)).toMatch(
      /allow|call_limit/,
    );
  });

  test.skipIf(!canHavePostgres)(
    "that is restarted under load: calls are blocked meanwhile, no limit is exceeded, and clients go on",
    async () => {
      const { url, restart } = await aPrivatePostgres();
      const under = await aServer({ store: await openStore({ postgres: url }) });
      onTestFinished(() => under.close());
      const options = { ...(await inProcess(under)), apiKey: under.agent.apiKey, clock: under.clock.now, retries: 0 };
      const gate = new HttpGate(options);
      const plan = await gate.sign(aSignRequest({ plan: aPlan({ maxCalls: 100_000 }) }));
      const verdicts: string[] = [];
      let isOver = false;
      const work = async (worker: number): Promise<void> => {
        for (let call = 0; !isOver; call++) {
          verdicts.push(summarize(await gate.check(plan, aGateCall({ callId: `${worker}-${call}` }))));
        }
      };
      const workers = Array.from({ length: 8 }, (_, worker) => work(worker));
      const seen = async (verdict: string): Promise<void> => {
        const before = verdicts.length;
        await vi.waitFor(() => expect(verdicts.slice(before)).toContain(verdict), { timeout: 30_000 });
      };
      for (let round = 0; round < 2; round++) {
        await seen("allow");
        restart();
      }
      await seen("allow");
      isOver = true;
      await Promise.all(workers);
      expect(
        [...new Set(verdicts)].filter((verdict) => !["allow", "block:server_unavailable"].includes(verdict)),
      ).toEqual([]);
      const entries = await entriesOf(under.store, plan.planId);
      const { body } = await under.ask("GET", "/.well-known/jwks.json");
      const [audit] = await verifyAudit(entries, { keys: body.keys, audience: under.agent.agentId });
      expect(audit?.problems).toEqual([]);
      const state = await under.store.plans.state(plan.planId);
      expect(state?.used[0]).toBeGreaterThanOrEqual(verdicts.filter((verdict) => verdict === "allow").length);
    },
  );

  test.runIf(database)("two agents do not see each other's plans", async () => {
    const { one, gates } = await twoServers();
    const other = await anAgent(one.store);
    const gate = new HttpGate({ ...(await inProcess(one)), apiKey: other.apiKey });
    const plan = await gates[0]?.sign(aSignRequest());
    if (!plan) throw new Error("no plan");
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:invalid_token");
  });
});

describe("a clock that is off", () => {
  test.each([300, -300, 7200, -7200])(
    "by %s s: a HybridGate decides by the server's time, and says so",
    async (offSeconds) => {
      const under = await aServer();
      onTestFinished(() => under.close());
      const outbox = await openOutbox({ path: join(await aFolder(), "outbox.db"), retentionMs: 3_600_000 });
      onTestFinished(() => outbox.close());
      const clock = (): number => under.clock.now() + offSeconds * 1000;
      const gate = new HybridGate({ ...(await inProcess(under)), apiKey: under.agent.apiKey, clock, outbox });
      const codes: string[] = [];
      const plan = await gate.sign(aSignRequest({ listener: ({ code }) => codes.push(code) }));
      expect(codes).toEqual(["clock_skew"]);
      expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
      const entry = (await outbox.entries(plan.planId)).find(({ event }) => event.type === "decision");
      const now = entry?.event.type === "decision" ? entry.event.now : 0;
      expect(Math.abs(now - under.clock.now() / 1000)).toBeLessThanOrEqual(5);
      await gate.close();
    },
  );
});
