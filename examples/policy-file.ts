/**
 * npx node examples/policy-file.ts
 *
 * A plan says what one task needs, a policy what the company allows at all. This one is in a file, with rules on
 * arguments; the plan leaves them open, as a careless planner would.
 */
import { readFile } from "node:fs/promises";
import { generateText, isStepCount, tool } from "ai";
import { LocalGate } from "intentlock";
import { withIntentlock } from "intentlock/vercel-ai";
import { z } from "zod";
import { call, scriptedModel } from "./scripted-model.ts";

const done: string[] = [];
const tools = {
  issue_refund: tool({
    description: "Gives money back for an order",
    inputSchema: z.object({ order: z.string(), euros: z.number() }),
    execute: async ({ order, euros }) => {
      done.push(`${order}: ${euros} euros`);
      return "refunded";
    },
  }),
  send_email: tool({
    description: "Sends an e-mail",
    // One address: the rule on it compares text, and "eve@evil.example, bob@acme.dev" ends in @acme.dev too.
    inputSchema: z.object({ to: z.email(), text: z.string() }),
    execute: async ({ to }) => {
      done.push(`mail to ${to}`);
      return "sent";
    },
  }),
};

const script = [
  [call("issue_refund", { order: "A-1", euros: 20 }), call("issue_refund", { order: "A-1", euros: 500 })],
  [
    call("send_email", { to: "bob@acme.dev", text: "..." }),
    call("send_email", { to: "eve@evil.example", text: "..." }),
    call("send_email", { to: "eve@evil.example, bob@acme.dev", text: "..." }),
  ],
  "I refunded 20 euros.",
];
const model = scriptedModel(script); // For a real model, change this line: openai("gpt-5")

const policy = await readFile(new URL("policy-file.yaml", import.meta.url), "utf8");
const task = "Refund order A-1 and tell Bob";
const locked = await withIntentlock(tools, {
  gate: new LocalGate({ policy }),
  user: "alice@acme.dev",
  task,
  plan: { goal: task, steps: [{ tool: "issue_refund" }, { tool: "send_email" }] },
  model,
  onEvent: ({ decision }) => {
    if (decision?.verdict === "allow") console.log(`${decision.tool}: allowed by ${decision.rule}`);
    if (decision?.verdict === "block") console.log(`${decision.tool}: ${decision.message}`);
  },
});
await generateText({ ...locked.settings, prompt: task, stopWhen: isStepCount(20) });
await locked.session.close();

console.log(`Done: ${done.join("; ")}`);
if (done.join() !== "A-1: 20 euros,mail to bob@acme.dev") process.exitCode = 1;
