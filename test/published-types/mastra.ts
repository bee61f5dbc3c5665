/** The same for Mastra, whose own declarations do not compile. */
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { LocalGate } from "intentlock";
import { intentlockAgent, lockTools } from "intentlock/mastra";
import { z } from "zod";

const gate = new LocalGate({ policy: "" });
const pay = createTool({
  id: "pay",
  description: "Pays",
  inputSchema: z.object({ to: z.string() }),
  execute: async ({ to }) => ({ paid: to }),
});
const tools = lockTools({ pay }, { gate });
export const id: "pay" = tools.pay.id;
export const agent = new Agent({
  id: "agent",
  name: "agent",
  instructions: "You pay.",
  model: "openai/gpt-5",
  tools,
  ...intentlockAgent({ gate }),
});
