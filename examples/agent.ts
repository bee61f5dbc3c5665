/**
 * npx node examples/agent.ts
 *
 * The SDK's ToolLoopAgent: one plan a task, so one agent a task.
 */
import { ToolLoopAgent, tool } from "ai";
import { LocalGate } from "intentlock";
import { withIntentlock } from "intentlock/vercel-ai";
import { z } from "zod";
import { call, scriptedModel } from "./scripted-model.ts";

const closed: number[] = [];
const tools = {
  close_ticket: tool({
    description: "Closes a support ticket",
    inputSchema: z.object({ ticket: z.int() }),
    execute: async ({ ticket }) => {
      closed.push(ticket);
      return `closed ${ticket}`;
    },
  }),
};

const script = [
  [call("close_ticket", { ticket: 7 })],
  [call("close_ticket", { ticket: 8 })],
  "Ticket 7 is closed; I may not close 8.",
];
const model = scriptedModel(script); // For a real model, change this line: openai("gpt-5")

const policy = `
version: 1
default: block
rules:
  - { id: planned, match: { inPlan: true }, decision: allow }
`;
const task = "Close ticket 7";
const locked = await withIntentlock(tools, {
  gate: new LocalGate({ policy }),
  user: "alice@acme.dev",
  task,
  plan: { goal: task, steps: [{ tool: "close_ticket", args: { ticket: { eq: 7 } }, maxCalls: 1 }] },
  model,
  onEvent: ({ type, tool, reason = "" }) => console.log(type, tool ?? "", reason),
});
const agent = new ToolLoopAgent({ ...locked.settings, instructions: "You work for the help desk." });
const { text } = await agent.generate({ prompt: task });
await locked.session.close();

console.log(`${text}\nClosed: ${closed.join(", ")}`);
if (closed.join() !== "7") process.exitCode = 1;
