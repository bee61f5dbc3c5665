/**
 * What a decision by the server costs: HttpGate against a Hono endpoint that does one PostgreSQL insert for each request,
 * 64 at a time. Run: `INTENTLOCK_TEST_DATABASE_URL=postgres://… npm run bench:server`, with `-- --save` for
 * docs/benchmarks.md. See README.md.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Outcome, SignedPlan } from "../src/gates/gate.ts";
import { HttpGate } from "../src/gates/http.ts";
import { median } from "./check/measure.ts";
import { judge, reportResults } from "./results.ts";

const ROUNDS = 5;
const CALLERS = 64;
const CALLS = 4000;
const TARGET = 0.4;

const database = process.env["INTENTLOCK_TEST_DATABASE_URL"];
if (!database) throw new Error("Set INTENTLOCK_TEST_DATABASE_URL to a PostgreSQL that may be written to");

const script = new URL("server/servers.ts", import.meta.url).pathname;
const child = spawn(process.execPath, [script, database], { stdio: ["pipe", "pipe", "inherit"] });
const [line] = await once(createInterface(child.stdout), "line");
const { url, bareUrl, apiKey } = JSON.parse(String(line)) as Record<"url" | "bareUrl" | "apiKey", string>;

const args = { repo: "acme/public-app", issue: 7, body: "Thanks for the report. This is fixed on main. ".repeat(3) };
const tool = "github_post_comment";
const fingerprint = `sha256:${"0".repeat(64)}`;

const gate = new HttpGate({ baseUrl: url, apiKey });
const plans: SignedPlan[] = [];
for (let index = 0; index < CALLERS; index++) {
  const plan = { goal: "Answer the issue", steps: [{ tool }] };
  const task = { instruction: "Answer the issue" };
  plans.push(await gate.sign({ user: "alice@acme.dev", task, plan, tools: { [tool]: fingerprint } }));
}

/** Allowed calls whose outcome is not recorded yet. That is done between the rounds. */
let running: Outcome[] = [];

async function decide(caller: number, call: number): Promise<void> {
  const asked = { callId: `call_${call}`, tool, args, fingerprint };
  const { verdict, planId, seq } = await gate.check(plans[caller] as SignedPlan, asked);
  if (verdict !== "allow" || seq === undefined) throw new Error(`not allowed: ${verdict}`);
  running.push({ type: "outcome", planId, decisionSeq: seq, status: "ok" });
}

async function insert(_caller: number, call: number): Promise<void> {
  const body = JSON.stringify({ callId: `call_${call}`, tool, args, fingerprint });
  const response = await fetch(bareUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!response.ok) throw new Error(`not inserted: ${response.status}`);
  await response.json();
}

async function settle(): Promise<void> {
  const outcomes = running;
  running = [];
  for (let at = 0; at < outcomes.length; at += CALLERS) {
    await Promise.all(outcomes.slice(at, at + CALLERS).map((outcome) => gate.record(outcome)));
  }
}

/** Requests a second, with every caller waiting for one answer at a time. */
async function measure(work: (caller: number, call: number) => Promise<void>): Promise<number> {
  const started = performance.now();
  const each = Math.ceil(CALLS / CALLERS);
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let call = 0; call < each; call++) await work(caller, call);
    }),
  );
  return (each * CALLERS) / ((performance.now() - started) / 1000);
}

await measure(insert);
await measure(decide);
await settle();
const bare: number[] = [];
const ours: number[] = [];
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  bare.push(await measure(insert));
  ours.push(await measure(decide));
  await settle();
  ratios.push((ours.at(-1) as number) / (bare.at(-1) as number));
}
const ratio = median(ratios);
const perSecond = (rates: readonly number[]) => `${Math.round(median(rates))}/s`;
reportResults("server", {
  tables: [
    {
      title: `${CALLERS} callers`,
      columns: ["measured", "target", ""],
      rows: [
        ["one insert a request", perSecond(bare), "", ""],
        ["HttpGate.check()", perSecond(ours), "", ""],
        judge("ratio", { value: ratio.toFixed(2), target: `at least ${TARGET}`, met: ratio >= TARGET }),
      ],
    },
  ],
  figures: {},
});

child.stdin.end();
await once(child, "exit");
