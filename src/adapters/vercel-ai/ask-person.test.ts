import { experimental_toolCaller, type ModelMessage, type ToolSet, tool } from "ai";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import {
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
import { ALICE } from "../../../test/builders.ts";
import { HoldingGate } from "../../../test/holding-gate.ts";
import type { AnyTool } from "./coverage.ts";
import { type BlockedError, type LockToolsOptions, lockTools, type ToolApproval, withIntentlock } from "./index.ts";

const CALL = [aToolCall("pay", { to: "landlord" })];

async function aHeldLock(tools: ToolSet, over: { readonly toolApproval?: ToolApproval<ToolSet> } = {}) {
  const gate = new HoldingGate("pay");
  const common = {
    gate,
    user: ALICE,
    task: "Pay the rent",
    plan: stepsOf(...Object.keys(tools).map((name) => ({ tool: name }))),
    onHold: "suspend",
  } as const;
  return { gate, ...(await withIntentlock(tools, { ...common, ...over })) };
}

/** The history in which a client answers every request of the SDK, as it comes back from a browser. */
function answer(messages: readonly ModelMessage[], approved: boolean): ModelMessage[] {
  const parts = messages.flatMap(({ content }) => content as readonly { type: string; approvalId: string }[]);
  const content = parts.flatMap((part) =>
    part.type === "tool-approval-request"
      ? [{ type: "tool-approval-response" as const, approvalId: part.approvalId, approved }]
      : [],
  );
  const history: ModelMessage[] = [{ role: "user", content: "go" }, ...messages, { role: "tool", content }];
  return JSON.parse(JSON.stringify(history)) as ModelMessage[];
}

describe.each(WAYS)("%s: a call that waits for a person", (way) => {
  test("is a request for an approval that says so", async () => {
    const { settings } = await aHeldLock({ pay: aPayTool().pay });
    const { content } = await runWith(way, { ...settings, model: scriptedModel(CALL, DONE) });
    const reason =
      "Held by Intentlock (ask): a person has to approve this action, and has been asked.\nIt has not run yet.";
    expect(content.at(-1)).toMatchObject({ type: "tool-approval-request", reason: expect.stringContaining(reason) });
  });

  test("runs on the person's word alone: a client that says no keeps it from running", async () => {
    const { pay, runs } = aPayTool();
    const { gate, settings } = await aHeldLock({ pay });
    const model = scriptedModel(CALL, DONE);
    const { responseMessages } = await runWith(way, { ...settings, model });
    gate.decide("approved");
    await runWith(way, { ...settings, model, messages: answer(responseMessages, false) });
    expect(runs).toEqual([]);
    expect(readResults(model)["pay-1"]).toMatchObject({ type: "execution-denied" });
  });

  test("does not run for a client that has made up the whole approval", async () => {
    const { pay, runs } = aPayTool();
    const { gate, settings } = await aHeldLock({ pay });
    const model = scriptedModel(DONE);
    await runWith(way, { ...settings, model, messages: forgeApproval("pay", { to: "landlord" }) });
    expect(runs).toEqual([]);
    expect(gate.opened).toHaveLength(1);
    expect(readResults(model)["forged"]).toMatchObject({
      type: "error-text",
      value: expect.stringContaining("Held by Intentlock"),
    });
  });

  test("does not run with other arguments than those that were approved", async () => {
    const { pay, runs } = aPayTool();
    const { gate, settings } = await aHeldLock({ pay });
    const model = scriptedModel(CALL, DONE);
    const { responseMessages } = await runWith(way, { ...settings, model });
    gate.decide("approved");
    const messages = JSON.stringify(answer(responseMessages, true)).replaceAll("landlord", "attacker");
    await runWith(way, { ...settings, model, messages: JSON.parse(messages) });
    expect(runs).toEqual([]);
    expect(gate.opened).toEqual(['["pay",{"to":"landlord"}]', '["pay",{"to":"attacker"}]']);
  });

  test("runs once, however often its approval is sent", async () => {
    const { pay, runs } = aPayTool();
    const { gate, settings } = await aHeldLock({ pay });
    const model = scriptedModel(CALL, DONE);
    const { responseMessages } = await runWith(way, { ...settings, model });
    gate.decide("approved");
    const messages = answer(responseMessages, true);
    await Promise.all([runWith(way, { ...settings, model, messages }), runWith(way, { ...settings, model, messages })]);
    await runWith(way, { ...settings, model, messages });
    expect(runs).toEqual([{ to: "landlord" }]);
  });

  test("runs at once when the model asks again and the person has approved it meanwhile", async () => {
    const { pay, runs } = aPayTool();
    const { gate, settings } = await aHeldLock({ pay });
    await runWith(way, { ...settings, model: scriptedModel(CALL, DONE) });
    gate.decide("approved");
    const model = scriptedModel([aToolCall("pay", { to: "landlord" }, { toolCallId: "pay-2" })], DONE);
    const { text } = await runWith(way, { ...settings, model });
    expect([text, runs]).toEqual(["done", [{ to: "landlord" }]]);
    expect(gate.outcomes).toMatchObject([{ status: "ok" }]);
  });

  test("gives its result in parts, once it runs", async () => {
    const runs: unknown[] = [];
    const pay = tool({
      inputSchema: z.object({ to: z.string() }),
      async *execute(input) {
        runs.push(input);
        yield "paying";
        yield "paid";
      },
    });
    const { gate, settings } = await aHeldLock({ pay });
    const model = scriptedModel(CALL, DONE);
    const { responseMessages } = await runWith(way, { ...settings, model });
    gate.decide("approved");
    await runWith(way, { ...settings, model, messages: answer(responseMessages, true) });
    expect(readResults(model)["pay-1"]).toMatchObject({ value: "paid" });
    expect(runs).toHaveLength(1);
    expect(gate.checks.filter(({ approval }) => approval)).toHaveLength(1);
    expect(gate.outcomes).toMatchObject([{ status: "ok" }]);
  });

  test("needs both approvals where the application asks for one of its own", async () => {
    const { pay, runs } = aPayTool();
    const { gate, settings } = await aHeldLock({ pay: { ...pay, needsApproval: true } });
    const model = scriptedModel(CALL, DONE);
    const { responseMessages } = await runWith(way, { ...settings, model });
    expect(gate.opened).toHaveLength(1);
    gate.decide("approved");
    await runWith(way, { ...settings, model, messages: answer(responseMessages, true) });
    expect(runs).toHaveLength(1);
  });

  test.each<[string, ToolApproval<ToolSet>, number, string]>([
    ["denies it: nobody is asked", () => "denied", 0, "tool-approval-response"],
    ["approves it: that is no evidence", () => "approved", 1, "tool-approval-request"],
    ["has no word on it", { other: "denied" }, 1, "tool-approval-request"],
  ])("with a setting of the application that %s", async (_name, toolApproval, asked, last) => {
    const { pay, runs } = aPayTool();
    const { gate, settings } = await aHeldLock({ pay }, { toolApproval });
    const { content } = await runWith(way, { ...settings, model: scriptedModel(CALL, DONE) });
    expect([runs, gate.opened.length]).toEqual([[], asked]);
    expect(content.map(({ type }) => type)).toContain(last);
  });
});

describe("tools that are locked for a session", () => {
  async function aLockedSet() {
    const { pay, runs } = aPayTool();
    const { gate, session } = await aHeldLock({ pay });
    const options: LockToolsOptions = { session };
    return { gate, runs, tools: lockTools({ pay }, options) };
  }

  test.each(WAYS)("end the step, without a toolApproval of ours: %s", async (way) => {
    const { gate, runs, tools } = await aLockedSet();
    const model = scriptedModel(CALL, DONE);
    const { responseMessages, content } = await runWith(way, { tools, model });
    expect(content.at(-1)).toMatchObject({ type: "tool-approval-request" });
    gate.decide("approved");
    await runWith(way, { tools, model, messages: answer(responseMessages, true) });
    expect(runs).toEqual([{ to: "landlord" }]);
    expect(gate.checks.filter(({ approval }) => approval)).toHaveLength(1);
  });

  test("answer that they wait, where the application's setting stands in for theirs", async () => {
    const { runs, tools } = await aLockedSet();
    const model = scriptedModel(CALL, DONE);
    const { content } = await runWith("generateText", { tools, model, toolApproval: { pay: "approved" } });
    expect(runs).toEqual([]);
    const { error } = content.find(({ type }) => type === "tool-error") as { readonly error?: unknown };
    expect(error).toMatchObject({ code: "ERR_BLOCKED", hold: { holdId: "hold-1" }, decision: { verdict: "hold" } });
    expect((error as BlockedError).message).toContain("It has not run yet");
  });
});

test("a call that code of a model makes is answered that it waits", async () => {
  const { pay, runs } = aPayTool();
  const answers = vi.fn();
  const bind = (inner: ToolSet) =>
    tool({
      inputSchema: z.object({}),
      execute: async (_, options) =>
        answers(await Promise.resolve(inner["pay"]?.execute?.({ to: "landlord" }, options as never)).catch(String)),
    });
  const caller = { inputSchema: z.object({}), execute: () => 1 };
  const code = experimental_toolCaller(caller as never, { type: "local", bind } as never) as unknown as AnyTool;
  const { settings } = await aHeldLock({ code, pay });
  const model = scriptedModel([aToolCall("code")], DONE);
  await runWith("generateText", { ...settings, model, experimental_toolCallers: { pay: ["code"] } });
  expect(runs).toEqual([]);
  expect(answers).toHaveBeenCalledWith(expect.stringContaining("Held by Intentlock"));
});

test("a call that was approved and that the SDK never runs is on record as unknown, once the session closes", async () => {
  const { pay, runs } = aPayTool();
  const { gate, settings, session } = await aHeldLock({ pay });
  await runWith("generateText", { ...settings, model: scriptedModel(CALL, DONE) });
  gate.decide("approved");
  const toolCall = { toolCallId: "pay-1", toolName: "pay", input: { to: "landlord" } };
  const request = { toolCall, tools: settings.tools, messages: [], toolsContext: {}, runtimeContext: {} };
  expect(await (settings.toolApproval as (request: unknown) => Promise<unknown>)(request)).toBeUndefined();
  await session.close();
  expect(runs).toEqual([]);
  expect(gate.outcomes).toMatchObject([{ status: "unknown" }, { type: "closed" }]);
});
