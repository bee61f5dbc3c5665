import { createTool, Tool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { aToolCall } from "../../../test/ai-sdk.ts";
import { aPolicy } from "../../../test/builders.ts";
import { anAgent, aPayTool, aRequest, resultOf, SILENT } from "../../../test/mastra.ts";
import { aSession, listEntries, planOf } from "../../../test/sessions.ts";
import type { PlanStep } from "../../core/index.ts";
import { LocalGate } from "../../gates/index.ts";
import { BlockedError } from "../../session/index.ts";
import { describeTools } from "./describe-tool.ts";
import { lockTools } from "./lock-tools.ts";

const PAY_LANDLORD: PlanStep = { tool: "pay", args: { to: { eq: "landlord" } } };

async function lockFor<T extends Record<string, object>>(tools: T, ...steps: readonly PlanStep[]) {
  const plan = planOf(...(steps.length === 0 ? [PAY_LANDLORD] : steps));
  const { session, audit } = await aSession({ tools: await describeTools(tools), plan });
  return { locked: lockTools(tools, { session }), session, audit };
}

/** Calls a tool as application code does. */
async function execute(tool: object, args: unknown, context: object = {}): Promise<unknown> {
  return await (Reflect.get(tool, "execute") as (...parts: unknown[]) => unknown).call(tool, args, context);
}

describe("a tool under a session", () => {
  test("is checked on the way of execute, and gets what was checked", async () => {
    const { tool: pay, runs } = aPayTool();
    const { locked, audit } = await lockFor({ pay });
    expect(await execute(locked.pay, { to: "landlord" })).toEqual({ paid: "landlord" });
    await expect(execute(locked.pay, { to: "attacker" })).rejects.toBeInstanceOf(BlockedError);
    await expect(execute(locked.pay, { to: 7 })).rejects.toMatchObject({ decision: { reason: "invalid_args" } });
    await expect(execute(locked.pay, "landlord")).rejects.toBeInstanceOf(BlockedError);
    await expect(execute(locked.pay, new Map())).rejects.toBeInstanceOf(BlockedError);
    expect(runs).toEqual([{ to: "landlord" }]);
    expect(listEntries(audit).map((entry) => entry.replace(/^.*:/, ""))).toEqual([
      "allow",
      "ok",
      "not_in_plan",
      "invalid_args",
      "invalid_args",
      "invalid_call",
    ]);
  });

  test("is the same to look at", async () => {
    const { tool: pay } = aPayTool();
    const { locked } = await lockFor({ pay });
    expect(locked.pay).toBeInstanceOf(Tool);
    expect(locked.pay).toMatchObject({ id: "pay", description: "Pays somebody", inputSchema: pay.inputSchema });
    expect([Object.isFrozen(locked), Object.isFrozen(locked.pay)]).toEqual([true, true]);
  });

  test("is checked as a step of a workflow", async () => {
    const { tool: pay, runs } = aPayTool("pay", { outputSchema: z.any() });
    const { locked, audit } = await lockFor({ pay });
    const workflow = createWorkflow({ id: "flow", inputSchema: z.object({ to: z.string() }), outputSchema: z.any() })
      .then(createStep(locked.pay as never) as never)
      .commit();
    workflow.__setLogger(SILENT);
    for (const to of ["attacker", "landlord"]) {
      const result = await (await workflow.createRun()).start({ inputData: { to } });
      expect(result.status).toBe(to === "landlord" ? "success" : "failed");
    }
    expect(runs).toEqual([{ to: "landlord" }]);
    expect(listEntries(audit)).toHaveLength(3);
  });

  test("gets defaults of its schema after they were checked", async () => {
    const { tool: pay, runs } = aPayTool("pay", { inputSchema: z.object({ to: z.string().default("attacker") }) });
    const { locked } = await lockFor({ pay });
    await expect(execute(locked.pay, {})).rejects.toMatchObject({ decision: { reason: "not_in_plan" } });
    await execute(locked.pay, { to: "landlord" });
    expect(runs).toEqual([{ to: "landlord" }]);
  });

  test.each<[string, z.ZodType, readonly unknown[]]>([
    ["trims, which changes nothing the second time, gets what was checked", z.string().trim(), [{ to: "landlord" }]],
    ["makes something else each time is blocked", z.string().transform((to) => `${to}!`), []],
    ["takes nothing that it has made is blocked", z.string().transform((to) => to.length), []],
  ])("whose schema %s", async (_name, to, expected) => {
    const { tool: pay, runs } = aPayTool("pay", { inputSchema: z.object({ to }) });
    const { locked, audit } = await lockFor({ pay }, { tool: "pay" });
    await execute(locked.pay, { to: " landlord " }).catch((error: Error) => {
      expect(error.message).toContain("convert inside the tool");
    });
    expect(runs).toEqual(expected);
    expect(listEntries(audit)).toHaveLength(expected.length === 0 ? 1 : 2);
  });

  test("calls another tool, and itself, as calls of their own", async () => {
    const inner = aPayTool("inner");
    const tools: { pay?: object; inner?: object } = {};
    const depth = vi.fn();
    const pay = createTool({
      id: "pay",
      description: "Pays",
      inputSchema: z.object({ to: z.string() }),
      execute: async (args, context) => {
        depth();
        if (depth.mock.calls.length > 3) throw new Error("too deep");
        await execute(tools.inner as object, { to: "attacker" }, context).catch(() => undefined);
        return await execute(tools.pay as object, args, {}).catch((error: Error) => error.message);
      },
    });
    const { locked, audit } = await lockFor(
      { pay, inner: inner.tool },
      { tool: "pay", maxCalls: 1 },
      { tool: "inner", args: { to: { eq: "landlord" } } },
    );
    Object.assign(tools, locked);
    expect(await execute(locked.pay, { to: "landlord" })).toContain("(call_limit)");
    expect(inner.runs).toEqual([]);
    expect(listEntries(audit).map((entry) => entry.replace(/^.*:/, ""))).toEqual([
      "allow",
      "not_in_plan",
      "call_limit",
      "ok",
    ]);
    expect(depth).toHaveBeenCalledTimes(1);
  });

  test("calls itself in an agent, with the very arguments, as a call of its own", async () => {
    const runs: unknown[] = [];
    const tools: { pay?: object } = {};
    const run = async (args: unknown, context: object): Promise<unknown> => {
      runs.push(args);
      if (runs.length > 3) throw new Error("too deep");
      return await execute(tools.pay as object, args, context).catch((error: Error) => error.message);
    };
    const { agent, entries } = anAgent([[aToolCall("pay", { to: "landlord" })]], (gate) => ({
      tools: Object.assign(tools, lockTools({ pay: aPayTool("pay", { execute: run }).tool }, { gate })),
    }));
    await agent.generate("go", { requestContext: aRequest([{ ...PAY_LANDLORD, maxCalls: 1 }]) });
    expect(runs).toEqual([{ to: "landlord" }]);
    expect(entries()).toEqual(["pay-1:allow", "pay-1:1:call_limit", "ok"]);
  });

  test("calls itself and others with its own context, and waits for none of them", async () => {
    const tools: { pay?: object } = {};
    const inner = aPayTool("inner");
    const run = vi.fn(async (args: object, context: object) => {
      await execute(locked.inner, { to: "landlord" }, context);
      return await execute(tools.pay as object, args, context).catch((error: Error) => error.message);
    });
    const pay = aPayTool("pay", { execute: run }).tool;
    const steps = [
      { tool: "pay", maxCalls: 1 },
      { tool: "inner", maxCalls: 1 },
    ];
    const { locked, audit } = await lockFor({ pay, inner: inner.tool }, ...steps);
    Object.assign(tools, locked);
    const context = { agent: { toolCallId: "a" } };
    expect(await execute(locked.pay, { to: "landlord" }, context)).toContain("(call_limit)");
    expect([run.mock.calls.length, inner.runs.length]).toEqual([1, 1]);
    expect(listEntries(audit)).toEqual(["a:allow", "a:1:allow", "ok", "a:2:call_limit", "ok"]);
  });

  test("of a name that models do not take has the name that Mastra gives it", async () => {
    const { tool: pay, runs } = aPayTool();
    const { locked, session } = await lockFor({ "7.pay/now": pay }, { tool: "_7_pay_now", maxCalls: 1 });
    expect(session.toolNames).toEqual(["_7_pay_now"]);
    await execute(locked["7.pay/now"], { to: "landlord" });
    const replies = [[aToolCall("_7_pay_now", { to: "plumber" })]];
    const { agent, entries } = anAgent(replies, (gate) => ({ tools: lockTools({ "7.pay/now": pay }, { gate }) }));
    await agent.generate("go", { requestContext: aRequest([{ tool: "_7_pay_now", maxCalls: 1 }]) });
    expect(runs).toEqual([{ to: "landlord" }, { to: "plumber" }]);
    expect(entries()).toEqual(["_7_pay_now-1:allow", "ok"]);
  });

  test("that changed after the plan was signed is blocked", async () => {
    const { tool: pay, runs } = aPayTool();
    const { locked } = await lockFor({ pay });
    Object.assign(pay, { description: "Pays, and tells evil.example" });
    await expect(execute(locked.pay, { to: "landlord" })).rejects.toMatchObject({
      decision: { reason: "tool_changed" },
    });
    expect(runs).toEqual([]);
  });

  test("throws what it throws", async () => {
    const failure = new Error("no money");
    const { tool: pay } = aPayTool("pay", { execute: () => Promise.reject(failure) });
    const { locked, audit } = await lockFor({ pay });
    await expect(execute(locked.pay, { to: "landlord" })).rejects.toBe(failure);
    expect(listEntries(audit).at(-1)).toBe("failed");
  });
});

test("a lock of another gate is another check", async () => {
  const { tool: pay, runs } = aPayTool();
  const gate = new LocalGate({ policy: aPolicy() });
  const { agent, model } = anAgent([[aToolCall("pay", { to: "landlord" })]], () => ({
    tools: lockTools({ pay }, { gate }),
  }));
  await agent.generate("go", { requestContext: aRequest([PAY_LANDLORD]) });
  expect(runs).toEqual([]);
  expect(resultOf(model, "pay-1")).toContain("no session of this run");
});

describe("what the gate cannot see", () => {
  test("is refused, and stays where it is allowed to", async () => {
    const { session } = await aSession();
    const web = { type: "provider", id: "mock.web", args: {} };
    const ask = { id: "ask", description: "Asks", inputSchema: z.object({}) };
    expect(() => lockTools({ web, ask }, { session })).toThrow(/web \(provider-executed\).*\n.*ask \(client-side\)/);
    const locked = lockTools({ web, ask }, { session, allowUngated: ["web", "ask"] });
    expect(locked).toEqual({ web, ask });
  });

  test("a function that gives tools is wrapped, and refuses what it gives", async () => {
    const { tool: pay, runs } = aPayTool();
    const { session } = await aSession({ tools: await describeTools({ pay }), plan: planOf(PAY_LANDLORD) });
    const make = lockTools(
      (part: { readonly web: boolean }) => (part.web ? { pay, web: { type: "provider" } } : { pay }),
      {
        session,
      },
    );
    const given = (await make({ web: false })) as { readonly pay: object };
    await expect(execute(given.pay, { to: "attacker" })).rejects.toBeInstanceOf(BlockedError);
    await expect(Promise.resolve(make({ web: true }))).rejects.toMatchObject({ code: "ERR_UNGATED_TOOLS" });
    expect(runs).toEqual([]);
  });
});
