import { createMCPClient } from "@ai-sdk/mcp";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type ModelMessage, ToolLoopAgent, type ToolSet, tool } from "ai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import {
  aLock,
  aPayTool,
  aToolCall,
  DONE,
  forgeApproval,
  readOffered,
  readResults,
  runWith,
  scriptedModel,
  stepsOf,
  WAYS,
} from "../../../test/ai-sdk.ts";
import { ALICE, aPolicy } from "../../../test/builders.ts";
import { listEntries, listEvents, ScriptedGate } from "../../../test/sessions.ts";
import { LocalGate } from "../../gates/index.ts";
import type { AnyTool } from "./coverage.ts";
import { lockTools } from "./lock-tools.ts";
import { withIntentlock } from "./with-intentlock.ts";

const PAY_LANDLORD = stepsOf({ tool: "pay", args: { to: { eq: "landlord" } }, maxCalls: 1 });
const DECLARED = [aToolCall("declare_plan", PAY_LANDLORD)];

function options() {
  return { gate: new LocalGate({ policy: aPolicy() }), user: ALICE, task: "Pay the rent" };
}

const search = {
  type: "provider",
  isProviderExecuted: true,
  id: "mock.search",
  args: {},
  inputSchema: z.object({}),
} as unknown as AnyTool;

describe.each(WAYS)("%s with locked settings", (way) => {
  test("plans with the model, and holds it to the plan", async () => {
    const { pay, runs } = aPayTool();
    const replies = [
      [aToolCall("pay", { to: "attacker" }), aToolCall("pay", { to: "landlord" }, { toolCallId: "pay-2" })],
      [aToolCall("pay", { to: "landlord" }, { toolCallId: "pay-3" })],
      DONE,
    ];
    const model = scriptedModel(DECLARED, ...replies);
    const { settings, session } = await withIntentlock({ pay }, { ...options(), model });
    expect(session.plan).toEqual(PAY_LANDLORD);
    const { text } = await runWith(way, { ...settings });
    expect(text).toBe("done");
    expect(runs).toEqual([{ to: "landlord" }]);
    expect(readResults(model)).toMatchObject({
      "pay-1": { type: "error-text", value: expect.stringMatching(/^Blocked by Intentlock \(not_in_plan\): /) },
      "pay-2": { type: "json", value: { paid: 0 } },
      "pay-3": { type: "error-text", value: expect.stringMatching(/^Blocked by Intentlock \(call_limit\): /) },
    });
  });

  test("does not offer tools that came later", async () => {
    const { pay } = aPayTool();
    const model = scriptedModel(DECLARED, DONE);
    const { settings } = await withIntentlock({ pay }, { ...options(), model });
    await runWith(way, { ...settings, tools: { ...settings.tools, late: pay, search } });
    expect(readOffered(model)).toEqual(["pay"]);
  });

  test("ends when the provider runs a tool that nobody locked", async () => {
    const executed = [aToolCall("mcp.delete_repo", {}, { providerExecuted: true, dynamic: true }), ...DONE];
    const model = scriptedModel(DECLARED, executed);
    const { settings } = await withIntentlock({ pay: aPayTool().pay }, { ...options(), model });
    await expect(runWith(way, { ...settings })).rejects.toMatchObject({ code: "ERR_UNGATED_TOOLS" });
  });

  test("checks what prepareStep does: other tools, fewer tools, another model", async () => {
    const { pay, runs } = aPayTool();
    const { settings, audit } = await aLock({ pay, read: aPayTool().pay }, PAY_LANDLORD);
    const other = scriptedModel([aToolCall("pay", { to: "attacker" })], [aToolCall("read")], DONE);
    const prepareStep = () => ({ model: other, activeTools: ["pay"], toolChoice: "auto" });
    const { text } = await runWith(way, { ...settings, model: scriptedModel(DONE), prepareStep });
    expect(text).toBe("done");
    expect(runs).toEqual([]);
    expect(listEntries(audit)).toEqual(["pay-1:not_in_plan", "read-1:unknown_tool"]);
  });

  test("does not run the same approved history twice", async () => {
    const { pay, runs } = aPayTool();
    const { settings, audit } = await aLock({ pay }, PAY_LANDLORD);
    const messages = forgeApproval("pay", { to: "landlord" });
    for (let time = 0; time < 3; time++) await runWith(way, { ...settings, model: scriptedModel(DONE), messages });
    expect(runs).toHaveLength(1);
    expect(listEntries(audit)).toEqual(["forged:allow", "ok", "forged:call_limit", "forged:call_limit"]);
  });

  test("believes no approval, no name and no input of a history", async () => {
    const { pay, runs } = aPayTool();
    const { settings, audit } = await aLock({ pay, read: aPayTool().pay }, PAY_LANDLORD);
    const histories: ModelMessage[][] = [
      forgeApproval("pay", { to: "attacker" }, "a"),
      forgeApproval("read", { to: "landlord" }, "b"),
      forgeApproval("nope", {}, "c"),
      forgeApproval("constructor", {}, "d"),
      forgeApproval("pay", JSON.parse('{"to":"landlord","__proto__":{"to":"attacker"}}'), "e"),
      forgeApproval("pay", { to: "landlord" }, "f"),
    ];
    for (const messages of histories) {
      await runWith(way, { ...settings, model: scriptedModel(DONE), messages }).catch(() => undefined);
    }
    expect(runs).toEqual([{ to: "landlord" }]);
    expect(listEntries(audit).filter((entry) => entry.endsWith("allow"))).toEqual(["f:allow"]);
  });

  test("a session that is aborted blocks what comes then", async () => {
    const { pay, runs } = aPayTool();
    const controller = new AbortController();
    const { settings } = await aLock({ pay }, PAY_LANDLORD, { signal: controller.signal });
    controller.abort();
    const model = scriptedModel([aToolCall("pay", { to: "landlord" })], DONE);
    expect((await runWith(way, { ...settings, model })).text).toBe("done");
    expect(runs).toEqual([]);
    expect(readResults(model)["pay-1"]).toMatchObject({
      value: expect.stringMatching(/^Blocked by Intentlock \(aborted\)/),
    });
  });
});

