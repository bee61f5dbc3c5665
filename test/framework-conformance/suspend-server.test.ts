import { tool as langchainTool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { createAgent } from "langchain";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { intentlockMiddleware } from "../../src/adapters/langchain/middleware.ts";
import { intentlockAgent, lockTools } from "../../src/adapters/mastra/index.ts";
import { withIntentlock } from "../../src/adapters/vercel-ai/index.ts";
import { HttpGate } from "../../src/gates/http.ts";
import { HybridGate } from "../../src/gates/hybrid.ts";
import type { Gate } from "../../src/gates/index.ts";
import { aToolCall, DONE, scriptedModel } from "../ai-sdk.ts";
import { ALICE, aPolicy, aRule } from "../builders.ts";
import { ScriptedChatModel } from "../langchain.ts";
import { aFolder, inProcess } from "../server-gates.ts";
import { approveHold, aServer, type ServerUnderTest } from "../servers.ts";
import { planOf } from "../sessions.ts";

const PLAN = planOf({ tool: "pay", maxCalls: 1 });
const ARGS = { to: "landlord" };
const IDENTITY = { user: ALICE, task: "Pay the rent", plan: PLAN };
const schema = z.object({ to: z.string() });

/** A run in two processes, each with a gate of its own. */
type Story = (process: { readonly gate: Gate; readonly run: (args: unknown) => Promise<string> }) => {
  readonly begin: () => Promise<unknown>;
  readonly goOn: (gate: Gate) => Promise<unknown>;
};

const aiSdk: Story = ({ gate, run }) => {
  const tools = { pay: tool({ inputSchema: schema, execute: run }) };
  const model = scriptedModel([aToolCall("pay", ARGS)], DONE);
  const common = { user: ALICE, model, onHold: "suspend" } as const;
  const settings = { stopWhen: isStepCount(5), maxRetries: 0 };
  const messages: ModelMessage[] = [{ role: "user", content: "go" }];
  let planId = "";
  return {
    begin: async () => {
      const locked = await withIntentlock(tools, { ...common, gate, task: IDENTITY.task, plan: PLAN });
      planId = locked.session.planId;
      const { responseMessages, content } = await generateText({ ...locked.settings, ...settings, messages });
      const [request] = content.filter((part) => part.type === "tool-approval-request");
      const approvalId = request?.approvalId ?? "";
      messages.push(...responseMessages);
      messages.push({ role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] });
    },
    goOn: async (other) => {
      const locked = await withIntentlock(tools, { ...common, gate: other, resume: planId });
      await generateText({ ...locked.settings, ...settings, messages });
      return JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
    },
  };
};

const langchain: Story = ({ gate, run }) => {
  const model = new ScriptedChatModel([[{ name: "pay", args: ARGS }], "done"]);
  const checkpointer = new MemorySaver();
  const call = async (
    one: Gate,
    go: (agent: { invoke: (...parts: never[]) => Promise<unknown> }) => Promise<unknown>,
  ) => {
    const middleware = [intentlockMiddleware({ gate: one, onHold: "suspend" })];
    const tools = [langchainTool(run, { name: "pay", description: "Pays", schema })];
    const agent = createAgent({ model, tools, middleware, checkpointer });
    await go(agent as never);
  };
  const config = { configurable: { thread_id: "1" }, context: { intentlock: IDENTITY } };
  const input = { messages: [{ role: "user", content: "go" }] };
  return {
    begin: async () => await call(gate, async (agent) => await agent.invoke(input as never, config as never)),
    goOn: async (other) =>
      await call(other, async (agent) => {
        const { graph } = agent as unknown as { readonly graph: typeof agent };
        return await graph.invoke(new Command({ resume: true }) as never, config as never);
      }),
  };
};

