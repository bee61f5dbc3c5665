import { Agent, type AgentConfig } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { ToolSearchProcessor } from "@mastra/core/processors";
import { InMemoryStore } from "@mastra/core/storage";
import { describe, expect, test } from "vitest";
import { type IntentlockAgentOptions, intentlockAgent, lockTools } from "../../src/adapters/mastra/index.ts";
import type { PlanStep } from "../../src/core/index.ts";
import type { Gate } from "../../src/gates/index.ts";
import { aToolCall, DONE, type Reply, scriptedModel } from "../ai-sdk.ts";
import { HoldingGate } from "../holding-gate.ts";
import { aPayTool, aRequest, resultOf, runWith, SILENT, WAYS } from "../mastra.ts";

const LANDLORD = { to: "landlord" };
const ATTACKER = { to: "attacker" };
const PAY: readonly PlanStep[] = [{ tool: "pay" }];
const pay = (args: object, toolCallId: string): Reply => [aToolCall("pay", args, { toolCallId })];

/** An agent in a process of its own, each time that it is started; a person approves every payment. */
function aHeldAgent(
  replies: readonly Reply[],
  config: (gate: Gate) => Partial<AgentConfig>,
  options: Pick<IntentlockAgentOptions, "inputProcessors"> = {},
) {
  const gate = new HoldingGate("pay");
  const model = scriptedModel(...replies, DONE);
  const storage = new InMemoryStore();
  const start = (): Agent => {
    // What the adapter knows of runs, it knows by the gate.
    const own = new Proxy(gate, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const locks = intentlockAgent({ gate: own, onHold: "suspend", ...options });
    const given = { id: "agent", name: "agent", instructions: "You pay.", model: model as never, ...locks };
    const agent = new Agent({ ...given, ...config(own) } as AgentConfig);
    agent.__setLogger(SILENT);
    return new Mastra({ agents: { agent }, storage, logger: false as never }).getAgent("agent") as Agent;
  };
  return { gate, model, start };
}

describe("mastra#19633: a decision that comes late", () => {
  /** The person has said no to a payment, and the model has asked for another, which waits. */
  async function secondWaits() {
    const { tool, runs } = aPayTool();
    const { gate, start } = aHeldAgent([pay(LANDLORD, "pay-1"), pay(ATTACKER, "pay-2")], (own) => ({
      tools: lockTools({ pay: tool }, { gate: own }),
    }));
    const agent = start();
    const { runId = "" } = await agent.generate("go", { requestContext: aRequest(PAY) });
    gate.decide("rejected");
    await agent.declineToolCallGenerate({ runId, toolCallId: "pay-1" });
    expect(gate.opened).toEqual(['["pay",{"to":"landlord"}]', '["pay",{"to":"attacker"}]']);
    return { agent, runId, runs, gate };
  }

  test.each(["pay-1", "pay-2"])("and names %s approves nothing that no person has seen", async (toolCallId) => {
    const { agent, runId, runs } = await secondWaits();
    await agent.approveToolCallGenerate({ runId, toolCallId }).catch(() => undefined);
    expect(runs).toEqual([]);
  });

  test("for one call runs no other", async () => {
    const { agent, runId, runs, gate } = await secondWaits();
    gate.decide("approved", { tool: "pay", args: LANDLORD });
    await agent.approveToolCallGenerate({ runId, toolCallId: "pay-2" }).catch(() => undefined);
    expect(runs).toEqual([]);
  });
});

describe.each([
  ["the tool", {}, { requireApproval: true }],
  ["the agent", { requireToolApproval: true }, {}],
])("with an approval of Mastra's own, of %s", (_name, call, over) => {
  test.each([
    ["at once", false],
    ["while it waits for a person, who then approves it", true],
  ])("mastra#20487: what the application declines does not run: %s", async (_case, isHeld) => {
    const { tool, runs } = aPayTool("pay", over);
    const { gate, start } = aHeldAgent([pay(LANDLORD, "pay-1")], (own) => ({
      tools: lockTools({ pay: tool }, { gate: own }),
    }));
    const agent = start();
    const { runId = "" } = await agent.generate("go", { requestContext: aRequest(PAY), ...call });
    const which = { runId, toolCallId: "pay-1" };
    if (isHeld) await agent.approveToolCallGenerate(which);
    expect(gate.opened).toHaveLength(isHeld ? 1 : 0);
    gate.decide("approved");
    await agent.declineToolCallGenerate(which);
    expect(runs).toEqual([]);
  });

  test("mastra#20487: what a person has rejected does not run, though the application approves it", async () => {
    const { tool, runs } = aPayTool("pay", over);
    const { gate, model, start } = aHeldAgent([pay(LANDLORD, "pay-1")], (own) => ({
      tools: lockTools({ pay: tool }, { gate: own }),
    }));
    const agent = start();
    const { runId = "" } = await agent.generate("go", { requestContext: aRequest(PAY), ...call });
    const approve = async () => await agent.approveToolCallGenerate({ runId, toolCallId: "pay-1" });
    await approve();
    expect(gate.opened).toHaveLength(1);
    gate.decide("rejected");
    await approve().catch(() => undefined);
    expect(runs).toEqual([]);
    expect(resultOf(model, "pay-1")).not.toContain("paid");
  });
});

test.each(WAYS)("mastra#20934: who approves a call in an agent in the agent sees that call, %s", async (way) => {
  const { tool, runs } = aPayTool();
  const { gate, start } = aHeldAgent([[aToolCall("agent-inner", { prompt: "Be nice" })]], (own) => {
    const inner = new Agent({
      id: "inner",
      name: "inner",
      description: "Helps",
      instructions: "You help.",
      model: scriptedModel(pay(ATTACKER, "inner-1"), DONE) as never,
      tools: lockTools({ pay: tool }, { gate: own }),
      ...intentlockAgent({ gate: own, onHold: "suspend" }),
    } as AgentConfig);
    inner.__setLogger(SILENT);
    // The plan of the request is of the outer agent's tools.
    return { agents: { inner }, tools: lockTools({ pay: tool }, { gate: own }) };
  });
  const { error } = await runWith(way, start(), { requestContext: aRequest([{ tool: "agent-inner" }, ...PAY]) });
  expect(error).toBeUndefined();
  // The call, and not the prompt that the agent was called with.
  expect(gate.opened).toEqual(['["pay",{"to":"attacker"}]']);
  expect(runs).toEqual([]);
});

test("mastra#19301: a call that waits is found and goes on in a process that comes after, once", async () => {
  const { tool, runs } = aPayTool();
  const { gate, start } = aHeldAgent([pay(LANDLORD, "pay-1")], (own) => ({
    tools: lockTools({ pay: tool }, { gate: own }),
  }));
  await start().generate("go", { requestContext: aRequest(PAY) });
  const { runs: waiting } = await start().listSuspendedRuns();
  expect(waiting).toMatchObject([{ toolCalls: [{ toolCallId: "pay-1", toolName: "pay" }] }]);
  const { runId = "" } = waiting[0] ?? {};
  const goOn = async () => await start().approveToolCallGenerate({ runId, toolCallId: "pay-1" });
  await goOn();
  expect([runs, gate.opened.length]).toEqual([[], 1]);
  gate.decide("approved");
  await goOn();
  expect(runs).toEqual([LANDLORD]);
  await goOn().catch(() => undefined);
  expect(runs).toEqual([LANDLORD]);
});

/** A processor that gives the tools of the step back as they are, in another object. */
const handsOn = {
  id: "hands-on",
  processInputStep: async ({ tools }: { readonly tools?: object }) => ({ tools: { ...tools } }),
} as never;

interface Path {
  readonly config?: object;
  readonly own?: Pick<IntentlockAgentOptions, "inputProcessors">;
  readonly call?: object;
}

/** The ways on which a tool comes to an agent: no lock, and no flag, is its own. */
const PATHS: readonly (readonly [string, (tool: object) => Path])[] = [
  ["of the agent", (pay) => ({ config: { tools: { pay } } })],
  ["that a processor hands on", (pay) => ({ config: { tools: { pay } }, own: { inputProcessors: [handsOn] } })],
  ["made for the run", (pay) => ({ config: { tools: () => ({ pay }) } })],
  ["of a toolset", (pay) => ({ call: { toolsets: { set: { pay } } } })],
];

describe.each(WAYS)("%s", (way) => {
  test.each(PATHS)("mastra#14996: a tool %s waits for its person", async (_name, path) => {
    const { tool, runs } = aPayTool();
    const { config, own, call } = path(tool);
    const { gate, start } = aHeldAgent([pay(LANDLORD, "pay-1")], () => config ?? {}, own);
    const { finishReason } = await runWith(way, start(), { requestContext: aRequest(PAY), ...call });
    expect([finishReason, runs]).toEqual(["suspended", []]);
    expect(gate.opened).toEqual(['["pay",{"to":"landlord"}]']);
  });

  test("mastra#15776: a tool that the model has searched for runs in no plan that was made before", async () => {
    const { tool, runs } = aPayTool();
    const search = new ToolSearchProcessor({ tools: { pay: tool } as never });
    const replies = [
      [aToolCall("load_tool", { toolName: "pay" })],
      pay(LANDLORD, "pay-1"),
      DONE,
      pay(LANDLORD, "pay-2"),
    ];
    const { gate, start } = aHeldAgent(replies, () => ({}), { inputProcessors: [search] });
    const agent = start();
    const first = await runWith(way, agent, { requestContext: aRequest([{ tool: "load_tool" }]) });
    expect([first.text, runs]).toEqual(["done", []]);
    expect(gate.checks.map(({ tool, refusal }) => [tool, refusal?.reason])).toEqual([
      ["load_tool", undefined],
      ["pay", "unknown_tool"],
    ]);
    // It is there when the next run begins, and waits for its person like any other.
    const second = await runWith(way, agent, { requestContext: aRequest(PAY) });
    expect([second.finishReason, runs]).toEqual(["suspended", []]);
    expect(gate.opened).toEqual(['["pay",{"to":"landlord"}]']);
  });
});