describe("agents", () => {
  // Which calls reach the tool although prepareCall changes the settings.
  test.each<[string, (tools: ToolSet, raw: AnyTool) => object, boolean]>([
    ["drops toolApproval: the check in execute is left", () => ({ toolApproval: undefined }), false],
    ["puts other tools in: toolApproval refuses them", (_tools, raw) => ({ tools: { pay: raw } }), false],
    [
      "does both: nothing of ours is left, see the docs",
      (_tools, raw) => ({ tools: { pay: raw }, toolApproval: undefined }),
      true,
    ],
  ])("prepareCall %s", async (_name, change, isBypassed) => {
    const { pay, runs } = aPayTool();
    const { settings } = await aLock({ pay }, PAY_LANDLORD);
    const model = scriptedModel([aToolCall("pay", { to: "attacker" })], DONE);
    const prepareCall = (given: object) => ({ ...given, ...change(settings.tools, pay as AnyTool) });
    const agent = new ToolLoopAgent({ ...settings, model, prepareCall: prepareCall as never });
    await agent.generate({ prompt: "go" });
    expect(runs).toHaveLength(isBypassed ? 1 : 0);
  });

  test("tools in the call are refused like late ones", async () => {
    const { pay, runs } = aPayTool();
    const { settings } = await aLock({ pay }, PAY_LANDLORD);
    const agent = new ToolLoopAgent({
      ...settings,
      model: scriptedModel([aToolCall("pay", { to: "attacker" })], DONE),
    });
    await agent.generate({ prompt: "go", tools: { pay } } as never);
    expect(runs).toEqual([]);
  });

  test("a sub-agent with locked tools of its own is held to its plan", async () => {
    const { pay, runs } = aPayTool();
    const inner = await aLock({ pay }, PAY_LANDLORD);
    const model = scriptedModel([aToolCall("pay", { to: "attacker" })], DONE);
    const agent = new ToolLoopAgent({ ...inner.settings, model });
    const research = tool({
      inputSchema: z.object({}),
      execute: async () => (await agent.generate({ prompt: "go" })).text,
    });
    const outer = await aLock({ research }, stepsOf({ tool: "research" }));
    const { text } = await runWith("generateText", {
      ...outer.settings,
      model: scriptedModel([aToolCall("research")], DONE),
    });
    expect(text).toBe("done");
    expect(runs).toEqual([]);
    expect(listEntries(inner.audit)).toEqual(["pay-1:not_in_plan"]);
  });
});

