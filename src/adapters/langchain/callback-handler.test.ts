import { HumanMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { StructuredTool, tool } from "@langchain/core/tools";
import { createAgent, createMiddleware } from "langchain";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { listResults, ScriptedChatModel } from "../../../test/langchain.ts";
import { aSession, listEntries, planOf } from "../../../test/sessions.ts";
import type { PlanStep } from "../../core/index.ts";
import { BlockedError, type SessionOptions } from "../../session/index.ts";
import { IntentlockCallbackHandler } from "./callback-handler.ts";
import { describeTools } from "./describe-tool.ts";
import { lockTools } from "./lock-tools.ts";

const FIELDS = { name: "pay", description: "Pays somebody", schema: z.object({ to: z.string() }) };
const LANDLORD = { to: "landlord" };
const ATTACKER = { to: "attacker" };
const PLAN: PlanStep = { tool: "pay", args: { to: { eq: "landlord" } } };

/** A handler that is told of tools by what describes them. */
async function aHandler(
  tools: readonly unknown[],
  steps: readonly PlanStep[] = [PLAN],
  over: Partial<SessionOptions> = {},
) {
  const { session, audit } = await aSession({ tools: describeTools(tools), plan: planOf(...steps), ...over });
  const handler = new IntentlockCallbackHandler({ session });
  return { session, audit, handler, config: { callbacks: [handler] }, entries: () => listEntries(audit) };
}

function aPayTool(run: (args: unknown) => unknown = () => "paid", over: object = {}) {
  const spy = vi.fn(async (args: unknown) => run(args));
  return { spy, tool: tool(spy as never, { ...FIELDS, ...over } as never) as StructuredTool };
}

function withoutIds(entries: readonly string[]): string[] {
  return entries.map((entry) => entry.replace(/^[^:]+:/, ""));
}

beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

describe("a tool that starts", () => {
  test("is checked, and what becomes of it is on record", async () => {
    const pay = aPayTool();
    const { config, entries } = await aHandler([pay.tool]);
    expect(await pay.tool.invoke(LANDLORD as never, config)).toBe("paid");
    await expect(pay.tool.invoke(ATTACKER as never, config)).rejects.toBeInstanceOf(BlockedError);
    expect(pay.spy.mock.calls.map(([args]) => args)).toEqual([LANDLORD]);
    await vi.waitFor(() => expect(withoutIds(entries())).toEqual(["allow", "ok", "not_in_plan"]));
  });

  test("has the id of the model's call", async () => {
    const pay = aPayTool();
    const { config, entries } = await aHandler([pay.tool]);
    const call = { type: "tool_call", id: "call-1", name: "pay", args: ATTACKER };
    await pay.tool.invoke(call as never, config).catch(() => undefined);
    expect(entries()).toEqual(["call-1:not_in_plan"]);
  });

  test("and fails is on record as failed", async () => {
    const failure = new Error("no money");
    const pay = aPayTool(() => Promise.reject(failure));
    const { config, entries } = await aHandler([pay.tool]);
    await expect(pay.tool.invoke(LANDLORD as never, config)).rejects.toBe(failure);
    await vi.waitFor(() => expect(withoutIds(entries())).toEqual(["allow", "failed"]));
  });

  test("does not exceed its limit, with others at a time", async () => {
    const pay = aPayTool();
    const { config } = await aHandler([pay.tool], [{ ...PLAN, maxCalls: 2 }]);
    const runs = await Promise.allSettled([1, 2, 3, 4].map(() => pay.tool.invoke(LANDLORD as never, config)));
    expect(runs.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(pay.spy).toHaveBeenCalledTimes(2);
  });

  test("twice under one id runs once", async () => {
    const pay = aPayTool();
    const { config } = await aHandler([pay.tool]);
    const call = { type: "tool_call", id: "same", name: "pay", args: LANDLORD };
    const runs = await Promise.allSettled([call, call].map((one) => pay.tool.invoke(one as never, config)));
    expect(runs.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(pay.spy).toHaveBeenCalledTimes(1);
  });

  test("with a default or a transform is checked as what they make of it", async () => {
    const to = z
      .string()
      .default("attacker")
      .transform((name) => name.trim());
    const pay = aPayTool(undefined, { schema: z.object({ to }) });
    const { config } = await aHandler([pay.tool]);
    await expect(pay.tool.invoke({} as never, config)).rejects.toBeInstanceOf(BlockedError);
    await pay.tool.invoke({ to: " landlord " } as never, config);
    expect(pay.spy.mock.calls.map(([args]) => args)).toEqual([LANDLORD]);
  });

  test("with a text is checked as the argument that a model writes", async () => {
    const search = vi.fn(async (_text: string) => "found");
    const one = tool(search, { name: "search", description: "Searches" });
    const { config } = await aHandler([one], [{ tool: "search", args: { input: { eq: '{"rent":1}' } } }]);
    await one.invoke('{"rent":1}', config);
    await expect(one.invoke("secrets", config)).rejects.toBeInstanceOf(BlockedError);
    expect(search).toHaveBeenCalledTimes(1);
  });

  test.each<[string, () => { invoke: (input: never, config: never) => Promise<unknown> }, object]>([
    ["of a name that the plan does not have", () => aPayTool(undefined, { name: "other" }).tool, {}],
    ["under the name of another run", () => aPayTool().tool, { runName: "innocent" }],
    [
      "of a class, which has no name for handlers",
      () =>
        new (class Pay extends StructuredTool {
          name = "pay";
          description = "Pays somebody";
          schema = FIELDS.schema;
          async _call(): Promise<string> {
            return "paid";
          }
        })(),
      {},
    ],
  ])("%s does not run", async (_name, make, more) => {
    const { config, entries } = await aHandler([aPayTool().tool]);
    const invoking = make().invoke(LANDLORD as never, { ...config, ...more } as never);
    await expect(invoking).rejects.toMatchObject({
      decision: { reason: expect.stringMatching(/unknown_tool|invalid_call/) },
    });
    expect(entries()).toHaveLength(1);
  });

  test("does not run once the session is closed", async () => {
    const pay = aPayTool();
    const { config, session } = await aHandler([pay.tool]);
    await session.close();
    await expect(pay.tool.invoke(LANDLORD as never, config)).rejects.toMatchObject({ decision: { reason: "aborted" } });
    expect(pay.spy).not.toHaveBeenCalled();
  });

  test.each([["true"], ["false"], [""]])(
    "waits for its check with LANGCHAIN_CALLBACKS_BACKGROUND=%s",
    async (value) => {
      vi.stubEnv("LANGCHAIN_CALLBACKS_BACKGROUND", value);
      const pay = aPayTool();
      const { config } = await aHandler([pay.tool]);
      vi.unstubAllEnvs();
      await expect(pay.tool.invoke(ATTACKER as never, config)).rejects.toBeInstanceOf(BlockedError);
      expect(pay.spy).not.toHaveBeenCalled();
    },
  );

  test("inside of a tool that another handler call allowed is checked too", async () => {
    const pay = aPayTool();
    const rent = aPayTool(async () => await pay.tool.invoke(ATTACKER as never).catch((error: Error) => error.message), {
      name: "rent",
    });
    const { config, entries } = await aHandler([pay.tool, rent.tool], [{ tool: "rent" }, PLAN]);
    expect(await rent.tool.invoke(LANDLORD as never, config)).toContain("(not_in_plan)");
    await vi.waitFor(() => expect(withoutIds(entries())).toEqual(["allow", "not_in_plan", "ok"]));
  });
});

describe("beside locked tools", () => {
  test("checks nothing twice", async () => {
    const pay = aPayTool();
    const { session, config, entries } = await aHandler([pay.tool]);
    const [locked] = lockTools([pay.tool], { session });
    await locked?.invoke(LANDLORD as never, config);
    await locked?.invoke(ATTACKER as never, config).catch(() => undefined);
    expect(withoutIds(entries())).toEqual(["allow", "ok", "not_in_plan"]);
  });

  test("no other tool of their name runs", async () => {
    const pay = aPayTool();
    const evil = aPayTool();
    const { session, config, entries } = await aHandler([pay.tool]);
    lockTools([pay.tool], { session });
    await expect(evil.tool.invoke(LANDLORD as never, config)).rejects.toBeInstanceOf(BlockedError);
    expect(evil.spy).not.toHaveBeenCalled();
    expect(withoutIds(entries())).toEqual(["unknown_tool"]);
  });

  test("what they call is their own doing", async () => {
    const inner = aPayTool();
    const pay = aPayTool(async () => await inner.tool.invoke(ATTACKER as never));
    const { session, config, entries } = await aHandler([pay.tool]);
    const [locked] = lockTools([pay.tool], { session });
    expect(await locked?.invoke(LANDLORD as never, config)).toBe("paid");
    expect(withoutIds(entries())).toEqual(["allow", "ok"]);
  });
});

describe("in agents", () => {
  const input = { messages: [new HumanMessage("go")] };
  const aModel = () => new ScriptedChatModel([[{ id: "a", name: "pay", args: ATTACKER }], "done"]);

  test("the model reads why, and the run goes on", async () => {
    const pay = aPayTool();
    const { config, entries } = await aHandler([pay.tool]);
    const model = aModel();
    const { messages } = await createAgent({ model, tools: [pay.tool] }).invoke(input, config);
    expect(messages.at(-1)?.text).toBe("done");
    expect(listResults(model)[0]?.text).toContain("Blocked by Intentlock (not_in_plan)");
    expect(entries()).toEqual(["a:not_in_plan"]);
  });

  test("beside a middleware that wraps tool calls, LangChain ends the run", async () => {
    const pay = aPayTool();
    const { config } = await aHandler([pay.tool]);
    const pass = createMiddleware({ name: "Pass", wrapToolCall: (request, handler) => handler(request) });
    const agent = createAgent({ model: aModel(), tools: [pay.tool], middleware: [pass] });
    await expect(agent.invoke(input, config)).rejects.toThrow("Blocked by Intentlock");
    expect(pay.spy).not.toHaveBeenCalled();
  });
});

describe("what it does not see, as its page says", () => {
  const run = async (one: object, method: string, config: object): Promise<unknown> =>
    await Reflect.apply(Reflect.get(one, method), one, [ATTACKER, undefined, config]);

  test.each<[string, (config: object) => Promise<unknown>]>([
    [
      "a runnable that was made a tool",
      (config) =>
        RunnableLambda.from(async () => "ran")
          .asTool(FIELDS as never)
          .invoke({} as never, config),
    ],
    ["callbacks: []", () => aPayTool(() => "ran").tool.invoke(ATTACKER as never, { callbacks: [] })],
    ["func()", (config) => run(aPayTool(() => "ran").tool, "func", config)],
    ["_call()", (config) => run(aPayTool(() => "ran").tool, "_call", config)],
  ])("%s", async (_name, go) => {
    const { config, entries } = await aHandler([aPayTool().tool]);
    expect(await go(config)).toBe("ran");
    expect(entries()).toEqual([]);
  });
});

test("a copy, as LangChain makes them, is the handler itself", async () => {
  const { handler } = await aHandler([aPayTool().tool]);
  expect(handler.copy()).toBe(handler);
});