const mastra: Story = ({ gate, run }) => {
  const model = scriptedModel([aToolCall("pay", ARGS)], DONE);
  const storage = new InMemoryStore();
  const make = (one: Gate): Agent => {
    const pay = createTool({ id: "pay", description: "Pays", inputSchema: schema, execute: run });
    const agent = new Agent({
      id: "agent",
      name: "agent",
      instructions: "You pay.",
      model: model as never,
      tools: lockTools({ pay }, { gate: one }),
      ...intentlockAgent({ gate: one, onHold: "suspend" }),
    });
    return new Mastra({ agents: { agent }, storage, logger: false as never }).getAgent("agent") as Agent;
  };
  let runId = "";
  return {
    begin: async () => {
      const requestContext = new RequestContext();
      requestContext.set("intentlock", IDENTITY);
      const result = await make(gate).generate("go", { requestContext });
      runId = result.runId ?? "";
    },
    goOn: async (other) => {
      await make(other).resumeGenerate({ approved: true }, { runId, toolCallId: "pay-1" });
      return model.doGenerateCalls.at(-1)?.prompt ?? model.doStreamCalls.at(-1)?.prompt;
    },
  };
};

const GATES = {
  HttpGate: async (under: ServerUnderTest) => new HttpGate(await connectionOf(under)),
  // Each with an outbox of its own, as on another machine.
  HybridGate: async (under: ServerUnderTest) =>
    new HybridGate({ ...(await connectionOf(under)), outbox: `${await aFolder()}/outbox.db` }),
};

async function connectionOf(under: ServerUnderTest) {
  return { ...(await inProcess(under)), apiKey: under.agent.apiKey, clock: under.clock.now };
}

describe.each(Object.entries(GATES))("a call that waits for a person of a server: %s", (_kind, makeGate) => {
  const stories: readonly (readonly [string, Story])[] = [
    ["the AI SDK", aiSdk],
    ["LangChain", langchain],
    ["Mastra", mastra],
  ];
  const places = ["another process", "the same process"] as const;
  const rows = stories.flatMap(([name, story]) => places.map((place) => [name, place, story] as const));

  /** A run that waits, and its hold. */
  async function begun(place: (typeof places)[number], story: Story) {
    const approvers = { roles: ["approver"] } as const;
    const rule = aRule({ id: "hold-pay", match: { tool: "pay" }, decision: "hold", approvers });
    const under = await aServer({ policy: aPolicy(rule, aRule()) });
    const gate: Gate = await makeGate(under);
    const other: Gate = place === "another process" ? await makeGate(under) : gate;
    onTestFinished(async () => {
      for (const one of [gate, other]) await one.close().catch(() => undefined);
      await under.close();
    });
    const runs: unknown[] = [];
    const run = async (args: unknown): Promise<string> => {
      runs.push(args);
      return "paid";
    };
    const { begin, goOn } = story({ gate, run });
    await begin();
    expect(runs).toEqual([]);
    const holds = await under.store.holds.list({ agentId: under.agent.agentId });
    expect(holds).toMatchObject([{ tool: "pay", args: ARGS, status: "pending" }]);
    return { under, runs, holdId: holds[0]?.id ?? "", goOn: async () => await goOn(other) };
  }

  test.each(rows)("goes on, and runs once: %s, in %s", async (_name, place, story) => {
    const { under, runs, holdId, goOn } = await begun(place, story);
    await approveHold(under, holdId);
    await goOn();
    expect(runs).toEqual([ARGS]);
    // Whoever says so once more: the approval is used up.
    await goOn().catch(() => undefined);
    expect(runs).toEqual([ARGS]);
  });

  test("is asked about again when nobody has decided in time, and does not run until then", async () => {
    const { under, runs, goOn } = await begun("another process", aiSdk);
    under.clock.advance(301);
    expect(await goOn()).toContain("Held by Intentlock");
    const holds = await under.store.holds.list({ agentId: under.agent.agentId });
    expect([runs, holds.length]).toEqual([[], 2]);
  });

  test("is over for a session that goes on itself when nobody has decided in time", async () => {
    const { under, runs, goOn } = await begun("the same process", mastra);
    under.clock.advance(301);
    expect(JSON.stringify(await goOn())).toContain("Blocked by Intentlock (hold_timeout)");
    expect(runs).toEqual([]);
  });
});
