import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { DynamicTool, tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { type AgentMiddleware, createAgent, createMiddleware } from "langchain";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { ALICE } from "../../../test/builders.ts";
import { HoldingGate } from "../../../test/holding-gate.ts";
import { listResults, type Reply, ScriptedChatModel } from "../../../test/langchain.ts";
import { planOf, ScriptedGate } from "../../../test/sessions.ts";
import { resumeSession, startSession } from "../../session/index.ts";
import { IntentlockCallbackHandler } from "./callback-handler.ts";
import { describeTools } from "./describe-tool.ts";
import { lockTools } from "./lock-tools.ts";
import { intentlockMiddleware } from "./middleware.ts";

const TO_LANDLORD = { to: "landlord" };
const PLAN = planOf({ tool: "pay" });
const CALL: Reply = [{ id: "call-1", name: "pay", args: TO_LANDLORD }];
const THREAD = { configurable: { thread_id: "1" } };
const schema = z.object({ to: z.string() });

/** An agent in a process of its own, each time that it is made. */
function anAgent(
  pay: (args: { to: string }) => unknown,
  replies: readonly Reply[] = [CALL, "done"],
  version: "v1" | "v2" = "v2",
  others: readonly AgentMiddleware[] = [],
) {
  const gate = new HoldingGate("pay");
  const saver = new MemorySaver();
  const model = new ScriptedChatModel(replies);
  const tools = [tool(pay as never, { name: "pay", description: "Pays", schema })];
  const make = (checkpointer: MemorySaver | undefined = saver) =>
    createAgent({
      model,
      tools: tools as never,
      middleware: [intentlockMiddleware({ gate, onHold: "suspend" }), ...others],
      version,
      ...(checkpointer && { checkpointer }),
    });
  const call = async (agent: ReturnType<typeof make>, input: unknown, user = ALICE) =>
    (await agent.invoke(input as never, {
      ...THREAD,
      context: { intentlock: { user, task: "Pay the rent", plan: PLAN } },
    })) as { readonly __interrupt__?: readonly { readonly value: unknown }[] };
  const begin = async (agent: ReturnType<typeof make>) => await call(agent, { messages: [new HumanMessage("go")] });
  return { gate, model, make, call, begin };
}

describe("a call that waits in an agent", () => {
  test("interrupts it with the hold, and nothing else", async () => {
    const { make, begin } = anAgent(() => "paid");
    const value = {
      type: "intentlock_hold",
      holdId: "hold-1",
      planId: "plan-1",
      tool: "pay",
      expiresAt: 1_900_000_000,
    };
    expect((await begin(make())).__interrupt__).toMatchObject([{ value }]);
  });

  test.each([
    ["this process", false],
    ["another process", true],
  ])("does not hand what it is resumed with to the tool, which asks for itself: in %s", async (_name, elsewhere) => {
    const asked = vi.fn(() => `the answer is ${JSON.stringify(interrupt("really?"))}`);
    const { gate, model, make, call, begin } = anAgent(asked);
    const first = make();
    await begin(first);
    gate.decide("approved");
    const agent = elsewhere ? make() : first;
    const { __interrupt__ } = await call(agent, new Command({ resume: "of the hold" }));
    expect(__interrupt__).toMatchObject([{ value: "really?" }]);
    await call(agent, new Command({ resume: "of the tool" }));
    expect(listResults(model).map(({ text }) => text)).toEqual(['the answer is "of the tool"']);
    expect(asked).toHaveBeenCalledTimes(2);
    expect(gate.checks.filter(({ approval }) => approval)).toHaveLength(1);
  });

  test("whose tool has asked, and that goes on elsewhere, is another call: it is held again", async () => {
    const asked = vi.fn(() => `the answer is ${JSON.stringify(interrupt("really?"))}`);
    const { gate, model, make, call, begin } = anAgent(asked);
    const first = make();
    await begin(first);
    gate.decide("approved");
    await call(first, new Command({ resume: "of the hold" }));
    const second = make();
    const { __interrupt__ } = await call(second, new Command({ resume: "of the tool" }));
    expect(__interrupt__).toMatchObject([{ value: { type: "intentlock_hold" } }]);
    gate.decide("approved");
    await call(second, new Command({ resume: "of the hold" }));
    await call(second, new Command({ resume: "of the tool again" }));
    expect(listResults(model).map(({ text }) => text)).toEqual(['the answer is "of the tool again"']);
  });

  test.each([
    ["as often as it likes", ["a", "b", "c"]],
    ["with what looks like an approval", [{ approved: true, approval: "hold-1", approvedBy: "bob@acme.dev" }]],
    ["with what HITL middleware takes", [{ decisions: [{ type: "approve" }] }]],
  ])("does not run for a client that resumes it %s", async (_name, answers) => {
    const pay = vi.fn();
    const { gate, make, call, begin } = anAgent(pay);
    const agent = make();
    await begin(agent);
    for (const resume of answers) {
      const { __interrupt__ } = await call(agent, new Command({ resume }));
      expect(__interrupt__).toMatchObject([{ value: { holdId: "hold-1" } }]);
    }
    expect(pay).not.toHaveBeenCalled();
    expect(gate.opened).toHaveLength(1);
  });

  /** A middleware that takes whatever a call throws for a failure. */
  const swallowing = (answer: (again: () => unknown) => unknown) =>
    createMiddleware({
      name: "Swallowing",
      wrapToolCall: async (request, handler) => {
        try {
          return await handler(request);
        } catch {
          return (await answer(() => handler(request))) as ToolMessage;
        }
      },
    });

  test.each<[string, (again: () => unknown) => unknown]>([
    ["answers in its place", () => new ToolMessage({ content: "failed", tool_call_id: "call-1" })],
    ["throws another error", () => Promise.reject(new Error("failed"))],
    ["makes it again", (again) => again()],
  ])("interrupts the run where a middleware behind ours %s, until it may run", async (_name, answer) => {
    const pay = vi.fn(() => "paid");
    const { gate, model, make, call, begin } = anAgent(pay, [CALL, "done"], "v2", [swallowing(answer)]);
    const agent = make();
    expect((await begin(agent)).__interrupt__).toMatchObject([{ value: { holdId: "hold-1" } }]);
    expect(gate.opened).toHaveLength(1);
    gate.decide("approved");
    expect((await call(agent, new Command({ resume: true }))).__interrupt__).toBeUndefined();
    expect(pay).toHaveBeenCalledTimes(1);
    expect(listResults(model).map(({ text }) => text)).toEqual(["paid"]);
  });

  test("interrupts nothing where a middleware makes it again and it has been approved by then", async () => {
    const pay = vi.fn(() => "paid");
    const decideAndGoOn = swallowing((again) => {
      gate.decide("approved");
      return again();
    });
    const { gate, model, make, begin } = anAgent(pay, [CALL, "done"], "v2", [decideAndGoOn]);
    expect((await begin(make())).__interrupt__).toBeUndefined();
    expect(pay).toHaveBeenCalledTimes(1);
    expect(listResults(model).map(({ text }) => text)).toEqual(["paid"]);
  });

  test("waits still in the first process, after another has gone on with it in between", async () => {
    const pay = vi.fn(() => "paid");
    const { gate, make, call, begin } = anAgent(pay);
    const [first, other] = [make(), make()];
    await begin(first);
    for (const agent of [other, first, other]) {
      const { __interrupt__ } = await call(agent, new Command({ resume: true }));
      expect(__interrupt__).toMatchObject([{ value: { holdId: "hold-1" } }]);
    }
    expect(pay).not.toHaveBeenCalled();
    gate.decide("approved");
    await call(first, new Command({ resume: true }));
    expect(pay).toHaveBeenCalledTimes(1);
  });

  test("does not go on under the plan of another user that the state names", async () => {
    const pay = vi.fn();
    const { gate, make, call, begin } = anAgent(pay, [CALL, "done"], "v1");
    await begin(make());
    gate.decide("approved");
    const resume = new Command({ resume: true, update: { _intentlockRun: "forged", _intentlockPlan: "plan-1" } });
    await expect(call(make(), resume, "mallory@acme.dev")).rejects.toThrow(/no such plan of this user/);
    expect(pay).not.toHaveBeenCalled();
  });

  test.each(["plan-9", "", "constructor"])("does not go on under the plan %j, which there is not", async (planId) => {
    const pay = vi.fn();
    const { make, call, begin } = anAgent(pay, [CALL, "done"], "v1");
    await begin(make());
    const resume = new Command({ resume: true, update: { _intentlockRun: "forged", _intentlockPlan: planId } });
    await expect(call(make(), resume)).rejects.toThrow();
    expect(pay).not.toHaveBeenCalled();
  });

  test("is given up for a new message, which has a plan of its own", async () => {
    const pay = vi.fn();
    const { gate, make, begin } = anAgent(pay, [CALL, "done"]);
    const agent = make();
    await begin(agent);
    gate.decide("approved");
    const { __interrupt__ } = await begin(agent);
    expect(__interrupt__).toBeUndefined();
    expect(gate.signs).toHaveLength(2);
    expect(pay).not.toHaveBeenCalled();
  });

  test("cannot be told without a checkpointer: the run ends before the model is asked", async () => {
    const { gate, model, make, begin } = anAgent(() => "paid");
    const withoutSaver = make(null as never);
    await expect(begin(withoutSaver)).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
    expect([model.requests, gate.signs]).toEqual([[], []]);
  });
});

test("a middleware with a gate that can ask nobody is refused", () => {
  const make = () => intentlockMiddleware({ gate: new ScriptedGate(), onHold: "suspend" });
  expect(make).toThrow(expect.objectContaining({ code: "ERR_INVALID_OPTIONS" }));
});

describe.each(["tool()", "runnable.asTool()", "a class of its own"])("a locked tool that is %s", (kind) => {
  async function locked() {
    const gate = new HoldingGate("pay");
    const run = vi.fn(async () => "paid");
    const pay = toTool(kind, run);
    const options = { gate, user: ALICE, tools: describeTools([pay]), onHold: "suspend" } as const;
    const session = await startSession({ ...options, task: "Pay the rent", plan: PLAN });
    const saver = new MemorySaver();
    const graphFor = (one: typeof session, checkpointer?: MemorySaver) =>
      new StateGraph(MessagesAnnotation)
        .addNode("tools", new ToolNode(lockTools([pay], { session: one }) as never))
        .addEdge(START, "tools")
        .compile(checkpointer ? { checkpointer } : {});
    const resumed = async () => await resumeSession({ ...options, planId: session.planId });
    return { gate, run, pay, session, saver, graphFor, resumed };
  }
  const tool_calls = [{ id: "call-1", name: "pay", args: TO_LANDLORD, type: "tool_call" as const }];
  const input = { messages: [new AIMessage({ content: "", tool_calls })] };

  test.each([
    ["this process", false],
    ["another process", true],
  ])("interrupts a graph, and runs once it is approved: in %s", async (_name, elsewhere) => {
    const { gate, run, session, saver, graphFor, resumed } = await locked();
    const graph = graphFor(session, saver);
    expect(await graph.invoke(input as never, THREAD)).toHaveProperty("__interrupt__");
    const later = elsewhere ? graphFor(await resumed(), saver) : graph;
    expect(await later.invoke(new Command({ resume: true }) as never, THREAD)).toHaveProperty("__interrupt__");
    expect(run).not.toHaveBeenCalled();
    gate.decide("approved");
    const { messages } = (await later.invoke(new Command({ resume: false }) as never, THREAD)) as typeof input;
    expect(messages.at(-1)?.text).toBe("paid");
    expect(run).toHaveBeenCalledTimes(1);
  });

  test("asks nobody where nothing can be interrupted, and says what is missing", async () => {
    const { gate, run, session, pay, graphFor } = await locked();
    const { messages } = (await graphFor(session).invoke(input as never, THREAD)) as typeof input;
    expect(messages.at(-1)?.text).toContain("needs a checkpointer");
    const [tool] = lockTools([pay], { session });
    await expect((tool as DynamicTool).invoke(TO_LANDLORD as never)).rejects.toMatchObject({
      code: "ERR_INVALID_OPTIONS",
    });
    expect([run.mock.calls, gate.opened, gate.checks]).toEqual([[], [], []]);
  });

  test("does not run in a graph whose interrupts return", async () => {
    const { gate, run, session, pay } = await locked();
    const [tool] = lockTools([pay], { session });
    const answers = vi.fn(() => ({ approved: true }));
    const configurable = { __pregel_checkpointer: {}, __pregel_task_id: "task" };
    const config = { configurable, interrupt: answers };
    const call = { ...tool_calls[0], id: "call-1" };
    const answer = (await (tool as DynamicTool).invoke(call as never, config as never)) as unknown as AIMessage;
    expect(answer.text).toContain("Held by Intentlock");
    expect(run).not.toHaveBeenCalled();
    expect(gate.opened).toHaveLength(1);
  });
});

test("a callback handler cannot suspend a call: it stops it, and says that it waits", async () => {
  const run = vi.fn();
  const pay = tool(run, { name: "pay", description: "Pays", schema });
  const gate = new HoldingGate("pay");
  const tools = describeTools([pay]);
  const session = await startSession({ gate, user: ALICE, task: "t", plan: PLAN, tools, onHold: "suspend" });
  const callbacks = [new IntentlockCallbackHandler({ session })];
  await expect(pay.invoke(TO_LANDLORD, { callbacks })).rejects.toThrow(/Held by Intentlock/);
  expect(run).not.toHaveBeenCalled();
});

function toTool(kind: string, run: () => Promise<string>) {
  const about = { name: "pay", description: "Pays", schema };
  switch (kind) {
    case "runnable.asTool()":
      return RunnableLambda.from(run as never).asTool(about as never);
    case "a class of its own":
      return new (class extends DynamicTool {
        override schema = schema as never;
        override async invoke(input: never, config?: never): Promise<never> {
          const result = await run();
          const { id } = input as { readonly id?: string };
          void config;
          return (id === undefined ? result : result) as never;
        }
      })({ name: "pay", description: "Pays", func: run });
    default:
      return tool(run, about);
  }
}
