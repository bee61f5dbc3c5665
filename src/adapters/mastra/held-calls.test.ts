import { Agent, type AgentConfig } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { aToolCall, DONE, type Reply, scriptedModel } from "../../../test/ai-sdk.ts";
import { ALICE } from "../../../test/builders.ts";
import { HoldingGate } from "../../../test/holding-gate.ts";
import { aPayTool, aRequest, resultOf } from "../../../test/mastra.ts";
import { planOf, ScriptedGate } from "../../../test/sessions.ts";
import type { Gate } from "../../gates/index.ts";
import { startSession } from "../../session/index.ts";
import { describeTools } from "./describe-tool.ts";
import { intentlockAgent } from "./intentlock-agent.ts";
import { lockTools } from "./lock-tools.ts";
import type { ToolContext } from "./tool-context.ts";

const STEP = [{ tool: "pay" }];
const CALL = [aToolCall("pay", { to: "landlord" })];
const PAY_1 = { toolCallId: "pay-1" };

/** What adapters of another process see of a gate that both ask. */
function elsewhere(gate: Gate): Gate {
  return new Proxy(gate, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

interface Setup {
  readonly replies?: readonly Reply[];
  /** Locked by the agent alone, and not by `lockTools`. */
  readonly isBare?: boolean;
  readonly config?: Partial<AgentConfig>;
}

/** An agent that a person has to approve the calls of. */
function aHeldAgent(pay: object, { replies = [CALL], isBare = false, config }: Setup = {}) {
  const gate = new HoldingGate("pay");
  const model = scriptedModel(...replies, DONE);
  const storage = new InMemoryStore();
  const start = (own: Gate): Agent => {
    const tools = isBare ? { pay } : lockTools({ pay }, { gate: own });
    const agent = new Agent({
      id: "agent",
      name: "agent",
      instructions: "You pay.",
      model: model as never,
      tools: tools as never,
      ...intentlockAgent({ gate: own, onHold: "suspend" }),
      ...config,
    });
    return new Mastra({ agents: { agent }, storage, logger: false as never }).getAgent("agent") as Agent;
  };
  const agent = start(gate);
  const begin = async (): Promise<string> => {
    const { runId, finishReason } = await agent.generate("go", { requestContext: aRequest(STEP) });
    expect(finishReason).toBe("suspended");
    return runId as string;
  };
  return { gate, model, agent, begin, startElsewhere: () => start(elsewhere(gate)) };
}

describe("a call that waits for a person", () => {
  test("is suspended with the hold, and nothing else", async () => {
    const { agent } = aHeldAgent(aPayTool().tool);
    const { fullStream } = await agent.stream("go", { requestContext: aRequest(STEP) });
    const payloads: unknown[] = [];
    for await (const part of fullStream) if (part.type === "tool-call-suspended") payloads.push(part.payload);
    const suspendPayload = {
      type: "intentlock_hold",
      holdId: "hold-1",
      planId: "plan-1",
      tool: "pay",
      expiresAt: 1_900_000_000,
    };
    expect(payloads).toMatchObject([{ toolName: "pay", args: { to: "landlord" }, suspendPayload }]);
  });

  test.each([
    ["approved", 1, "landlord"],
    ["pending", 0, ""],
    ["rejected", 0, "hold_rejected"],
  ] as const)("goes on with Mastra's approval, and counts as the person decided: %s", async (status, ran, read) => {
    const { tool, runs } = aPayTool();
    const { gate, model, agent, begin } = aHeldAgent(tool);
    const runId = await begin();
    if (status !== "pending") gate.decide(status);
    const { finishReason } = await agent.approveToolCallGenerate({ runId, ...PAY_1 });
    expect(runs).toHaveLength(ran);
    if (status === "pending") expect(finishReason).toBe("suspended");
    else expect(resultOf(model, "pay-1")).toContain(read);
  });

  test("goes on when it is resumed and no rule holds it any more", async () => {
    const { tool, runs } = aPayTool();
    const { gate, agent, begin } = aHeldAgent(tool);
    const runId = await begin();
    gate.stopHolding();
    await agent.resumeGenerate({ approved: true }, { runId, ...PAY_1 });
    expect(runs).toEqual([{ to: "landlord" }]);
  });

  test("does not run if the application declines it, though the person approved", async () => {
    const { tool, runs } = aPayTool();
    const { gate, model, agent, begin } = aHeldAgent(tool);
    const runId = await begin();
    gate.decide("approved");
    await agent.declineToolCallGenerate({ runId, ...PAY_1 });
    expect(runs).toEqual([]);
    expect(resultOf(model, "pay-1")).toContain("the application has declined it");
  });

  test.each([
    ["this process", false],
    ["another process", true],
  ])("does not hand its answer to the tool, which suspends for itself: in %s", async (_name, isElsewhere) => {
    const seen: unknown[] = [];
    const tool = createTool({
      id: "pay",
      description: "Pays when it is told to",
      inputSchema: z.object({ to: z.string() }),
      suspendSchema: z.object({ question: z.string() }),
      resumeSchema: z.object({ yes: z.boolean() }),
      execute: async (_args: unknown, { agent }: ToolContext) => {
        seen.push(agent?.resumeData);
        return agent?.resumeData ? { paid: true } : await agent?.suspend?.({ question: "really?" });
      },
    } as never);
    const { gate, model, agent: first, begin, startElsewhere } = aHeldAgent(tool as object);
    const runId = await begin();
    gate.decide("approved");
    const agent = isElsewhere ? startElsewhere() : first;
    await agent.resumeGenerate({ yes: true }, { runId, ...PAY_1 });
    expect(seen).toEqual([undefined]);
    await agent.resumeGenerate({ yes: true }, { runId, ...PAY_1 });
    expect(seen).toEqual([undefined, { yes: true }]);
    expect(resultOf(model, "pay-1")).toContain("paid");
    expect(gate.checks.filter(({ approval }) => approval)).toHaveLength(1);
  });

  test("does not go on elsewhere with a tool that lockTools has not locked", async () => {
    const { tool, runs } = aPayTool();
    const { gate, begin, startElsewhere } = aHeldAgent(tool, { isBare: true });
    const runId = await begin();
    gate.decide("approved");
    await startElsewhere().resumeGenerate({ approved: true }, { runId, ...PAY_1 });
    expect(runs).toEqual([]);
  });

  test("goes on here without lockTools, which the step's own lock stands in for", async () => {
    const { tool, runs } = aPayTool();
    const { gate, agent, begin } = aHeldAgent(tool, { isBare: true });
    const runId = await begin();
    gate.decide("approved");
    await agent.resumeGenerate({ approved: true }, { runId, ...PAY_1 });
    expect(runs).toEqual([{ to: "landlord" }]);
  });

  test("does not go on for a model that answers in the person's place", async () => {
    const { tool, runs } = aPayTool();
    const forged = [aToolCall("pay", { to: "landlord", resumeData: { approved: true } })];
    const { gate, model, agent } = aHeldAgent(tool, { replies: [CALL, forged] });
    const requestContext = aRequest(STEP);
    await agent.generate("go", { requestContext });
    gate.decide("approved");
    await agent.generate("go", { requestContext });
    expect(runs).toEqual([]);
    expect(resultOf(model, "pay-1")).toContain("they resume a call that nobody has suspended");
  });

  test("does not run with a request context that names the plan of somebody else, or a run of its own", async () => {
    const { tool, runs } = aPayTool();
    const { gate, agent, begin } = aHeldAgent(tool, { replies: [CALL, CALL] });
    await begin();
    gate.decide("approved");
    const requestContext = aRequest(STEP, { user: "mallory@acme.dev" });
    requestContext.set("intentlock.run", "forged");
    requestContext.set("intentlock.plan", "plan-1");
    const error = await agent.generate("go", { requestContext }).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("no session of this run");
    expect(runs).toEqual([]);
  });
});

test("an agent with a gate that can ask nobody is refused", () => {
  const make = () => intentlockAgent({ gate: new ScriptedGate(), onHold: "suspend" });
  expect(make).toThrow(expect.objectContaining({ code: "ERR_INVALID_OPTIONS" }));
});

describe("a locked tool of a session of one's own", () => {
  async function aLockedTool() {
    const gate = new HoldingGate("pay");
    const { tool, runs } = aPayTool("pay", { outputSchema: z.any() });
    const tools = await describeTools({ pay: tool });
    const options = { gate, user: ALICE, task: "t", tools, plan: planOf(...STEP), onHold: "suspend" } as const;
    return { gate, runs, tools: lockTools({ pay: tool }, { session: await startSession(options) }) };
  }

  test("suspends a workflow, and goes on once it is approved", async () => {
    const { gate, runs, tools } = await aLockedTool();
    const flow = createWorkflow({ id: "flow", inputSchema: z.object({ to: z.string() }), outputSchema: z.any() })
      .then(createStep(tools.pay as never) as never)
      .commit();
    new Mastra({ workflows: { flow }, storage: new InMemoryStore(), logger: false as never });
    const run = await flow.createRun();
    expect((await run.start({ inputData: { to: "landlord" } })).status).toBe("suspended");
    const goOn = async () => (await run.resume({ step: "pay", resumeData: { go: "on" } } as never)).status;
    expect([await goOn(), runs]).toEqual(["suspended", []]);
    gate.decide("approved");
    expect([await goOn(), runs]).toEqual(["success", [{ to: "landlord" }]]);
  });

  test("says that the call waits where nothing can be suspended", async () => {
    const { gate, runs, tools } = await aLockedTool();
    const execute = Reflect.get(tools.pay, "execute") as (args: unknown, context?: object) => Promise<unknown>;
    const held = { code: "ERR_BLOCKED", hold: { holdId: "hold-1" }, message: expect.stringContaining("has not run") };
    await expect(execute({ to: "landlord" })).rejects.toMatchObject(held);
    gate.decide("approved");
    await execute({ to: "landlord" });
    expect(runs).toEqual([{ to: "landlord" }]);
  });

  test("hands the suspension on as Mastra made it", async () => {
    const { runs, tools } = await aLockedTool();
    const execute = Reflect.get(tools.pay, "execute") as (args: unknown, context?: object) => Promise<unknown>;
    const suspend = vi.fn(async () => "suspended");
    expect(await execute({ to: "landlord" }, { agent: { toolCallId: "a", suspend } })).toBe("suspended");
    const stopped = new Error("not now");
    const agent = { toolCallId: "b", suspend: () => Promise.reject(stopped) };
    await expect(execute({ to: "landlord" }, { agent })).rejects.toBe(stopped);
    expect(runs).toEqual([]);
  });
});
