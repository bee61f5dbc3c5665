import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent, ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import {
  describeTools,
  IntentlockCallbackHandler,
  lockTools,
  planWithModel,
} from "../../src/adapters/langchain/index.ts";
import { resumeSession, startSession } from "../../src/session/index.ts";
import { ALICE } from "../builders.ts";
import { ScriptedChatModel } from "../langchain.ts";
import { describeFramework } from "./describe-framework.ts";
import { describeSuspending } from "./describe-suspending.ts";
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
  name: "LangGraph createReactAgent",
  sharesSession: true,
  // ToolNode has no place where others see them.
  answersAlone: { answeredIds: true, unknownTools: true, providerTools: true },
  transforms: "parsed once",
  describe: async (tools) => describeTools(toTools(tools)),
  lock: async ({ gate, tools, task, plan, declared, turns, history, onEvent, providerTool, tampering }) => {
    const planner = aPlanner(declared);
    const given = toTools(tools);
    const session = await startSession({
      gate,
      user: ALICE,
      task,
      tools: describeTools(given),
      ...(plan ? { plan } : { planner: planWithModel(planner) }),
      onEvent,
    });
    const locked = tamper(
      lockTools([...given, ...toServerTools(providerTool)], { session }) as typeof given,
      tampering,
    );
    return {
      run: async (mode, signal) => {
        const model = new ScriptedChatModel(turns.map(toReply));
        const graph = createReactAgent({ llm: model, tools: new ToolNode(locked) });
        const callbacks = [new IntentlockCallbackHandler({ session })];
        const result = await runGraph(graph, { mode, history, callbacks, ...(signal && { signal }) });
        return summarize(model, planner, result);
      },
    };
  },
});

describeSuspending({
  name: "LangGraph StateGraph",
  undecided: "suspended",
  tellsOneAlone: ["generate", "stream"],
  suspend: async ({ gate, tools: given, plan, turns, onEvent }) => {
    const model = new ScriptedChatModel(turns.map(toReply));
    const checkpointer = new MemorySaver();
    return suspendingRun(model, async ({ planId, user = ALICE }) => {
      const tools = toTools(given);
      const common = { gate, user, tools: describeTools(tools), onHold: "suspend", onEvent } as const;
      const session =
        planId === undefined
          ? await startSession({ ...common, task: "Pay the rent", plan })
          : await resumeSession({ ...common, planId });
      const graph = new StateGraph(MessagesAnnotation)
        .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
        .addNode("tools", new ToolNode(lockTools(tools, { session })))
        .addEdge(START, "agent")
        .addConditionalEdges("agent", toolsCondition, ["tools", END])
        .addEdge("tools", "agent")
        .compile({ checkpointer });
      return { graph: graph as never, config: {} };
    });
  },
});
