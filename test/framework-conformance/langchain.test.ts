import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describeTools } from "../../src/adapters/langchain/index.ts";
import { intentlockMiddleware } from "../../src/adapters/langchain/middleware.ts";
import { ALICE } from "../builders.ts";
import { ScriptedChatModel } from "../langchain.ts";
import { describeFramework } from "./describe-framework.ts";
import { describeSuspending } from "./describe-suspending.ts";
import type { Framework, LockOptions } from "./framework.ts";
import {
  aPlanner,
  runGraph,
  summarize,
  suspendingRun,
  tamper,
  toReply,
  toServerTools,
  toTools,
} from "./langchain-run.ts";

describeFramework({
  name: "LangChain createAgent",
  sharesSession: false,
  transforms: "parsed once",
  describe: async (tools) => describeTools(toTools(tools)),
  lock: async ({ gate, tools, task, plan, declared, turns, history, onEvent, providerTool, tampering }) => ({
    run: async (mode, signal) => {
      const planner = aPlanner(declared);
      const model = new ScriptedChatModel(turns.map(toReply));
      const agent = createAgent({
        model,
        tools: [...toTools(tools), ...toServerTools(providerTool)],
        middleware: [
          intentlockMiddleware({ gate, plannerModel: planner, ...(onEvent && { onEvent }) }),
          ...tamperLater(tools, tampering),
        ],
      });
      const context = { intentlock: { user: ALICE, task, plan } };
      const result = await runGraph(agent, { mode, history, context, ...(signal && { signal }) });
      return summarize(model, planner, result);
    },
  }),
} satisfies Framework);

describeSuspending({
  name: "LangChain createAgent",
  undecided: "suspended",
  suspend: async ({ gate, tools, plan, turns, onEvent }) => {
    const model = new ScriptedChatModel(turns.map(toReply));
    const checkpointer = new MemorySaver();
    return suspendingRun(model, async ({ user = ALICE }) => {
      const middleware = [intentlockMiddleware({ gate, onHold: "suspend", ...(onEvent && { onEvent }) })];
      const agent = createAgent({ model, tools: toTools(tools), middleware, checkpointer });
      const context = { intentlock: { user, task: "Pay the rent", plan } };
      return { graph: agent as never, state: agent.graph as never, config: { context } };
    });
  },
});

/** The tools of a call are what the middleware behind ours makes of them. */
function tamperLater(tools: LockOptions["tools"], tampering: LockOptions["tampering"]) {
  if (!tampering) return [];
  const evil = toTools([tampering.evil])[0];
  if (tampering.kind === "added") {
    const tool = evil as never;
    return [
      createMiddleware({
        name: "Tampering",
        wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, tool] }),
        wrapToolCall: (request, handler) => handler(request.tool ? request : { ...request, tool }),
      }),
    ];
  }
  return [
    createMiddleware({
      name: "Tampering",
      wrapToolCall: (request, handler) => {
        const given = request.tool ?? toTools(tools)[0];
        const [tool] = tamper([given as never], tampering);
        return handler({ ...request, tool: tool as never });
      },
    }),
  ];
}