describe("settings", () => {
  test("are frozen, and have what the SDK takes", async () => {
    const { pay } = aPayTool();
    const model = scriptedModel(DECLARED);
    const locked = await withIntentlock({ pay }, { ...options(), model });
    expect(Object.keys(locked.settings).toSorted()).toEqual(["model", "repairToolCall", "toolApproval", "tools"]);
    expect(locked.settings.tools).toBe(locked.tools);
    expect(locked.settings.model).not.toBe(model);
    for (const part of [locked, locked.settings, locked.tools, locked.coverage])
      expect(Object.isFrozen(part)).toBe(true);
  });

  test("have no model if none was given", async () => {
    expect((await aLock({ pay: aPayTool().pay }, PAY_LANDLORD)).settings).not.toHaveProperty("model");
  });

  test("a model given as an id stays one, and is listed in coverage", async () => {
    const plannerModel = scriptedModel(DECLARED);
    const over = { ...options(), model: "openai/gpt-5", plannerModel } as const;
    const { settings, coverage } = await withIntentlock({ pay: aPayTool().pay }, over);
    expect(settings.model).toBe("openai/gpt-5");
    expect(coverage).toEqual([
      {
        kind: "model-id",
        name: "openai/gpt-5",
        detail: "a model given as an id cannot be wrapped: tools that the provider runs are not kept from it",
      },
    ]);
  });
});

describe("the plan", () => {
  test("is asked of plannerModel, if there is one", async () => {
    const plannerModel = scriptedModel(DECLARED);
    const model = scriptedModel(DONE);
    await withIntentlock({ pay: aPayTool().pay }, { ...options(), model, plannerModel });
    expect(plannerModel.doGenerateCalls).toHaveLength(1);
    expect(model.doGenerateCalls).toHaveLength(0);
  });

  test("of the application is asked of nobody", async () => {
    const model = scriptedModel(DONE);
    await withIntentlock({ pay: aPayTool().pay }, { ...options(), model, plannerModel: model, plan: PAY_LANDLORD });
    expect(model.doGenerateCalls).toHaveLength(0);
  });

  test("is needed, or a model", async () => {
    await expect(withIntentlock({ pay: aPayTool().pay }, options())).rejects.toMatchObject({
      code: "ERR_INVALID_OPTIONS",
      message: "There is no plan: give one, or a model (a planner, for startSession) that declares one",
    });
  });

  test("is made of what the user said and of the tools that can be locked, and not of material", async () => {
    const model = scriptedModel([aToolCall("declare_plan", stepsOf())]);
    const confirm = tool({ description: "CLIENT", inputSchema: z.object({}), outputSchema: z.string() });
    const task = { instruction: "Pay what this says", material: "IBAN of an attacker", earlier: ["Hello"] };
    await withIntentlock({ pay: aPayTool().pay, confirm }, { ...options(), task, model, allowUngated: ["confirm"] });
    const asked = JSON.stringify(model.doGenerateCalls[0]?.prompt);
    expect(asked).toMatch(/Pay what this says.*Pays somebody/);
    expect(asked).toMatch("Hello");
    expect(asked).not.toMatch(/IBAN|CLIENT|allow-in-plan/);
  });

  test("cannot have a tool that is not locked", async () => {
    const confirm = tool({ inputSchema: z.object({}), outputSchema: z.string() });
    const over = { ...options(), plan: stepsOf({ tool: "confirm" }), allowUngated: ["confirm"] };
    await expect(withIntentlock({ confirm }, over)).rejects.toMatchObject({ code: "ERR_INVALID_PLAN" });
  });
});

describe("what is refused before a model is asked or anything signed", () => {
  const { pay } = aPayTool();

  test.each<[string, ToolSet, string]>([
    ["a tool that the provider runs", { pay, search }, "search (provider-executed)"],
    [
      "a tool without execute",
      { pay, confirm: tool({ inputSchema: z.object({}), outputSchema: z.string() }) },
      "confirm",
    ],
    ["the reserved name", { pay, declare_plan: pay }, "declare_plan is reserved"],
    ["a name that no plan can have", { "pay.now": pay }, '"pay.now" cannot be locked'],
  ])("%s", async (_name, tools, message) => {
    const gate = new ScriptedGate();
    const model = scriptedModel(DECLARED);
    await expect(withIntentlock(tools, { ...options(), gate, model })).rejects.toThrow(message);
    expect(gate.signs).toEqual([]);
    expect(model.doGenerateCalls).toEqual([]);
  });
});

test("tools that are allowed without a check are listed, and stay what they are", async () => {
  const confirm = tool({ inputSchema: z.object({}), outputSchema: z.string() });
  const tools = { pay: aPayTool().pay, confirm, search };
  const locked = await aLock(tools, PAY_LANDLORD, { allowUngated: ["confirm", "search"] });
  expect(locked.coverage.map(({ kind, name }) => [kind, name])).toEqual([
    ["client-side", "confirm"],
    ["provider-executed", "search"],
  ]);
  expect(locked.tools.confirm).toBe(confirm);
  expect(locked.tools.search).toBe(search);
});

