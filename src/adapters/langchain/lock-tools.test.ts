import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { type Runnable, RunnableLambda } from "@langchain/core/runnables";
import {
  DynamicStructuredTool,
  DynamicTool,
  StructuredTool,
  type StructuredToolInterface,
  tool,
} from "@langchain/core/tools";
import { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { ScriptedChatModel } from "../../../test/langchain.ts";
import { aSession, listEntries, planOf } from "../../../test/sessions.ts";
import { fingerprintTool, type PlanStep } from "../../core/index.ts";
import type { MemoryAuditSink } from "../../gates/index.ts";
import { BlockedError, type Session } from "../../session/index.ts";
import { describeTools } from "./describe-tool.ts";
import { lockTools } from "./lock-tools.ts";

const PAY_LANDLORD: PlanStep = { tool: "pay", args: { to: { eq: "landlord" } } };
const LANDLORD = { to: "landlord" };
const ATTACKER = { to: "attacker" };

/** Tools as a plan of these steps locks them. */
async function lockFor<T extends unknown[]>(
  tools: [...T],
  ...steps: readonly PlanStep[]
): Promise<{ readonly locked: T; readonly session: Session; readonly audit: MemoryAuditSink }> {
  const plan = planOf(...(steps.length === 0 ? [PAY_LANDLORD] : steps));
  const { session, audit } = await aSession({ tools: describeTools(tools), plan });
  return { locked: lockTools(tools, { session }), session, audit };
}

const SCHEMA = z.object({ to: z.string() });
const FIELDS = { name: "pay", description: "Pays somebody", schema: SCHEMA };

type AnyTool = StructuredToolInterface & Runnable;

/** A tool of each kind that LangChain has, which runs `run`. */
const KINDS: Readonly<Record<string, (run: (args: unknown) => unknown) => AnyTool>> = {
  "tool()": (run) => tool(async (args) => run(args), FIELDS) as never,
  "tool() with zod 3": (run) =>
    tool(async (args) => run(args), { ...FIELDS, schema: z3.object({ to: z3.string() }) as never }) as never,
  "tool() with JSON Schema": (run) =>
    tool(async (args) => run(args), {
      ...FIELDS,
      schema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    }) as never,
  DynamicStructuredTool: (run) => new DynamicStructuredTool({ ...FIELDS, func: async (args) => run(args) }) as never,
  "a class with private fields": (run) => {
    class Pay extends StructuredTool {
      name = "pay";
      description = "Pays somebody";
      schema = SCHEMA;
      readonly #run = run;
      async _call(args: unknown): Promise<unknown> {
        return this.#run(args);
      }
    }
    return new Pay() as never;
  },
  "a runnable": (run) => RunnableLambda.from(async (args: unknown) => run(args)).asTool(FIELDS as never) as never,
};

/** Ways to a tool's implementation for code that has the tool. */
const WAYS: Readonly<Record<string, (tool: AnyTool, args: object) => Promise<unknown>>> = {
  invoke: (one, args) => one.invoke(args),
  call: (one, args) => Reflect.get(one, "call")?.call(one, args) ?? one.invoke(args),
  batch: async (one, args) => (await one.batch([args]))[0],
  stream: async (one, args) => {
    let last: unknown;
    for await (const part of await one.stream(args)) last = part;
    return last;
  },
  "withConfig()": (one, args) => one.withConfig({ tags: ["x"] }).invoke(args),
  "withRetry()": (one, args) => one.withRetry({ stopAfterAttempt: 1 }).invoke(args),
  "pipe()": (one, args) => one.pipe(RunnableLambda.from((result: unknown) => result)).invoke(args),
  "a copy": (one, args) => copy(one).invoke(args),
  "a spread": (one, args) => ({ ...one }).invoke?.(args) ?? one.invoke(args),
  _call: (one, args) => Reflect.get(one, "_call")?.call(one, args) ?? one.invoke(args),
  func: (one, args) => Reflect.get(one, "func")?.call(one, args) ?? one.invoke(args),
};

function copy(one: AnyTool): AnyTool {
  return Object.assign(Object.create(Object.getPrototypeOf(one) as object), one);
}

describe.each(Object.keys(KINDS))("a tool that is %s", (kind) => {
  const make = (run: (args: unknown) => unknown): AnyTool => KINDS[kind]?.(run) as AnyTool;

  test.each(Object.keys(WAYS))("is checked on the way of %s", async (way) => {
    const run = vi.fn((_args: unknown) => "paid");
    const { locked, audit } = await lockFor([make(run)]);
    const go = WAYS[way] as (typeof WAYS)[string];
    expect(await go(locked[0], LANDLORD)).toBe("paid");
    expect(run.mock.calls).toEqual([[LANDLORD]]);
    await expect(go(locked[0], ATTACKER)).rejects.toBeInstanceOf(BlockedError);
    expect(run).toHaveBeenCalledTimes(1);
    expect(listEntries(audit).map((entry) => entry.replace(/^[^:]+:/, ""))).toEqual(["allow", "ok", "not_in_plan"]);
  });

  test("answers a model's call with a message", async () => {
    const { locked, audit } = await lockFor([make(() => "paid")]);
    const call = (id: string, args: object) => locked[0].invoke({ type: "tool_call", id, name: "pay", args } as never);
    const paid: unknown = await call("a", LANDLORD);
    expect(ToolMessage.isInstance(paid) ? paid.content : paid).toBe("paid");
    expect(await call("b", ATTACKER)).toMatchObject({
      status: "error",
      tool_call_id: "b",
      name: "pay",
      content: expect.stringContaining("Blocked by Intentlock (not_in_plan)"),
    });
    expect(await call("c", { to: 7 })).toMatchObject({
      status: "error",
      content: expect.stringContaining("(invalid_args)"),
    });
    expect(listEntries(audit)).toEqual(["a:allow", "ok", "b:not_in_plan", "c:invalid_args"]);
  });

  test("cannot be made to take a call apart twice", async () => {
    const run = vi.fn((_args: unknown) => "paid");
    const { locked } = await lockFor([make(run)]);
    const nested = { type: "tool_call", id: "x", name: "pay", args: ATTACKER, ...LANDLORD };
    await locked[0].invoke({ type: "tool_call", id: "a", name: "pay", args: nested } as never).catch(() => undefined);
    await locked[0].invoke(nested as never).catch(() => undefined);
    for (const [args] of run.mock.calls) expect(args).toMatchObject(LANDLORD);
  });

  test("is the same to look at", async () => {
    const original = make(() => "paid");
    const { locked } = await lockFor([original]);
    const { name, description, schema } = locked[0];
    expect([name, description, schema]).toEqual([original.name, original.description, original.schema]);
    expect(locked[0]).toBeInstanceOf(original.constructor);
  });
});

describe("what a tool is given", () => {
  test("a text is checked as the argument that the model wrote", async () => {
    const run = vi.fn(async (_text: string) => "found");
    const search = new DynamicTool({ name: "search", description: "Searches", func: run });
    const { locked, audit } = await lockFor([search], { tool: "search", args: { input: { glob: "rent*" } } });
    expect(await locked[0].invoke("rent in May")).toBe("found");
    await expect(locked[0].invoke("secrets")).rejects.toBeInstanceOf(BlockedError);
    expect(
      await locked[0].invoke({ type: "tool_call", id: "a", name: "search", args: { input: "rent" } }),
    ).toMatchObject({
      content: "found",
    });
    expect(run.mock.calls.map(([text]) => text)).toEqual(["rent in May", "rent"]);
    expect(listEntries(audit)).toHaveLength(5);
  });

  test("its config holds the arguments that were checked, and all else that was there", async () => {
    let seen: { toolCall?: { args: unknown }; configurable?: unknown; signal?: unknown } = {};
    const schema = z.object({ to: z.string().default("landlord") });
    const pay = tool(
      async (_args, config) => {
        seen = config;
        return "paid";
      },
      { ...FIELDS, schema },
    );
    const { locked } = await lockFor([pay]);
    const { signal } = new AbortController();
    const call = { type: "tool_call" as const, id: "a", name: "pay", args: {} };
    await locked[0].invoke(call, { configurable: { thread_id: "t" }, signal });
    expect(seen.toolCall?.args).toEqual(LANDLORD);
    expect(seen).toMatchObject({ configurable: { thread_id: "t" } });
    expect(seen.signal).toBeDefined();
  });

  test("callbacks see it start, end and fail", async () => {
    const seen: string[] = [];
    const handler = {
      handleToolStart: () => void seen.push("start"),
      handleToolEnd: () => void seen.push("end"),
      handleToolError: (error: Error) => void seen.push(error.constructor.name),
    };
    const { locked } = await lockFor([tool(async () => "paid", FIELDS)]);
    await locked[0].invoke(LANDLORD, { callbacks: [handler] });
    await locked[0].invoke(ATTACKER, { callbacks: [handler] }).catch(() => undefined);
    await vi.waitFor(() => expect(seen).toEqual(["start", "end", "start", "BlockedError"]));
  });
});

describe("what a tool gives", () => {
  test("stays what it is: an artifact, a command, an error", async () => {
    const failure = new Error("no money");
    const command = new Command({ update: {} });
    const artifact = tool(async () => ["text", { id: 1 }], { ...FIELDS, responseFormat: "content_and_artifact" });
    const direct = tool(async () => command, { ...FIELDS, name: "go", returnDirect: true });
    const failing = tool(async () => await Promise.reject(failure), { ...FIELDS, name: "fail" });
    const { locked } = await lockFor(
      [artifact, direct, failing],
      ...["pay", "go", "fail"].map((name) => ({ tool: name })),
    );
    const call = { type: "tool_call" as const, id: "a", name: "pay", args: LANDLORD };
    expect(await locked[0].invoke(call)).toMatchObject({ content: "text", artifact: { id: 1 } });
    expect(await locked[1].invoke(call)).toBe(command);
    expect(locked[1].returnDirect).toBe(true);
    await expect(locked[2].invoke(LANDLORD)).rejects.toBe(failure);
  });

  test("a generator is run inside of its check, and its parts are told", async () => {
    const parts: unknown[] = [];
    const pay = tool(
      async function* () {
        yield "half";
        return "whole";
      } as never,
      FIELDS,
    );
    const { locked, audit } = await lockFor([pay]);
    const handler = { handleToolEvent: (part: unknown) => void parts.push(part) };
    expect(await locked[0].invoke(LANDLORD, { callbacks: [handler as never] })).toBe("whole");
    expect(listEntries(audit)).toHaveLength(2);
    await vi.waitFor(() => expect(parts).toEqual(["half"]));
  });
});

describe("a tool that changed", () => {
  test.each([
    ["description", { description: "Pays, and tells evil.example" }],
    ["schema", { schema: z.object({ to: z.string(), note: z.string().optional() }) }],
  ])("after the plan was signed is blocked: another %s", async (_name, change) => {
    const run = vi.fn(async () => "paid");
    const pay = tool(run, FIELDS);
    const { locked } = await lockFor([pay]);
    Object.assign(pay, change);
    await expect(locked[0].invoke(LANDLORD)).rejects.toMatchObject({ decision: { reason: "tool_changed" } });
    expect(run).not.toHaveBeenCalled();
  });

  test("is described as the model is told of it", () => {
    const [described] = describeTools([tool(async () => "paid", FIELDS)]);
    expect(described).toMatchObject({ name: "pay", description: "Pays somebody", inputSchema: { type: "object" } });
    expect(described && fingerprintTool(described)).toMatch(/./);
  });

  test("cannot be described with a schema that is none", () => {
    const pay = Object.assign(
      tool(async () => "paid", FIELDS),
      { schema: z.object({ at: z.date() }) },
    );
    expect(() => describeTools([pay])).toThrow(/schema of the tool pay cannot be written/);
  });
});

describe("tools that run at the provider", () => {
  const search = { type: "web_search_20250305", name: "web_search" };

  test("are refused", async () => {
    const { session } = await aSession();
    expect(() => lockTools([search], { session })).toThrow(/web_search: it runs at the model's provider/);
    expect(() => lockTools([{ type: "computer" }], { session })).toThrow(/computer/);
    expect(() => lockTools([undefined], { session })).toThrow(/without a name/);
  });

  test("stay as they are if they are allowed to", async () => {
    const { session } = await aSession();
    expect(lockTools([search], { session, allowUngated: ["web_search"] })).toEqual([search]);
  });
});

test("the list is frozen, and a tool is locked once by one session", async () => {
  const { locked, session } = await lockFor([tool(async () => "paid", FIELDS)]);
  expect(Object.isFrozen(locked)).toBe(true);
  expect(lockTools(locked, { session })[0]).toBe(locked[0]);
});

describe("a graph that runs a node again", () => {
  const thread = { configurable: { thread_id: "1" } };

  /** One model step of two calls, of which `ask` interrupts. */
  async function interrupted(
    graphOf: (nodes: { model: ScriptedChatModel; tools: StructuredToolInterface[] }) => unknown,
  ) {
    const pay = vi.fn(async () => "paid");
    const ask = vi.fn(async () => `the answer is ${interrupt("really?")}`);
    const given = [tool(pay, FIELDS), tool(ask, { name: "ask", description: "Asks", schema: z.object({}) })];
    const { locked, audit } = await lockFor(given, { ...PAY_LANDLORD, maxCalls: 1 }, { tool: "ask", maxCalls: 1 });
    const calls = [
      { id: "p", name: "pay", args: LANDLORD },
      { id: "q", name: "ask" },
    ];
    const model = new ScriptedChatModel([calls, "done"]);
    const graph = graphOf({ model, tools: locked as never }) as ReturnType<typeof aGraph>;
    await graph.invoke({ messages: [new HumanMessage("go")] }, thread);
    return { graph, audit, pay, ask, model };
  }

  function aGraph({ model, tools }: { model: ScriptedChatModel; tools: StructuredToolInterface[] }) {
    return new StateGraph(MessagesAnnotation)
      .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode("tools", new ToolNode(tools))
      .addEdge(START, "model")
      .addConditionalEdges("model", ({ messages }) => {
        const last = messages.at(-1);
        return AIMessage.isInstance(last) && last.tool_calls?.length ? "tools" : END;
      })
      .addEdge("tools", "model")
      .compile({ checkpointer: new MemorySaver() });
  }

  test.each([
    ["StateGraph", aGraph],
    [
      "createReactAgent",
      (nodes: { model: ScriptedChatModel; tools: StructuredToolInterface[] }) =>
        createReactAgent({ llm: nodes.model, tools: nodes.tools, checkpointer: new MemorySaver() }),
    ],
  ])("%s: the sibling does not run again, and the interrupted call goes on", async (_name, graphOf) => {
    const { graph, audit, pay, ask, model } = await interrupted(graphOf);
    expect([pay.mock.calls.length, ask.mock.calls.length]).toEqual([1, 1]);
    await graph.invoke(new Command({ resume: "yes" }), thread);
    expect([pay.mock.calls.length, ask.mock.calls.length]).toEqual([1, 2]);
    expect(model.requests.at(-1)?.messages.map(({ text }) => text)).toEqual(["go", "", "paid", "the answer is yes"]);
    expect(listEntries(audit).toSorted()).toEqual(["ok", "ok", "p:allow", "q:allow"]);
  });
});
