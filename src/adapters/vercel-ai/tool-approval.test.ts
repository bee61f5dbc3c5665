import { experimental_toolCaller, type ToolApprovalStatus, type ToolSet, tool, toolSearch } from "ai";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import {
  aLock,
  aPayTool,
  aToolCall,
  DONE,
  forgeApproval,
  readResults,
  runWith,
  scriptedModel,
  stepsOf,
  WAYS,
} from "../../../test/ai-sdk.ts";
import { listEntries } from "../../../test/sessions.ts";
import type { AnyTool } from "./coverage.ts";

const PLAN = stepsOf({ tool: "pay", maxCalls: 1 });
const CALL = [aToolCall("pay", { to: "landlord" })];

/** The messages after a call that the SDK held, and what a client answers. */
function answer(messages: readonly object[], isApproved: boolean): unknown[] {
  const parts = messages.flatMap((message) => ("content" in message ? (message.content as { type: string }[]) : []));
  const request = parts.find(({ type }) => type === "tool-approval-request") as { approvalId?: string } | undefined;
  const response = { type: "tool-approval-response", approvalId: request?.approvalId, approved: isApproved };
  // As it comes back from a browser.
  const history = [{ role: "user", content: "go" }, ...messages, { role: "tool", content: [response] }];
  return JSON.parse(JSON.stringify(history)) as unknown[];
}

describe.each(WAYS)("%s: a tool that is not locked", (way) => {
  test.each<[string, (tools: ToolSet, late: AnyTool) => ToolSet]>([
    ["came late", (tools, late) => ({ ...tools, late })],
    ["came late, and was planned under this name", (tools, late) => ({ ...tools, pay: late })],
    [
      "has the description and schema of the locked one",
      (tools, late) => ({ ...tools, pay: { ...tools["pay"], execute: late.execute } as AnyTool }),
    ],
    ["is a locked one under another name", (tools) => ({ ...tools, late: tools["pay"] as AnyTool })],
    ["is called constructor", (tools, late) => ({ ...tools, constructor: late })],
    [
      "is called __proto__",
      (tools, late) => Object.defineProperty({ ...tools }, "__proto__", { value: late, enumerable: true }),
    ],
  ])("does not run if it %s", async (_name, change) => {
    const { pay, runs } = aPayTool();
    const late = aPayTool();
    const { settings, audit } = await aLock({ pay, read: aPayTool().pay }, PLAN);
    const tools = change(settings.tools, late.pay as AnyTool);
    const [name = ""] = Object.keys(tools).filter((key) => tools[key] !== settings.tools[key as "pay"]);
    const model = scriptedModel([aToolCall(name, { to: "landlord" })], DONE);
    const { text } = await runWith(way, { ...settings, model, tools });
    expect(text).toBe("done");
    expect([...runs, ...late.runs]).toEqual([]);
    expect(readResults(model)[`${name}-1`]).toMatchObject({
      type: "execution-denied",
      reason: expect.stringMatching(/^Blocked by Intentlock \((unknown_tool|tool_changed)\): /),
    });
    expect(listEntries(audit)).toEqual([expect.stringMatching(/:(unknown_tool|tool_changed)$/)]);
  });

  test("does not run if it comes in the middle of a run", async () => {
    const { pay } = aPayTool();
    const late = aPayTool();
    const { settings } = await aLock({ pay }, PLAN);
    const tools: ToolSet = { ...settings.tools };
    const add = () => {
      tools["late"] = late.pay;
      return CALL;
    };
    const model = scriptedModel(add, [aToolCall("late")], DONE);
    await runWith(way, { ...settings, model, tools });
    expect(late.runs).toEqual([]);
    expect(readResults(model)["late-1"]).toMatchObject({ type: "execution-denied" });
  });

  test("does not run if prepareStep brings it, or another model with it", async () => {
    const { pay, runs } = aPayTool();
    const { settings } = await aLock({ pay }, PLAN);
    const other = scriptedModel([aToolCall("pay", { to: "attacker" }, { toolCallId: "other" })], CALL, DONE);
    const prepareStep = () => ({ model: other, activeTools: ["pay"] });
    await runWith(way, { ...settings, model: scriptedModel(DONE), prepareStep });
    expect(runs).toHaveLength(1);
  });

  test("does not run through a forged approval, with the approval function alone", async () => {
    const late = aPayTool();
    const { settings, audit } = await aLock({ pay: aPayTool().pay }, PLAN);
    const model = scriptedModel(DONE);
    const tools = { ...settings.tools, late: late.pay };
    await runWith(way, { ...settings, model, tools, messages: forgeApproval("late", { to: "attacker" }) });
    expect(late.runs).toEqual([]);
    expect(listEntries(audit)).toEqual(["forged:unknown_tool"]);
  });
});

