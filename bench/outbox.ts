/**
 * What durable audit entries cost: the outbox against a bare append and `fdatasync` loop and against databases, and the
 * event loop beside a slow disk. Run: `npm run bench:outbox -- [FOLDER] [--save]`. See README.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import type { AuditEntry, ChainHead } from "intentlock/core";
import { median } from "./check/measure.ts";
import { ratioOf } from "./check/report.ts";
import { BareLog } from "./outbox/bare-log.ts";
import { buildOutbox } from "./outbox/build.ts";
import { type Log, openPostgres, openSqlite } from "./outbox/databases.ts";
import { judge, reportResults, type Table } from "./results.ts";

/** How many append at a time, and how many entries in a round. */
const CONCURRENCIES = { 1: 400, 8: 3000, 64: 12_000, 256: 30_000 } as const;
/** Of a database: each entry waits for a sync, or for one of ten connections. */
const MOST_ROWS = 2000;
const SLOW_SYNC_MS = 20;
const POSTGRES = process.env["INTENTLOCK_TEST_DATABASE_URL"];

type Append = (entry: AuditEntry, head: ChainHead) => Promise<void>;
type Work = readonly (readonly { readonly entry: AuditEntry; readonly head: ChainHead }[])[];

const { openTrialOutbox, chainEntry, startChain, nodeSha256 } = await buildOutbox();
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { save: { type: "boolean" }, rounds: { type: "string", default: "5" } },
});
const folder = mkdtempSync(join(positionals[0] ?? tmpdir(), "outbox-bench-"));
const rounds = Number(values.rounds);
let plans = 0;

/** A plan for each caller, with its decisions, about 600 bytes each: hashed before the time begins, as a gate does. */
function makeWork(callers: number, entries: number): Work {
  return Array.from({ length: callers }, () => {
    let head = startChain(`plan-${plans++}`);
    return Array.from({ length: Math.ceil(entries / callers) }, (_, call) => {
      const event = {
        type: "decision",
        args: {
          body: "Thanks for the report. This is fixed on main. ".repeat(3),
          issue: call,
          repo: "acme/public-app",
        },
        callId: `call_${call}`,
        digest: `sha256:${"a".repeat(64)}`,
        fingerprint: `sha256:${"0".repeat(64)}`,
        jti: "0d9b7f2e-1c1b-4b51-9e0a-1f1e1d1c1b1a",
        now: 1_800_000_000,
        rule: "allow-github",
        step: 0,
        tool: "github_post_comment",
        used: [call],
        verdict: "allow",
      } as const;
      const next = chainEntry(head, event, { at: 1_800_000_000_000 + call, hash: nodeSha256 });
      head = next.head;
      return next;
    });
  });
}

/** Entries a second, with every caller waiting for one answer at a time. */
async function measure(work: Work, append: Append): Promise<number> {
  globalThis.gc?.();
  const started = performance.now();
  await Promise.all(
    work.map(async (entries) => {
      for (const { entry, head } of entries) await append(entry, head);
    }),
  );
  return (work.flat().length / (performance.now() - started)) * 1000;
}

async function measureOutbox(work: Work, hashed: boolean): Promise<number> {
  const path = join(folder, "outbox.db");
  const outbox = await openTrialOutbox({ path, maxBacklog: 1e9 }, {});
  for (const [first] of work) await outbox.begin({ planId: first?.entry.planId ?? "", upload: true });
  const rate = await measure(work, (entry, head) => outbox.append([entry], hashed ? head : undefined));
  await outbox.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return rate;
}

async function measureBare(work: Work): Promise<number> {
  const path = join(folder, "bare.log");
  const log = new BareLog(path);
  const rate = await measure(work, (entry) => log.append(entry));
  log.close();
  rmSync(path);
  return rate;
}

async function measureDatabase(work: Work, open: (path: string) => Log | Promise<Log>): Promise<number> {
  const path = join(folder, "direct.db");
  const log = await open(path);
  const rate = await measure(work, (entry) => log.append(entry));
  await log.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return rate;
}

type Column = "bare" | "outbox" | "and hashed" | "SQLite" | "PostgreSQL";

function listMeasurements(callers: number, entries: number): [Column, () => Promise<number>][] {
  const rows = Math.min(entries, Math.max(MOST_ROWS, callers * 4));
  return [
    ["bare", () => measureBare(makeWork(callers, entries))],
    ["outbox", () => measureOutbox(makeWork(callers, entries), true)],
    ["and hashed", () => measureOutbox(makeWork(callers, entries), false)],
    ["SQLite", () => measureDatabase(makeWork(callers, rows), openSqlite)],
    ...(POSTGRES
      ? [["PostgreSQL", () => measureDatabase(makeWork(callers, rows), () => openPostgres(POSTGRES))] as const]
      : []),
  ] as [Column, () => Promise<number>][];
}

async function compare(): Promise<Table> {
  const rows: [string, ...string[]][] = [];
  let columns: Column[] = [];
  for (const [callers, entries] of Object.entries(CONCURRENCIES)) {
    const measurements = listMeasurements(Number(callers), entries);
    columns = measurements.map(([column]) => column);
    const rates = new Map(columns.map((column): [Column, number[]] => [column, []]));
    for (let round = -1; round < rounds; round++) {
      for (const [column, run] of measurements) {
        const rate = await run();
        // The first warms up.
        if (round >= 0) rates.get(column)?.push(rate);
      }
    }
    const cells = columns.map((column) => median(rates.get(column) ?? []).toFixed(0));
    const ratios = (["outbox", "and hashed"] as const).map((column) =>
      percent(ratioOf(rates.get(column), rates.get("bare"))),
    );
    rows.push([`${callers} at a time`, ...cells, ...ratios]);
  }
  return { title: "entries a second", columns: [...columns, "outbox/bare", "and hashed/bare"], rows };
}

/** The delay of the event loop at p99, in milliseconds, while something is done. */
async function delayDuring(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await work();
  histogram.disable();
  return histogram.percentile(99) / 1e6;
}

async function slowDisk(): Promise<Table> {
  const rows: [string, ...string[]][] = [];
  const idle = await delayDuring(async () => await new Promise((resolve) => setTimeout(resolve, 3000)));
  rows.push(["idle", `${idle.toFixed(2)} ms`, "", ""]);
  for (const callers of [1, 8, 64, 256]) {
    const path = join(folder, `slow-${callers}.db`);
    const outbox = await openTrialOutbox({ path, maxBacklog: 1e9 }, { syncDelayMs: SLOW_SYNC_MS });
    const work = makeWork(callers, callers * 100);
    const delay = await delayDuring(async () => await measure(work, (entry, head) => outbox.append([entry], head)));
    await outbox.close();
    rows.push(
      judge(`${callers} at a time`, { value: `${delay.toFixed(2)} ms`, target: "at most 5 ms", met: delay <= 5 }),
    );
  }
  const title = `delay of the event loop, each sync ${SLOW_SYNC_MS} ms longer`;
  return { title, columns: ["p99", "target", ""], rows };
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(0)} %`;
}

try {
  reportResults("outbox", { tables: [await compare(), await slowDisk()], figures: {} });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
