import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CliIo } from "../src/cli/io.ts";
import { runCli } from "../src/cli/run-cli.ts";
import { type AuditEntry, digestEntry, type PublicKey } from "../src/core/index.ts";
import { type AuditSink, LocalGate, MemoryAuditSink } from "../src/gates/index.ts";
import type { Store } from "../src/server/store/index.ts";
import { AGENT, ALICE, aPlan, aPolicy, KEY, NOW } from "./builders.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";

/** What a command line has printed, and what it ended with. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder in which command lines run; it is gone when the test is over. */
export interface Shell {
  readonly folder: string;
  run(argv: readonly string[], over?: Partial<CliIo>): Promise<Ended>;
  /** {@link run} of one that answers with JSON. */
  json(argv: readonly string[], over?: Partial<CliIo>): Promise<{ readonly code: number; readonly value: unknown }>;
  /** Writes a file and gives its path. */
  write(name: string, content: string | Uint8Array): string;
}

export function aShell(env: CliIo["env"] = {}): Shell {
  const folder = mkdtempSync(join(tmpdir(), "command-line-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const run: Shell["run"] = async (argv, over = {}) => {
    const printed = { out: "", err: "" };
    const stdout = { write: (text: string) => (printed.out += text) };
    const stderr = { write: (text: string) => (printed.err += text) };
    const code = await runCli(argv, { stdout, stderr, env, cwd: folder, ...over });
    return { code, ...printed };
  };
  return {
    folder,
    run,
    json: async (argv, over) => {
      const { code, out, err } = await run([...argv, "--json"], over);
      return { code, value: JSON.parse(out === "" ? err : out) };
    },
    write: (name, content) => {
      const file = join(folder, name);
      writeFileSync(file, content);
      return file;
    },
  };
}

/** A plan under which one call was allowed, ran, and one was blocked; its entries go into the sink. */
export async function recordPlan(sink: AuditSink, agent: string = AGENT): Promise<string> {
  const clock = (): number => NOW * 1000;
  const gate = new LocalGate({ policy: aPolicy(), audit: sink, signingKey: KEY, agent, clock });
  const plan = await gate.sign(aSignRequest({ plan: aPlan({ maxCalls: 1 }) }));
  const { seq = -1 } = await gate.check(plan, aGateCall());
  await gate.record({ type: "outcome", planId: plan.planId, decisionSeq: seq, status: "ok" });
  await gate.check(plan, aGateCall({ callId: "call-2" }));
  await gate.record({ type: "closed", planId: plan.planId });
  return plan.planId;
}

/** {@link recordPlan}, in a server's store. */
export async function storePlan(
  store: Store,
  { agentId, apiKeyId }: { readonly agentId: string; readonly apiKeyId: string },
): Promise<string> {
  const sink = new MemoryAuditSink();
  const id = await recordPlan(sink, agentId);
  const { entries } = sink;
  const signed = entries[0]?.event;
  const token = signed?.type === "plan_signed" ? signed.token : "";
  const { jti } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  await store.plans.create({
    id,
    agentId,
    apiKeyId,
    userEmail: ALICE,
    task: { instruction: "Pay the rent" },
    taskDigest: "sha256:0",
    plan: aPlan({ maxCalls: 1 }),
    tools: {},
    clientKey: null,
    createdAt: NOW * 1000,
    status: "open",
    token: { jti, token, expiresAt: (NOW + 900) * 1000 },
    entries,
    head: digestEntry(entries.at(-1) as AuditEntry),
  });
  return id;
}

/** The key set with which {@link recordPlan} signs. */
export const KEY_SET: { readonly keys: readonly PublicKey[] } = { keys: [KEY.publicKey] };