describe.each(WAYS)("%s: a tool of another kind", (way) => {
  const confirm = tool({ inputSchema: z.object({}), outputSchema: z.string() });

  test("is allowed under a name of allowUngated, as what it was", async () => {
    const { settings, audit } = await aLock({ confirm }, stepsOf(), { allowUngated: ["confirm"] });
    const model = scriptedModel([aToolCall("confirm")], DONE);
    const { content } = await runWith(way, { ...settings, model });
    expect(content.map(({ type }) => type)).toEqual(["tool-call"]);
    expect(listEntries(audit)).toEqual([]);
  });

  test("does not run in its place", async () => {
    const late = aPayTool();
    const { settings } = await aLock({ confirm }, stepsOf(), { allowUngated: ["confirm"] });
    const model = scriptedModel([aToolCall("confirm")], DONE);
    await runWith(way, { ...settings, model, tools: { ...settings.tools, confirm: late.pay } });
    expect(late.runs).toEqual([]);
    expect(readResults(model)["confirm-1"]).toMatchObject({ type: "execution-denied" });
  });

  test("the SDK's tool search finds locked tools, if it is allowed", async () => {
    const { pay, runs } = aPayTool();
    const tools = { search: toolSearch(), pay: { ...pay, deferLoading: true } };
    const { settings } = await aLock(tools, PLAN, { allowUngated: ["search"] });
    const other = aToolCall("pay", { to: "landlord" }, { toolCallId: "pay-2" });
    const model = scriptedModel([aToolCall("search", { query: "pay" })], CALL, [other], DONE);
    await runWith(way, { ...settings, model });
    expect(readResults(model)["search-1"]).toMatchObject({ value: { tools: [{ name: "pay" }] } });
    expect(runs).toHaveLength(1);
    expect(readResults(model)["pay-2"]).toMatchObject({
      type: "error-text",
      value: expect.stringMatching("call_limit"),
    });
  });

  test("a caller of tools that runs here is locked, and so is what it calls", async () => {
    const { pay, runs } = aPayTool();
    const execute = async (inner: AnyTool, options: unknown) => [
      await inner.execute?.({ to: "landlord" } as never, options as never),
      await Promise.resolve(inner.execute?.({ to: "landlord" } as never, options as never)).catch(String),
    ];
    const bind = (tools: ToolSet) =>
      tool({
        inputSchema: z.object({}),
        execute: async (_, options) => await execute(tools["pay"] as AnyTool, options),
      });
    const code = experimental_toolCaller({ ...confirm, execute: () => 1 } as never, { type: "local", bind } as never);
    const plan = stepsOf({ tool: "code", maxCalls: 1 }, ...PLAN.steps);
    const { settings, audit } = await aLock({ code: code as unknown as AnyTool, pay }, plan);
    const model = scriptedModel([aToolCall("code")], DONE);
    await runWith(way, { ...settings, model, experimental_toolCallers: { pay: ["code"] } });
    expect(runs).toHaveLength(1);
    expect(listEntries(audit)).toEqual(["code-1:allow", "code-1:0:allow", "ok", "code-1:1:call_limit", "ok"]);
  });

  // The SDK hands a copy of the tool with other provider options to the step.
  test("a caller at the provider calls locked tools, if it is allowed", async () => {
    const { pay, runs } = aPayTool();
    const definition = {
      type: "provider",
      prepareProviderOptions: () => ({ anthropic: { allowedCallers: ["code"] } }),
    };
    const code = experimental_toolCaller(confirm as never, definition as never) as unknown as AnyTool;
    const { settings } = await aLock({ code, pay }, PLAN, { allowUngated: ["code"] });
    const other = aToolCall("pay", { to: "landlord" }, { toolCallId: "pay-2" });
    const model = scriptedModel(CALL, [other], DONE);
    await runWith(way, { ...settings, model, experimental_toolCallers: { pay: ["code"] } });
    expect(runs).toHaveLength(1);
    expect(readResults(model)["pay-2"]).toMatchObject({
      type: "error-text",
      value: expect.stringMatching("call_limit"),
    });
  });
});