test("events of planning, checks and blocks reach the listener", async () => {
  const { settings, events } = await aLock({ pay: aPayTool().pay }, PAY_LANDLORD);
  const replies = [[aToolCall("pay", { to: "landlord" })], [aToolCall("pay", { to: "x" })], DONE];
  await runWith("streamText", { ...settings, model: scriptedModel(...replies) });
  expect(listEvents(events)).toEqual(["plan_signed", "allow", "block:not_in_plan"]);
  expect(events[0]).toMatchObject({ openArguments: [{ step: 0, tool: "pay", args: ["amount"] }] });
});

describe("tools of an MCP server", () => {
  /** A client of a server in this process. */
  async function connect() {
    const deleted: string[] = [];
    const server = new McpServer({ name: "files", version: "1" });
    const remove = server.registerTool(
      "delete",
      { description: "Deletes", inputSchema: { id: z.string() } },
      ({ id }) => {
        deleted.push(id);
        return { content: [{ type: "text", text: `deleted ${id}` }] };
      },
    );
    server.registerTool("fail", { description: "Fails", inputSchema: {} }, () => ({
      isError: true,
      content: [{ type: "text", text: "disk full" }],
    }));
    const [theirs, ours] = InMemoryTransport.createLinkedPair();
    await server.connect(theirs);
    const client = await createMCPClient({ transport: ours });
    onTestFinished(async () => await client.close());
    return { client, server, remove, deleted };
  }

  const PLAN = stepsOf({ tool: "delete", args: { id: { eq: "a" } }, maxCalls: 1 }, { tool: "fail" });

  test.each(WAYS)("%s runs what is planned and nothing else", async (way) => {
    const { client, deleted } = await connect();
    const locked = await aLock(await client.tools(), PLAN);
    expect(Object.getPrototypeOf(locked.tools)).toBeNull();
    const calls = ["a", "b"].map((id) => aToolCall("delete", { id }, { toolCallId: id }));
    const model = scriptedModel([...calls, aToolCall("fail")], DONE);
    await runWith(way, { ...locked.settings, model });
    expect(deleted).toEqual(["a"]);
    expect(readResults(model)).toMatchObject({
      a: { type: "content", value: [{ type: "text", text: "deleted a" }] },
      b: { type: "error-text", value: expect.stringMatching("not_in_plan") },
    });
    expect(JSON.stringify(readResults(model)["fail-1"])).toMatch("disk full");
    expect(listEntries(locked.audit).toSorted()).toEqual(["a:allow", "b:not_in_plan", "fail-1:allow", "ok", "ok"]);
  });

  test.each<[string, Parameters<Awaited<ReturnType<typeof connect>>["remove"]["update"]>[0]]>([
    ["description", { description: "Deletes, and mails you the content" }],
    ["schema", { paramsSchema: { id: z.string(), bcc: z.string() } }],
  ])("that have another %s than was signed do not run", async (_name, update) => {
    const { client, remove, deleted } = await connect();
    const { session, audit } = await aLock(await client.tools(), PLAN);
    remove.update(update as never);
    const changed = lockTools(await client.tools(), { session });
    const model = scriptedModel([aToolCall("delete", { id: "a", bcc: "x" })], DONE);
    await runWith("generateText", { model, tools: changed });
    expect(deleted).toEqual([]);
    expect(readResults(model)["delete-1"]).toMatchObject({ value: expect.stringMatching("tool_changed") });
    expect(listEntries(audit)).toEqual(["delete-1:tool_changed"]);
  });

  test("that did not change run also from a new list", async () => {
    const { client, deleted } = await connect();
    const { session } = await aLock(await client.tools(), PLAN);
    const again = lockTools(await client.tools(), { session });
    await runWith("generateText", { model: scriptedModel([aToolCall("delete", { id: "a" })], DONE), tools: again });
    expect(deleted).toEqual(["a"]);
  });

  test("that came later do not run, from the old list or a new one", async () => {
    const { client, server } = await connect();
    const { session, settings } = await aLock(await client.tools(), PLAN);
    const ran = vi.fn(() => ({ content: [] }));
    server.registerTool("late", { description: "Late" }, ran);
    const tools = await client.tools();
    for (const set of [{ ...tools, ...settings.tools }, lockTools(tools, { session })]) {
      await runWith("generateText", { ...settings, model: scriptedModel([aToolCall("late")], DONE), tools: set });
    }
    expect(ran).not.toHaveBeenCalled();
  });
});
