/** A program as a user has it: strict, and with the declarations of all libraries checked. It has to compile after the build. */
import { tool as langchainTool } from "@langchain/core/tools";
import { tool } from "ai";
import { LocalGate, startSession } from "intentlock";
import { createGuard, defineTool, PlanSource, providerFromEnv, toolset } from "intentlock/guard";
import { describeTools, IntentlockCallbackHandler, installTripwire, lockTools } from "intentlock/langchain";
import { intentlockMiddleware } from "intentlock/langchain/middleware";
import { claimToolCall, interceptToolCall, isAllowed } from "intentlock/mcp";
import { withIntentlock } from "intentlock/vercel-ai";
import { createAgent } from "langchain";
import { z } from "zod";

const gate = new LocalGate({ policy: "" });
const user = "alice@acme.dev";
const task = "Pay the rent";
const plan = { goal: task, steps: [] };

const pay = tool({ inputSchema: z.object({ to: z.string() }), execute: async ({ to }) => ({ paid: to }) });
export const locked = await withIntentlock({ pay }, { gate, user, task, plan });

const send = langchainTool(async ({ to }) => `sent to ${to}`, { name: "send", schema: z.object({ to: z.string() }) });
const session = await startSession({ gate, user, task, plan, tools: describeTools([send]) });
const [lockedSend] = lockTools([send], { session });
export const sent: string = await lockedSend.invoke(
  { to: "landlord" },
  { callbacks: [new IntentlockCallbackHandler({ session })] },
);
const agent = createAgent({ model: "openai:gpt-5", tools: [send], middleware: [intentlockMiddleware({ gate })] });
await agent.invoke({ messages: [] }, { context: { intentlock: { user, task } } });
// @ts-expect-error A run says for whom it is.
await agent.invoke({ messages: [] }, { context: {} });
installTripwire();

const list = defineTool({
  name: "list",
  description: "Lists issues",
  schema: z.object({ repo: z.string() }),
  impl: ({ repo }) => [`an issue of ${repo}`],
});
const guard = createGuard({ provider: providerFromEnv({}), gate, ...toolset([list]), planSource: PlanSource.EXPLICIT });
export const { text } = await guard.run({ user, task, goal: task, steps: [{ tool: "list" }] });
// @ts-expect-error The plan is given.
await guard.run({ user, task });

const verdict = await interceptToolCall("{}", { session });
export const sentOn: object | undefined = isAllowed(verdict) ? (await claimToolCall(verdict))?.args : verdict.response;
