/**
 * npx node examples/audit.ts
 *
 * Every decision leaves an audit entry, chained to the one before. With the gate's public key, anybody can verify the
 * chain and decide everything again from the signed token. A changed entry shows.
 */
import { generateText, isStepCount, tool } from "ai";
import { type AuditEntry, generateSigningKey, LocalGate, MemoryAuditSink } from "intentlock";
import { agreesWithRecord, openPlanToken, recomputeDecision, verifyChain } from "intentlock/core";
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
const signingKey = await generateSigningKey();
const audit = new MemoryAuditSink();
const gate = new LocalGate({ policy, signingKey, audit, agent: "rent-agent" });
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

const { planId } = locked.session;
const chain = verifyChain(audit.entries, planId);
console.log(`chain: ${chain.problem ? chain.problem.problem : "verified"}`);

const [first] = audit.entries;
if (first?.event.type !== "plan_signed") throw new Error("the first entry is the signed plan");
const token = await openPlanToken(first.event.token, [signingKey.publicKey], { audience: "rent-agent" });
let isSound = chain.problem === undefined;
for (const { seq, event } of audit.entries) {
  if (event.type !== "decision") {
    console.log(seq, event.type);
    continue;
  }
  const again = recomputeDecision(event, token);
  const agrees = again !== undefined && agreesWithRecord(event, again);
  isSound &&= agrees;
  console.log(seq, event.type, event.tool, event.verdict, event.reason ?? "", agrees ? "(recomputed)" : "(WRONG)");
}

const forged = structuredClone(audit.entries) as AuditEntry[];
const blocked = forged.findIndex(({ event }) => event.type === "decision" && event.verdict === "block");
forged[blocked] = { ...forged[blocked], at: 0 } as AuditEntry;
const { problem } = verifyChain(forged, planId);
console.log(`after a change of entry ${blocked}: entry ${problem?.seq}: ${problem?.problem}`);
if (!isSound || !problem) process.exitCode = 1;
