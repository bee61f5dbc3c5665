/**
 * What the pages of the history cost with 200,000 decisions and 1,000 holds that wait: medians of whole requests, over
 * SQLite and, with `INTENTLOCK_TEST_DATABASE_URL`, PostgreSQL, beside how long this process was busy, which a busy machine
 * changes less; then how the database runs each statement.
 * Run: `npm run bench:history`. See README.md.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RawBuilder, sql } from "kysely";
import type { DecisionItem, DecisionsAnswer } from "../src/core/api/index.ts";
import { createServer } from "../src/server/create-server.ts";
import { nameSessionCookie } from "../src/server/people/session-cookie.ts";
import { createSecret, hashSecret } from "../src/server/secret.ts";
import { selectCounts } from "../src/server/store/count-decisions.ts";
import type { Database } from "../src/server/store/database.ts";
import { selectDecisions } from "../src/server/store/list-decisions.ts";
import { openPostgres } from "../src/server/store/open-postgres.ts";
import { openSqlite } from "../src/server/store/open-sqlite.ts";
import { createStore } from "../src/server/store/store.ts";
import { median } from "./check/measure.ts";
import {
  addLongPlan,
  DECISIONS,
  fillHistory,
  HOLDS,
  MUCH,
  NOTHING,
  RARE_REASON,
  RARE_TOOL,
  ROOT,
  SOME,
} from "./history/fill.ts";

const ROUNDS = 15;
const TARGET_MS = 300;
const PUBLIC_URL = "https://lock.acme.dev";
const DAY = 86_400_000;

/** What is measured on one database. */
interface Subject {
  readonly name: string;
  readonly database: Database;
}

async function measure({ name, database }: Subject): Promise<boolean> {
  const store = createStore(database);
  const now = Date.now();
  const started = performance.now();
  const agentId = await fillHistory(store, now);
  const longPlan = await addLongPlan(store, now, 5000);
  // As autovacuum does, over thirty days.
  if (database.kind === "postgres") await sql`VACUUM ANALYZE`.execute(database.query);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`\n${name}: ${DECISIONS} decisions, ${HOLDS} holds that wait; filled in ${seconds} s`);

  const server = createServer({ store, publicUrl: PUBLIC_URL, inbox: false });
  const cookies = new Map<string, string>();
  for (const email of [ROOT, MUCH, SOME, NOTHING]) {
    const token = createSecret();
    const times = { createdAt: now, lastSeenAt: now, expiresAt: now + DAY };
    await store.signIn.addSession({ hash: hashSecret(token), email, csrf: "csrf", linkBy: "bench", ...times });
    cookies.set(email, `${nameSessionCookie(PUBLIC_URL)}=${token}`);
  }
  const ask = async (path: string, email: string): Promise<Response> => {
    const headers = { cookie: cookies.get(email) ?? "" };
    const response = await server.fetch(new Request(`${PUBLIC_URL}${path}`, { headers }));
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };

  const early = await ask(`/v1/decisions?agentId=${agentId}&to=${now - 29 * DAY}&limit=1`, ROOT);
  const [one] = ((await early.json()) as DecisionsAnswer).decisions as [DecisionItem];
  const nearEnd = `${one.receivedAt}.${one.seq}.${one.planId}`;
  let isGood = true;
  const requests: readonly (readonly [string, string, string?])[] = [
    ["no filter", "/v1/decisions"],
    ["no filter, 1,000 at once", "/v1/decisions?limit=1000"],
    ["near the end", `/v1/decisions?after=${nearEnd}`],
    ["one agent", `/v1/decisions?agentId=${agentId}`],
    ["one agent, near the end", `/v1/decisions?agentId=${agentId}&after=${nearEnd}`],
    ["an agent that is none", "/v1/decisions?agentId=none"],
    ["one agent, verdict block", `/v1/decisions?agentId=${agentId}&verdict=block`],
    ["one agent, a tool of 4 decisions", `/v1/decisions?agentId=${agentId}&tool=${RARE_TOOL}`],
    ["one agent, one person with nothing", `/v1/decisions?agentId=${agentId}&user=${NOTHING}`],
    ["one agent and one person, who never met", `/v1/decisions?agentId=${agentId}&user=${MUCH}`],
    ["one person, half of all", `/v1/decisions?user=${MUCH}`],
    ["one person, some", `/v1/decisions?user=${SOME}`],
    ["one person, nothing", `/v1/decisions?user=${NOTHING}`],
    ["one tool", "/v1/decisions?tool=tool_3"],
    ["a tool of 4 decisions", `/v1/decisions?tool=${RARE_TOOL}`],
    ["a tool of none", "/v1/decisions?tool=none"],
    ["verdict block", "/v1/decisions?verdict=block"],
    ["verdict hold", "/v1/decisions?verdict=hold"],
    ["one reason", "/v1/decisions?reason=call_limit"],
    ["a reason of 4 decisions", `/v1/decisions?reason=${RARE_REASON}`],
    ["a reason of none", "/v1/decisions?reason=none"],
    ["one day, three weeks ago", `/v1/decisions?from=${now - 21 * DAY}&to=${now - 20 * DAY}`],
    ["before everything", `/v1/decisions?to=${now - 31 * DAY}`],
    ["own, of much", "/v1/decisions", MUCH],
    ["own, a reason of none", "/v1/decisions?reason=none", MUCH],
    ["own, of nothing", "/v1/decisions", NOTHING],
    ["a story, first part of 5,000", `/v1/plans/${longPlan}/story`],
    ["a story, near the end", `/v1/plans/${longPlan}/story?after=4801.0`],
    ["overview, 24 hours", "/v1/overview"],
    ["overview, 30 days", "/v1/overview?hours=720"],
    ["overview, 30 days, one agent", `/v1/overview?hours=720&agentId=${agentId}`],
    ["admin audit", "/v1/admin-audit"],
  ];
  for (const [what, path, email = ROOT] of requests) {
    const times: number[] = [];
    const busy: number[] = [];
    let bytes = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const [from, before] = [performance.now(), process.cpuUsage()];
      bytes = (await (await ask(path, email)).arrayBuffer()).byteLength;
      times.push(performance.now() - from);
      const { user, system } = process.cpuUsage(before);
      busy.push((user + system) / 1000);
    }
    isGood =
      report(what, times, `${median(busy).toFixed(0).padStart(4)} ms busy ${Math.round(bytes / 1024)} KiB`) && isGood;
  }
  const starts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    const reader = (await ask("/v1/decisions/export", ROOT)).body?.getReader();
    await reader?.read();
    starts.push(performance.now() - from);
    await reader?.cancel();
  }
  isGood = report("export, to its first lines", starts, "") && isGood;
  await exportAll(await ask("/v1/decisions/export", ROOT));
  await printPlans(database, { agentId, now });
  await server.close();
  return isGood;
}

