/**
 * What a decision by a HybridGate costs, from the call to the answer with its entry on the disk, against a bare append and
 * `fdatasync` loop; and what remains of it when the server on the same machine has to keep pace. Then the memory over
 * 100,000 decisions. Run: `INTENTLOCK_TEST_DATABASE_URL=postgres://… node --expose-gc bench/hybrid.ts [FOLDER]`. See README.md.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import type { AuditEntry } from "intentlock/core";
import { HybridGate, openOutbox, type SignedPlan } from "intentlock/gates";
import { median } from "./check/measure.ts";
import { BareLog } from "./outbox/bare-log.ts";

const ROUNDS = 5;
/** How many decide at a time, and how many decisions in a round. */
const CONCURRENCIES = { 1: 300, 8: 2000, 64: 8000, 256: 15_000 } as const;
const TARGET = 0.4;
const LONG = 100_000;

const database = process.env["INTENTLOCK_TEST_DATABASE_URL"];
if (!database) throw new Error("Set INTENTLOCK_TEST_DATABASE_URL to a PostgreSQL that may be written to");
const script = new URL("server/servers.ts", import.meta.url).pathname;
const child = spawn(process.execPath, [script, database], { stdio: ["pipe", "pipe", "inherit"] });
const [line] = await once(createInterface(child.stdout), "line");
const { url: baseUrl, apiKey } = JSON.parse(String(line)) as Record<"url" | "apiKey", string>;

const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), "hybrid-bench-"));
const tool = "github_post_comment";
const fingerprint = `sha256:${"0".repeat(64)}`;
const body = "Thanks for the report. This is fixed on main. ".repeat(3);

const outbox = await openOutbox({ path: join(folder, "outbox.db"), maxBacklog: 1e9 });
const gate = new HybridGate({ baseUrl, apiKey, outbox, closeTimeoutMs: 60_000 });

/** What the gate writes of one decision, for whoever only writes it. */
async function takeEntry(): Promise<AuditEntry> {
  const plan = await sign();
  await decide(plan, 1);
  const entry = (await outbox.entries(plan.planId)).at(-1);
  if (entry?.event.type !== "decision") throw new Error("no decision");
  await settle();
  await close([plan]);
  return entry;
}

async function close(plans: readonly SignedPlan[]): Promise<void> {
  await Promise.all(plans.map(({ planId }) => gate.record({ type: "closed", planId })));
}

/** Waits until the server has everything. */
async function upload(): Promise<void> {
  while ((await outbox.plans()).some(({ head, uploaded }) => uploaded < head.seq)) await setTimeout(20);
}

async function sign(): Promise<SignedPlan> {
  const plan = { goal: "Answer the issue", steps: [{ tool }] };
  const task = { instruction: "Answer the issue" };
  return await gate.sign({ user: "alice@acme.dev", task, plan, tools: { [tool]: fingerprint } });
}

/** Decides, and records what became of the call, as a session does: the outcome is not waited for here. */
async function decide(plan: SignedPlan, call: number): Promise<void> {
  const args = { body, issue: call, repo: "acme/public-app" };
  const { verdict, planId, seq } = await gate.check(plan, { callId: `call_${call}`, tool, args, fingerprint });
  if (verdict !== "allow" || seq === undefined) throw new Error(`not allowed: ${verdict}`);
  outcomes.push({ planId, seq });
}

let outcomes: { readonly planId: string; readonly seq: number }[] = [];

async function settle(): Promise<void> {
  const settled = outcomes;
  outcomes = [];
  await Promise.all(
    settled.map(({ planId, seq }) => gate.record({ type: "outcome", planId, decisionSeq: seq, status: "ok" })),
  );
}

/** Decisions a second, with every caller waiting for one answer at a time. */
async function measure(
  callers: number,
  total: number,
  work: (caller: number, call: number) => Promise<void>,
): Promise<number> {
  globalThis.gc?.();
  const each = Math.ceil(total / callers);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let call = 0; call < each; call++) await work(caller, call);
    }),
  );
  return (each * callers) / ((performance.now() - started) / 1000);
}

async function compare(): Promise<void> {
  const entry = await takeEntry();
  console.log("Decisions a second        bare    HybridGate     ratio                       and uploaded");
  for (const [key, total] of Object.entries(CONCURRENCIES)) {
    const callers = Number(key);
    const rates = { bare: [] as number[], ours: [] as number[], ratio: [] as number[], uploaded: [] as number[] };
    for (let round = -1; round < ROUNDS; round++) {
      // New sessions in each round, and nothing left to upload from the one before: the floor has the machine for itself.
      const plans = await Promise.all(Array.from({ length: callers }, sign));
      await upload();
      const path = join(folder, "bare.log");
      const log = new BareLog(path);
      const bare = await measure(callers, total, () => log.append(entry));
      log.close();
      rmSync(path);
      const started = performance.now();
      const ours = await measure(callers, total, (caller, call) => decide(plans[caller] as SignedPlan, call));
      await upload();
      const uploaded = outcomes.length / ((performance.now() - started) / 1000);
      await settle();
      await close(plans);
      if (round < 0) continue;
      rates.bare.push(bare);
      rates.ours.push(ours);
      rates.ratio.push(ours / bare);
      rates.uploaded.push(uploaded);
    }
    const ratio = median(rates.ratio);
    const cells = [median(rates.bare), median(rates.ours)].map((rate) => rate.toFixed(0).padStart(10));
    const verdict = `at least ${TARGET}: ${ratio >= TARGET ? "met" : "NOT MET"}`.padEnd(24);
    console.log(
      `  ${key.padStart(3)} at a time   ${cells.join("  ")}      ${ratio.toFixed(2)}   ${verdict}${median(rates.uploaded).toFixed(0).padStart(8)}`,
    );
  }
}

async function watchMemory(): Promise<void> {
  const sizes: number[] = [];
  for (let done = 0; done < LONG; done += 10_000) {
    const plans = await Promise.all(Array.from({ length: 64 }, sign));
    await measure(64, 10_000, (caller, call) => decide(plans[caller] as SignedPlan, call));
    await settle();
    await close(plans);
    await upload();
    globalThis.gc?.();
    sizes.push(process.memoryUsage().heapUsed / 1e6);
  }
  console.log(`\nMB of heap after each 10,000 of ${LONG} decisions: ${sizes.map((size) => size.toFixed(1)).join(" ")}`);
}

try {
  await compare();
  await watchMemory();
} finally {
  await gate.close();
  await outbox.close();
  rmSync(folder, { recursive: true, force: true });
  child.stdin.end();
  await once(child, "exit");
}
