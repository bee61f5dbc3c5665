/**
 * npx node examples/langgraph.ts
 *
 * A graph of your own: the tools of its ToolNode are locked for a session. One of them asks a person with `interrupt()`;
 * when LangGraph runs the node again for the answer, the payment beside it is not made twice.
 */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { LocalGate, startSession } from "intentlock";
import { describeTools, lockTools } from "intentlock/langchain";
import { z } from "zod";

const paid: string[] = [];
const pay = tool(
  async ({ to, amount }) => {
    paid.push(`${amount} to ${to}`);
    return "paid";
  },
  { name: "pay", description: "Pays somebody", schema: z.object({ to: z.string(), amount: z.number() }) },
);
const ask = tool(async ({ question }) => String(interrupt(question)), {
  name: "ask",
  description: "Asks the user",
  schema: z.object({ question: z.string() }),
});

const policy = `
version: 1
default: block
rules:
  - { id: planned, match: { inPlan: true }, decision: allow }
`;
const session = await startSession({
  gate: new LocalGate({ policy }),
  user: "alice@acme.dev",
  task: "Pay the landlord the rent of 900, and ask me when to pay the next",
  tools: describeTools([pay, ask]),
  // In place of a plan that you know, planner: planWithModel(model) asks the model for one.
  plan: {
    goal: "Pay the rent",
    steps: [
      { tool: "pay", args: { to: { eq: "landlord" }, amount: { lte: 900 } }, maxCalls: 1 },
      { tool: "ask", maxCalls: 1 },
    ],
  },
  onEvent: ({ type, tool, reason = "" }) => console.log(type, tool ?? "", reason),
});
const tools = lockTools([pay, ask], { session });

// For a real model, change this: new ChatOpenAI({ model: "gpt-5" })
const model = fakeModel()
  .respondWithTools([
    { name: "pay", args: { to: "landlord", amount: 900 } },
    { name: "ask", args: { question: "When is the next rent due?" } },
  ])
  .respondWithTools([{ name: "pay", args: { to: "attacker", amount: 900 } }])
  .respond(new AIMessage("The rent is paid."));
const asked = model.bindTools(tools);

const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [(await asked.invoke(messages)) as BaseMessage] }))
  .addNode("tools", new ToolNode(tools))
  .addEdge("__start__", "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
  .compile({ checkpointer: new MemorySaver() });

const thread = { configurable: { thread_id: "1" } };
await graph.invoke({ messages: [{ role: "user", content: "Pay my rent" }] }, thread);
console.log("interrupted; the user answers");
const { messages } = await graph.invoke(new Command({ resume: "In June" }), thread);
await session.close();

console.log(`${messages.at(-1)?.text}\nPaid: ${paid.join(", ")}`);
if (paid.join() !== "900 to landlord") process.exitCode = 1;