function report(what: string, times: readonly number[], more: string): boolean {
  const ms = median(times);
  const verdict = ms < TARGET_MS ? "" : `MISSED (target ${TARGET_MS} ms)`;
  console.log(`  ${what.padEnd(42)} ${ms.toFixed(1).padStart(7)} ms ${more.padEnd(22)} ${verdict}`.trimEnd());
  return ms < TARGET_MS;
}

async function exportAll(response: Response): Promise<void> {
  const from = performance.now();
  let [bytes, most] = [0, 0];
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    most = Math.max(most, process.memoryUsage.rss() - before);
  }
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  console.log(
    `  export of all: ${Math.round(bytes / 2 ** 20)} MiB in ${seconds} s, with ${Math.round(most / 2 ** 20)} MiB more memory`,
  );
}

async function printPlans(database: Database, { agentId, now }: { agentId: string; now: number }): Promise<void> {
  const page = { limit: 100, maxBytes: 4_194_304 };
  const before = { receivedAt: now - 29 * DAY, planId: "a", seq: 1 };
  const statements: readonly (readonly [string, RawBuilder<unknown>])[] = [
    ["no filter", selectDecisions(page, 100)],
    ["next part", selectDecisions({ ...page, before }, 100)],
    ["agent", selectDecisions({ ...page, agentId }, 100)],
    ["agent, next part", selectDecisions({ ...page, agentId, before }, 100)],
    ["agent, verdict", selectDecisions({ ...page, agentId, verdict: "block" }, 100)],
    ["person", selectDecisions({ ...page, userEmail: SOME }, 100)],
    ["person, agent", selectDecisions({ ...page, userEmail: SOME, agentId }, 100)],
    ["tool", selectDecisions({ ...page, tool: RARE_TOOL }, 100)],
    ["verdict", selectDecisions({ ...page, verdict: "block" }, 100)],
    ["reason", selectDecisions({ ...page, reason: RARE_REASON }, 100)],
    ["time", selectDecisions({ ...page, from: now - DAY, to: now }, 100)],
    ["overview", selectCounts({ from: now - 30 * DAY, partMs: DAY, parts: 31 })],
    ["overview, agent", selectCounts({ from: now - 30 * DAY, partMs: DAY, parts: 31, agentId })],
    ["holds that wait", sql`SELECT count(*) FROM holds WHERE status = 'pending' AND expires_at > ${now}`],
    [
      "flagged plans",
      sql`SELECT count(*) FROM plans WHERE flagged IS NOT NULL AND status <> 'revoked' AND created_at >= ${now - DAY}`,
    ],
    ["story", sql`SELECT entry FROM audit_entries WHERE plan_id = 'a' AND seq >= 0 ORDER BY seq LIMIT 200`],
    ["admin audit", sql`SELECT * FROM admin_audit WHERE seq < 1000 ORDER BY seq DESC LIMIT 101`],
  ];
  for (const [what, statement] of statements) {
    const explain = database.kind === "sqlite" ? sql`EXPLAIN QUERY PLAN` : sql`EXPLAIN (COSTS OFF)`;
    const { rows } = await sql<Record<string, string>>`${explain} ${statement}`.execute(database.query);
    console.log(`  ${what}:`);
    const steps = rows.map((row) => row["detail"] ?? row["QUERY PLAN"] ?? "");
    // One whole; of the others, how the tables are read.
    for (const step of what === "no filter" ? steps : steps.filter(isRead)) console.log(`    ${step}`);
  }
}

/** Not the look-up of the entries that were found, which is the same each time. */
function isRead(step: string): boolean {
  if (/f\.plan_id|p\.plan_id|_pkey on audit_entries e|SEARCH e USING/.test(step)) return false;
  return /Cond:|Filter:|Scan.* on (?:audit_entries|holds|plans|admin_audit)\b|(?:SCAN|SEARCH) (?:audit_entries|holds|plans|admin_audit)\b/.test(
    step,
  );
}

const folder = await mkdtemp(join(tmpdir(), "intentlock-history-"));
let isGood = await measure({ name: "SQLite", database: await openSqlite(join(folder, "store.db")) });
await rm(folder, { recursive: true });

const postgres = process.env["INTENTLOCK_TEST_DATABASE_URL"];
if (postgres !== undefined) {
  const schema = `intentlock_bench_${randomUUID().replaceAll("-", "")}`;
  try {
    isGood = (await measure({ name: "PostgreSQL", database: await openPostgres({ postgres, schema }) })) && isGood;
  } finally {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: postgres });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  }
}
console.log(isGood ? `\nall under ${TARGET_MS} ms` : "\nMISSED");
process.exitCode = isGood ? 0 : 1;
