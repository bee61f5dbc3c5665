/**
 * What durable audit entries cost: the outbox against a bare append and `fdatasync` loop, and the event loop beside a
 * slow disk. Run: `node --expose-gc bench/outbox.ts [FOLDER]`. See README.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { AuditEntry, ChainHead } from "intentlock/core";
import { median } from "./check/measure.ts";
import { ratioOf } from "./check/report.ts";
import { BareLog } from "./outbox/bare-log.ts";
import { buildOutbox } from "./outbox/build.ts";

const ROUNDS = 5;
/** How many append at a time, and how many entries in a round. */
const CONCURRENCIES = { 1: 400, 8: 3000, 64: 12_000, 256: 30_000 } as const;
const SLOW_SYNC_MS = 20;

type Append = (entry: AuditEntry, head: ChainHead) => Promise<void>;
type Work = readonly (readonly { readonly entry: AuditEntry; readonly head: ChainHead }[])[];

const { openTrialOutbox, chainEntry, startChain, nodeSha256 } = await buildOutbox();
const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), "outbox-bench-"));
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

async function compare(): Promise<void> {
  console.log("\nEntries a second            bare      outbox    and hashed   outbox/bare   and hashed");
  for (const [callers, entries] of Object.entries(CONCURRENCIES)) {
    const rates: Record<"bare" | "outbox" | "hashing", number[]> = { bare: [], outbox: [], hashing: [] };
    for (let round = -1; round < ROUNDS; round++) {
      const [bare, outbox, hashing] = [
        await measureBare(makeWork(Number(callers), entries)),
        await measureOutbox(makeWork(Number(callers), entries), true),
        await measureOutbox(makeWork(Number(callers), entries), false),
      ];
      // The first warms up.
      if (round < 0) continue;
      rates.bare.push(bare);
      rates.outbox.push(outbox);
      rates.hashing.push(hashing);
    }
    const cells = [rates.bare, rates.outbox, rates.hashing].map((rate) => median(rate).toFixed(0).padStart(12));
    const ratios = [rates.outbox, rates.hashing].map((rate) => percent(ratioOf(rate, rates.bare)).padStart(13));
    console.log(`  ${callers.padStart(3)} at a time${" ".repeat(6)}${[...cells, ...ratios].join("")}`);
  }
}

/** The delay of the event loop at p99, in milliseconds, while something is done. */
async function delayDuring(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await work();
  histogram.disable();
  return histogram.percentile(99) / 1e6;
}

async function slowDisk(): Promise<void> {
  const idle = await delayDuring(async () => await new Promise((resolve) => setTimeout(resolve, 3000)));
  console.log(`\nThe event loop's delay at p99 (idle: ${idle.toFixed(2)} ms) when a sync takes ${SLOW_SYNC_MS} ms`);
  for (const callers of [1, 8, 64, 256]) {
    const path = join(folder, `slow-${callers}.db`);
    const outbox = await openTrialOutbox({ path, maxBacklog: 1e9 }, { syncDelayMs: SLOW_SYNC_MS });
    const work = makeWork(callers, callers * 100);
    const delay = await delayDuring(async () => await measure(work, (entry, head) => outbox.append([entry], head)));
    await outbox.close();
    console.log(
      `  ${String(callers).padStart(3)} at a time ${delay.toFixed(2).padStart(8)} ms   at most 5 ms ${delay <= 5 ? "met" : "NOT MET"}`,
    );
  }
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(0)} %`;
}

try {
  await compare();
  await slowDisk();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
