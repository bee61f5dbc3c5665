import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { StructuredTool, tool } from "@langchain/core/tools";
import { createAgent, createMiddleware } from "langchain";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { ALICE, aPolicy } from "../../../test/builders.ts";
import { ScriptedChatModel } from "../../../test/langchain.ts";
import { aSession, planOf } from "../../../test/sessions.ts";
import { LocalGate } from "../../gates/index.ts";
import { describeTools } from "./describe-tool.ts";
import { lockTools } from "./lock-tools.ts";
import { intentlockMiddleware } from "./middleware.ts";
import { installTripwire, runWithTripwire } from "./tripwire.ts";

const FIELDS = { name: "pay", description: "Pays somebody", schema: z.object({}) };
const STOPPED = { code: "ERR_UNGATED_TOOLS", message: expect.stringContaining("was stopped") };

class Pay extends StructuredTool {
  name = "pay";
  description = "Pays somebody";
  schema = FIELDS.schema;
  readonly run: () => unknown;

  constructor(run: () => unknown) {
    super();
    this.run = run;
  }

  async _call(): Promise<unknown> {
    return this.run();
  }
}

interface Invocable {
  readonly invoke: (input: never, config?: never) => Promise<unknown>;
}

const TOOLS: Readonly<Record<string, (run: () => unknown) => Invocable>> = {
  "tool()": (run) => tool(async () => run(), FIELDS),
  "a class": (run) => new Pay(run),
  "a runnable": (run) => RunnableLambda.from(async () => run()).asTool(FIELDS as never),
};

const run = vi.fn(() => "paid");

// LangChain tells the console of each handler that stops something.
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => {
  vi.restoreAllMocks();
  run.mockClear();
});

describe.each(Object.keys(TOOLS))("with a tripwire, %s", (kind) => {
  const make = (): Invocable => TOOLS[kind]?.(run) as Invocable;

  test.each([
    ["nothing else", undefined],
    ["callbacks: []", { callbacks: [] }],
    ["another name", { runName: "innocent" }],
    ["a handler of a known name", { callbacks: [{ name: "intentlock_tripwire" }] }],
  ])("does not run unlocked, with %s", async (_name, config) => {
    await expect(make().invoke({} as never, config as never)).resolves.toBe("paid");
    const remove = installTripwire();
    await expect(make().invoke({} as never, config as never)).rejects.toMatchObject(STOPPED);
    await expect(Promise.resolve().then(() => make().invoke({} as never))).rejects.toMatchObject(STOPPED);
    expect(run).toHaveBeenCalledTimes(1);
    remove();
    await expect(make().invoke({} as never)).resolves.toBe("paid");
  });

  test("runs locked, and so does what it calls", async () => {
    const inner = make();
    const outer = tool(async () => String(await inner.invoke({} as never)), { ...FIELDS, name: "outer" });
    const tools = [make(), outer];
    const plan = planOf({ tool: "pay" }, { tool: "outer" });
    const { session } = await aSession({ tools: describeTools(tools), plan });
    const locked = lockTools(tools, { session });
    const remove = installTripwire();
    try {
      for (const one of locked) expect(await (one as Invocable).invoke({} as never)).toBe("paid");
    } finally {
      remove();
    }
    expect(run).toHaveBeenCalledTimes(2);
  });
});

test("a tripwire that was taken away does not keep another from its work", async () => {
  installTripwire()();
  const remove = installTripwire();
  await expect(new Pay(run).invoke({} as never)).rejects.toMatchObject(STOPPED);
  remove();
  await expect(runWithTripwire(async () => await new Pay(run).invoke({} as never))).rejects.toMatchObject(STOPPED);
});

test("a tripwire for one piece of work is not noticed elsewhere", async () => {
  await expect(runWithTripwire(async () => await new Pay(run).invoke({} as never))).rejects.toMatchObject(STOPPED);
  expect(await new Pay(run).invoke({} as never)).toBe("paid");
});

describe("in agents", () => {
  const input = { messages: [new HumanMessage("go")] };
  const aModel = () => new ScriptedChatModel([[{ id: "a", name: "pay" }], "done"]);
  const context = { intentlock: { user: ALICE, task: "Pay the rent", plan: planOf({ tool: "pay" }) } };
  const gate = new LocalGate({ policy: aPolicy() });

  test("it stops the tools of one that nobody locked", async () => {
    const remove = installTripwire();
    const agent = createAgent({ model: aModel(), tools: [new Pay(run)] });
    await agent.invoke(input).finally(remove);
    expect(run).not.toHaveBeenCalled();
  });

  test("it stops a middleware in front of ours that runs the tool itself", async () => {
    const self = createMiddleware({
      name: "Self",
      wrapToolCall: async ({ tool, toolCall }) => {
        const result = await (tool as unknown as Invocable).invoke({} as never);
        return new ToolMessage({ content: String(result), tool_call_id: toolCall.id ?? "" });
      },
    });
    const agent = createAgent({
      model: aModel(),
      tools: [new Pay(run)],
      middleware: [self, intentlockMiddleware({ gate })],
    });
    const remove = installTripwire();
    await expect(agent.invoke(input, { context })).rejects.toThrow("was stopped");
    remove();
    expect(run).not.toHaveBeenCalled();
  });

  test("it lets the tools of a locked one run", async () => {
    const agent = createAgent({ model: aModel(), tools: [new Pay(run)], middleware: [intentlockMiddleware({ gate })] });
    const remove = installTripwire();
    await agent.invoke(input, { context }).finally(remove);
    expect(run).toHaveBeenCalledTimes(1);
  });
});
