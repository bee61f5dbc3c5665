import { HumanMessage } from "@langchain/core/messages";
import {
  Command,
  END,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type StateSnapshot,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { expect, test } from "vitest";
import { describeTools, lockTools } from "../../src/adapters/langchain/index.ts";
import { startSession } from "../../src/session/index.ts";
import { ALICE } from "../builders.ts";
import { aTestCall, aTestTool } from "../framework-conformance/describe-framework.ts";
import { toTools } from "../framework-conformance/langchain-run.ts";
import { HoldingGate } from "../holding-gate.ts";
import { listResults, ScriptedChatModel } from "../langchain.ts";
import { planOf } from "../sessions.ts";

const THREAD = { configurable: { thread_id: "1" } };

test.each<[string, (ids: readonly string[]) => unknown]>([
  ["one answer for all", () => true],
  ["an answer for each", (ids) => Object.fromEntries(ids.map((id) => [id, { approved: true }]))],
])(
  "langgraph#6624: of three calls that wait in one node, those that a person approved run, with %s",
  async (_name, answer) => {
    const gate = new HoldingGate("pay");
    const pay = aTestTool();
    const tools = toTools([pay]);
    const people = ["landlord", "attacker", "plumber"];
    const calls = people.map((to) => aTestCall({ id: to, args: { to } }));
    const model = new ScriptedChatModel([calls.map(({ id, tool: name, args }) => ({ id, name, args })), "done"]);
    const session = await startSession({
      gate,
      user: ALICE,
      task: "Pay them",
      tools: describeTools(tools),
      plan: planOf({ tool: "pay" }),
      onHold: "suspend",
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode("tools", new ToolNode(lockTools(tools, { session })))
      .addEdge(START, "agent")
      .addConditionalEdges("agent", toolsCondition, ["tools", END])
      .addEdge("tools", "agent")
      .compile({ checkpointer: new MemorySaver() });
    const listPending = async (): Promise<string[]> => {
      const { tasks } = (await graph.getState(THREAD)) as StateSnapshot;
      return tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id ?? ""));
    };
    await graph.invoke({ messages: [new HumanMessage("go")] }, THREAD);
    // All three were asked about, though the node tells of one alone.
    expect(gate.opened).toHaveLength(3);
    for (const to of people) {
      gate.decide(to === "attacker" ? "rejected" : "approved", { tool: "pay", args: { to } });
    }
    for (let turn = 0; turn < 4; turn++) {
      const ids = await listPending();
      if (ids.length === 0) break;
      await graph.invoke(new Command({ resume: answer(ids) }), THREAD);
    }
    expect(await listPending()).toEqual([]);
    expect(pay.runs).toHaveLength(2);
    expect(pay.runs).toEqual(expect.arrayContaining([{ to: "landlord" }, { to: "plumber" }]));
    expect(
      listResults(model)
        .map(({ tool_call_id }) => tool_call_id)
        .toSorted(),
    ).toEqual(people.toSorted());
  },
);
