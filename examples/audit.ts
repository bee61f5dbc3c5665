/**
 * npx node examples/audit.ts
 *
 * Every decision leaves an audit entry, chained to the one before. With the gate's public key, anybody can verify the
 * chain and decide everything again from the signed token. A changed entry shows.
 */
import { generateText, isStepCount, tool } from "ai";
import { LocalGate, MemoryAuditSink, verifyAudit } from "intentlock";
import { withIntentlock } from "intentlock/vercel-ai";
import { z } from "zod";
import { call, scriptedModel } from "./scripted-model.ts";

const tools = {
  transfer: tool({
    description: "Sends money",
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: async ({ to }) => `sent to ${to}`,
  }),
};
const script = [
  [call("transfer", { to: "landlord", euros: 900 })],
  [call("transfer", { to: "eve", euros: 900 })],
  "The rent is paid.",
];
const model = scriptedModel(script); // For a real model, change this line: openai("gpt-5")

const policy = `
version: 1
default: block
rules:
  - { id: planned, match: { inPlan: true }, decision: allow }
`;
const audit = new MemoryAuditSink();
const gate = new LocalGate({ policy, audit });
const task = "Pay the landlord 900 euros";
const locked = await withIntentlock(tools, {
  gate,
  user: "alice@acme.dev",
  task,
  model,
  plan: {
    goal: task,
    steps: [{ tool: "transfer", args: { to: { eq: "landlord" }, euros: { eq: 900 } }, maxCalls: 1 }],
  },
});
await generateText({ ...locked.settings, prompt: task, stopWhen: isStepCount(20) });
await gate.close();

const options = { keys: [await gate.publicKey()], audience: gate.agent };
for (const { seq, event } of audit.entries) {
  console.log(seq, event.type, ...(event.type === "decision" ? [event.tool, event.verdict, event.reason ?? ""] : []));
}
const [log] = await verifyAudit(audit.entries, options);
console.log(`${log?.recomputed} of ${log?.decisions} decisions recomputed, ${log?.problems.length} problems`);

const forged = audit.entries.map((entry) => (entry.seq === 3 ? { ...entry, at: 0 } : entry));
const [broken] = await verifyAudit(forged, options);
console.log(
  "after a change of entry 3:",
  ...(broken?.problems.map(({ seq, problem }) => `entry ${seq}: ${problem}`) ?? []),
);
if (log?.recomputed !== 2 || log.problems.length > 0 || broken?.problems.length === 0) process.exitCode = 1;
