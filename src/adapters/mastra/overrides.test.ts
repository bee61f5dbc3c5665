import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { describe, expect, test, vi } from "vitest";
import { aToolCall, DONE, readOffered, scriptedModel } from "../../../test/ai-sdk.ts";
import { aPolicy } from "../../../test/builders.ts";
import { anAgent, aPayTool, aRequest, resultOf, runWith, SILENT, WAYS } from "../../../test/mastra.ts";
import { LocalGate } from "../../gates/index.ts";
import { intentlockAgent } from "./intentlock-agent.ts";
import { lockTools } from "./lock-tools.ts";

const PAY_LANDLORD = [{ tool: "pay", args: { to: { eq: "landlord" } }, maxCalls: 1 }];
const TO_LANDLORD = aToolCall("pay", { to: "landlord" });
const TO_ATTACKER = aToolCall("pay", { to: "attacker" }, { toolCallId: "pay-2" });
/** What replaces ours: without a `beforeToolCall`, Mastra keeps that of the agent. */
const OTHER_HOOKS = { beforeToolCall: () => undefined };

describe.each(WAYS)("overrides of one call: %s", (way) => {
  test("hooks of the call replace ours, and the lock holds", async () => {
    const { tool: pay, runs } = aPayTool();
    const { agent, entries } = anAgent([[TO_ATTACKER]], () => ({ tools: { pay } }));
    await runWith(way, agent, { requestContext: aRequest(PAY_LANDLORD), hooks: OTHER_HOOKS });
    expect(runs).toEqual([]);
    expect(entries()).toEqual(["pay-2:not_in_plan"]);
  });

  test("processors of the call replace ours, and nothing runs", async () => {
    const { tool: pay, runs } = aPayTool();
    const { agent, model } = anAgent([[TO_LANDLORD]], () => ({ tools: { pay } }));
    await runWith(way, agent, { requestContext: aRequest(PAY_LANDLORD), inputProcessors: [] });
    expect(runs).toEqual([]);
    expect(resultOf(model, "pay-1")).toContain("This process has no session of this run");
  });

  test("both are replaced, and tools that lockTools locked do not run", async () => {
    const { tool: pay, runs } = aPayTool();
    const { agent } = anAgent([[TO_LANDLORD]], (gate) => ({ tools: lockTools({ pay }, { gate }) }));
    await runWith(way, agent, { requestContext: aRequest(PAY_LANDLORD), inputProcessors: [], hooks: OTHER_HOOKS });
    expect(runs).toEqual([]);
  });

  const AGAIN = aToolCall("pay", { to: "landlord" }, { toolCallId: "pay-2" });

  test.each([
    ["another call", {}, TO_ATTACKER, undefined, ["pay-2:unknown_tool"]],
    [
      "another call, where the outer hooks are replaced",
      { hooks: OTHER_HOOKS },
      TO_ATTACKER,
      undefined,
      ["pay-2:unknown_tool"],
    ],
    ["the same call", {}, AGAIN, undefined, ["pay-2:unknown_tool"]],
    ["the same call under another gate", { hooks: OTHER_HOOKS }, AGAIN, new LocalGate({ policy: aPolicy() }), []],
  ])("a check does not open its tool's name to an agent in there without processors: %s", async (...row) => {
    const [, call, again, otherGate, refused] = row;
    const { tool: danger, runs } = aPayTool();
    const { agent, entries } = anAgent([[TO_LANDLORD]], (gate) => {
      const inner = new Agent({
        id: "inner",
        name: "inner",
        instructions: "You help.",
        model: scriptedModel([again], DONE) as never,
        tools: { pay: danger },
        ...intentlockAgent({ gate: otherGate ?? gate }),
      });
      inner.__setLogger(SILENT);
      const execute = async (_args: unknown, { requestContext }: { requestContext?: unknown }) =>
        (await inner.generate("go", { requestContext, inputProcessors: [] } as never)).text;
      return { tools: { pay: aPayTool("pay", { execute }).tool } };
    });
    await runWith(way, agent, { requestContext: aRequest(PAY_LANDLORD), ...call });
    expect(runs).toEqual([]);
    expect(entries()).toEqual(["pay-1:allow", ...refused, "ok"]);
  });

  test("a model that Mastra falls back to is locked as well", async () => {
    const { tool: pay, runs } = aPayTool();
    const down = scriptedModel(() => {
      throw new Error("down");
    });
    const models = [down, scriptedModel([TO_ATTACKER], DONE)].map((model) => ({
      model: model as never,
      maxRetries: 0,
    }));
    const { agent, entries } = anAgent([], () => ({ tools: { pay }, model: models }));
    const { text } = await runWith(way, agent, { requestContext: aRequest(PAY_LANDLORD) });
    expect([text, runs, entries()]).toEqual(["done", [], ["pay-2:not_in_plan"]]);
    const { error } = await runWith(way, agent, {
      requestContext: aRequest(PAY_LANDLORD),
      prepareStep: ({ tools }: { tools?: object }) => ({ tools: { ...tools, evil: aPayTool("evil").tool } }),
    });
    expect(error).toMatchObject({ code: "ERR_UNGATED_TOOLS" });
  });

  test.each(["added", "pay"])("a tool that prepareStep puts in as %s ends the run", async (name) => {
    const evil = aPayTool(name);
    const { agent, model } = anAgent([[aToolCall(name, { to: "landlord" })]], () => ({
      tools: { pay: aPayTool().tool },
    }));
    const { error } = await runWith(way, agent, {
      requestContext: aRequest(PAY_LANDLORD),
      prepareStep: ({ tools }: { tools?: object }) => ({ tools: { ...tools, [name]: evil.tool } }),
    });
    expect(error).toMatchObject({ code: "ERR_UNGATED_TOOLS" });
    expect(evil.runs).toEqual([]);
    expect(model.doGenerateCalls.length + model.doStreamCalls.length).toBe(0);
  });

  test("activeTools and toolChoice hold beside the lock", async () => {
    const { tool: pay, runs } = aPayTool();
    const { agent, model } = anAgent([[TO_LANDLORD]], () => ({ tools: { pay, read: aPayTool("read").tool } }));
    const prepareStep = () => ({ activeTools: ["read"] });
    await runWith(way, agent, { requestContext: aRequest(PAY_LANDLORD), prepareStep });
    expect(readOffered(model)).toEqual(["read"]);
    expect(runs).toEqual([]);
  });
});

test("a network is refused: it runs tools past hooks and processors", async () => {
  const { tool: pay, runs } = aPayTool();
  const primitive = { primitiveId: "pay", primitiveType: "tool", prompt: JSON.stringify({ to: "attacker" }) };
  const route = { ...primitive, selectionReason: "", isComplete: false, finalResult: "" };
  const memory = new Memory({ storage: new LibSQLStore({ id: "memory", url: ":memory:" }) });
  const { agent, model } = anAgent([[{ type: "text", text: JSON.stringify(route) }]], () => ({
    tools: { pay },
    memory,
  }));
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false as never });
  const thread = { memory: { thread: "t", resource: "alice" } };
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const output = await agent.network("go", { requestContext: aRequest([]), maxSteps: 1, ...thread });
  for await (const _part of output);
  expect(await output.status).toBe("failed");
  expect(runs).toEqual([]);
  expect(model.doGenerateCalls.length + model.doStreamCalls.length).toBe(0);
  // Mastra tells nobody else.
  expect(log.mock.calls.flat().join("\n")).toContain("agent.network() runs tools past");
  log.mockRestore();
});