describe.each(WAYS)("%s: the application's own approvals", (way) => {
  test.each<[string, object]>([
    ["needsApproval of the tool", { tool: { needsApproval: true } }],
    ["needsApproval as a function", { tool: { needsApproval: async ({ to }: { to: string }) => to === "landlord" } }],
    ["toolApproval as a function", { toolApproval: () => ({ type: "user-approval", reason: "ask" }) }],
    ["toolApproval as a map", { toolApproval: { pay: "user-approval" } }],
    ["toolApproval as a map of functions", { toolApproval: { pay: async () => "user-approval" } }],
  ])("hold a call, by %s; the answer lets it run, once, or not", async (_name, over) => {
    const { tool: toolOver = {}, ...settingsOver } = over as { tool?: object };
    const { pay, runs } = aPayTool();
    const { settings, audit } = await aLock({ pay: { ...pay, ...toolOver } }, PLAN, settingsOver);
    const held = await runWith(way, { ...settings, model: scriptedModel(CALL, DONE) });
    expect(runs).toEqual([]);
    expect(listEntries(audit)).toEqual([]);

    await runWith(way, { ...settings, model: scriptedModel(DONE), messages: answer(held.responseMessages, false) });
    expect(runs).toEqual([]);
    const messages = answer(held.responseMessages, true);
    await runWith(way, { ...settings, model: scriptedModel(DONE), messages });
    expect(runs).toEqual([{ to: "landlord" }]);
    // The same history again is a new call for the gate, and the plan has none left.
    await runWith(way, { ...settings, model: scriptedModel(DONE), messages });
    expect(runs).toHaveLength(1);
    expect(listEntries(audit)).toEqual(["pay-1:allow", "ok", "pay-1:call_limit"]);
  });

  test("cannot be forged: what the history says was approved is checked like any call", async () => {
    const { pay, runs } = aPayTool();
    const plan = stepsOf({ tool: "pay", args: { to: { eq: "landlord" } } });
    const { settings, audit } = await aLock({ pay }, plan, { toolApproval: () => "user-approval" });
    const model = scriptedModel(DONE);
    await runWith(way, { ...settings, model, messages: forgeApproval("pay", { to: "attacker" }) });
    expect(runs).toEqual([]);
    expect(listEntries(audit)).toEqual(["forged:not_in_plan"]);
  });

  test.each<[string, unknown]>([
    ["a function", () => ({ type: "denied", reason: "not today" })],
    ["a map", { pay: { type: "denied", reason: "not today" } }],
  ])("deny what a plan allows, as %s", async (_name, toolApproval) => {
    const { pay, runs } = aPayTool();
    const { settings, audit } = await aLock({ pay }, PLAN, { toolApproval: toolApproval as never });
    const model = scriptedModel(CALL, DONE);
    await runWith(way, { ...settings, model });
    expect(runs).toEqual([]);
    expect(readResults(model)["pay-1"]).toEqual({ type: "execution-denied", reason: "not today" });
    expect(listEntries(audit)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["approved", "approved"],
    ["not-applicable", "not-applicable"],
    ["nothing", undefined],
  ])("do not allow what the plan does not: %s", async (_name, status) => {
    const { pay, runs } = aPayTool();
    const toolApproval = () => status as ToolApprovalStatus;
    const { settings, audit } = await aLock({ pay }, stepsOf(), { toolApproval });
    await runWith(way, { ...settings, model: scriptedModel(CALL, DONE) });
    expect(runs).toEqual([]);
    expect(listEntries(audit)).toEqual(["pay-1:not_in_plan"]);
  });

  // The SDK itself runs a tool on any of these.
  test.each<[string, unknown]>([
    ["an unknown status", "dennied"],
    ["an unknown type", { type: "dennied" }],
    ["an object without a type", { reason: "no" }],
    ["an object of no type", { type: undefined }],
    ["null", null],
    ["false", false],
    ["true", true],
  ])("deny with %s", async (_name, status) => {
    for (const toolApproval of [() => status, { pay: () => status }]) {
      const { pay, runs } = aPayTool();
      const { settings } = await aLock({ pay }, PLAN, { toolApproval: toolApproval as never });
      const model = scriptedModel(CALL, DONE);
      await runWith(way, { ...settings, model });
      expect(runs).toEqual([]);
      expect(readResults(model)["pay-1"]).toEqual({
        type: "execution-denied",
        reason: "toolApproval gave no status that the SDK knows",
      });
    }
  });

  test("that throw end the run, and nothing runs", async () => {
    const { pay, runs } = aPayTool();
    const toolApproval = () => {
      throw new Error("checker down");
    };
    const { settings } = await aLock({ pay }, PLAN, { toolApproval });
    await expect(runWith(way, { ...settings, model: scriptedModel(CALL, DONE) })).rejects.toThrow("checker down");
    expect(runs).toEqual([]);
  });

  test("are asked for other tools by their own setting: a map does not hide needsApproval", async () => {
    const { pay, runs } = aPayTool();
    const over = { toolApproval: { read: "user-approval" } as never };
    const { settings } = await aLock({ pay: { ...pay, needsApproval: true }, read: aPayTool().pay }, PLAN, over);
    const { content } = await runWith(way, { ...settings, model: scriptedModel(CALL, DONE) });
    expect(runs).toEqual([]);
    expect(content.map(({ type }) => type)).toContain("tool-approval-request");
  });

  // A map has a `constructor` and a `toString` of its own prototype, and they are functions.
  test.each(["constructor", "toString", "__proto__"])(
    "are none for a tool called %s that a map does not have",
    async (name) => {
      const { pay, runs } = aPayTool();
      const tools = Object.defineProperty({}, name, { value: pay, enumerable: true }) as ToolSet;
      const { settings } = await aLock(tools, stepsOf({ tool: name }), { toolApproval: {} });
      await runWith(way, { ...settings, model: scriptedModel([aToolCall(name)], DONE) });
      expect(runs).toHaveLength(1);
    },
  );

  test("see the context as the tool's schema makes it", async () => {
    const contextSchema = z.object({ limit: z.coerce.number() });
    const needsApproval = vi.fn((_input: unknown, _options: { context: unknown }) => false);
    const approve = vi.fn((_input: unknown, _options: { toolContext: unknown }) => "approved");
    const toolsContext = { pay: { limit: "7", smuggled: true } };
    for (const [toolOver, over] of [
      [{ needsApproval }, {}],
      [{}, { toolApproval: { pay: approve } }],
    ]) {
      const { pay, runs } = aPayTool();
      const tools = { pay: { ...pay, contextSchema, ...toolOver } } as unknown as { pay: typeof pay };
      const { settings } = await aLock(tools, PLAN, over as never);
      await runWith(way, { ...settings, model: scriptedModel(CALL, DONE), toolsContext });
      expect(runs).toHaveLength(1);
    }
    expect(needsApproval.mock.calls[0]?.[1]).toMatchObject({ toolCallId: "pay-1", context: { limit: 7 } });
    expect(needsApproval.mock.calls[0]?.[1].context).not.toHaveProperty("smuggled");
    expect(approve.mock.calls[0]?.[1].toolContext).toEqual({ limit: 7 });
  });

  test("a context that the schema rejects ends the run, and nothing runs", async () => {
    const { pay, runs } = aPayTool();
    const over = { contextSchema: z.object({ limit: z.number() }), needsApproval: () => false };
    const { settings } = await aLock({ pay: { ...pay, ...over } as unknown as typeof pay }, PLAN);
    const running = runWith(way, {
      ...settings,
      model: scriptedModel(CALL, DONE),
      toolsContext: { pay: { limit: "x" } },
    });
    await expect(running).rejects.toThrow();
    expect(runs).toEqual([]);
  });
});
