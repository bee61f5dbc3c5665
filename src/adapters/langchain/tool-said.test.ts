import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatPromptValue } from "@langchain/core/prompt_values";
import { RunnableLambda } from "@langchain/core/runnables";
import { DynamicStructuredTool, type StructuredToolInterface, tool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { allow, aSession, planOf, ScriptedGate } from "../../../test/sessions.ts";
import { describeTools } from "./describe-tool.ts";
import { IntentlockCallbackHandler } from "./index.ts";
import { lockTools } from "./lock-tools.ts";
import { readSaid } from "./tool-said.ts";

const EVE = "eve@evil.example";
const FIELDS = { name: "read_file", description: "Reads", schema: z.object({ path: z.string() }) };

/** A message of a tool, with what the model has chosen on it. */
function aToolMessage(content: string, artifact?: unknown): ToolMessage {
  return new ToolMessage({
    content,
    tool_call_id: EVE,
    name: EVE,
    id: EVE,
    additional_kwargs: { echo: EVE },
    ...(artifact !== undefined && { artifact }),
  });
}

const CALLS = [{ type: "tool_call" as const, id: EVE, name: EVE, args: { to: EVE } }];
const USE = { type: "tool_use", id: EVE, name: EVE, input: { to: EVE } };

describe("what a tool has said", () => {
  test.each<[string, unknown, unknown]>([
    ["a text", "hello", "hello"],
    ["nothing", undefined, undefined],
    ["JSON", { a: [1, null, { b: true }] }, { a: [1, null, { b: true }] }],
    ["a date", [new Date(0)], [new Date(0)]],
    ["the content of a tool's message", aToolMessage("hello", { to: EVE }), "hello"],
    ["the words of an AI message", new AIMessage({ content: "hello", tool_calls: CALLS, name: EVE }), "hello"],
    [
      "and these without its calls",
      new AIMessage({ content: [{ type: "text", text: "hello" }, USE], tool_calls: CALLS }),
      ["hello", null],
    ],
    [
      "the update of a command",
      new Command({ goto: EVE, update: { messages: [aToolMessage("hello")] } }),
      { messages: ["hello"] },
    ],
    [
      "several commands",
      [new Command({ update: [["messages", aToolMessage("hello")]] }), new Command({ goto: EVE })],
      [[["messages", "hello"]], undefined],
    ],
    [
      "the state of an agent, without what was said to it",
      {
        messages: [
          new SystemMessage(EVE),
          new HumanMessage(EVE),
          new AIMessage({ content: "", tool_calls: CALLS }),
          aToolMessage("hi"),
          new AIMessage("hello"),
        ],
      },
      { messages: [null, null, "", "hi", "hello"] },
    ],
    ["other objects of LangChain", new ChatPromptValue([new HumanMessage(EVE)]), null],
    [
      "JSON that says that it is a message",
      {
        lc_direct_tool_output: true,
        type: "tool",
        lc_namespace: [],
        lg_name: "Command",
        content: "hello",
        update: "hi",
        email: "x",
      },
      {
        lc_direct_tool_output: true,
        type: "tool",
        lc_namespace: [],
        lg_name: "Command",
        content: "hello",
        update: "hi",
        email: "x",
      },
    ],
  ])("%s", (_name, given, said) => {
    expect(readSaid(given)).toEqual(said);
    expect(JSON.stringify(readSaid(given)) ?? "").not.toContain(EVE);
  });

  test("what never ends is nothing that could be read", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(() => readSaid(cycle)).toThrow(RangeError);
  });
});

/** A session whose gate wants the results of `read_file`. */
async function start<T extends StructuredToolInterface>(one: T) {
  const gate = new ScriptedGate({ check: [(call) => ({ ...allow(call), step: 0 })] });
  const plan = planOf({ id: "read", tool: "read_file" }, { tool: "read_file", args: { path: { from: "read" } } });
  const { session } = await aSession({ gate, plan, tools: describeTools([one]) });
  const said = (): unknown[] => gate.outcomes.map((outcome) => ("result" in outcome ? outcome.result : "nothing"));
  return { session, said };
}

const CALL = { type: "tool_call", id: EVE, name: "read_file", args: { path: EVE } } as const;

/** A tool that goes its own way, as one of another copy of LangChain does. */
class OwnWay extends DynamicStructuredTool {
  override async invoke(...parts: Parameters<DynamicStructuredTool["invoke"]>): Promise<never> {
    return (await super.invoke(...parts)) as never;
  }
}

const PAIR = { ...FIELDS, responseFormat: "content_and_artifact" } as const;
const given = async (): Promise<unknown> => ["hello", { email: "bob@acme.dev" }];

describe("a call with an address in its id and its arguments", () => {
  test.each<[string, () => StructuredToolInterface, unknown]>([
    ["of a function", () => tool(async () => ({ text: "hello" }), FIELDS) as never, { text: "hello" }],
    ["of one that makes the message itself", () => tool(async () => aToolMessage("hello"), FIELDS) as never, "hello"],
    [
      "of one that gives a command",
      () => tool(async () => new Command({ update: { messages: [aToolMessage("hello")] } }), FIELDS) as never,
      { messages: ["hello"] },
    ],
    ["of one with an artifact", () => tool(given as never, PAIR) as never, ["hello", { email: "bob@acme.dev" }]],
    ["of a tool that goes its own way", () => new OwnWay({ ...FIELDS, func: async () => "hello" }) as never, "hello"],
    [
      "of such a one with an artifact",
      () => new OwnWay({ ...PAIR, func: given as never }) as never,
      ["hello", { email: "bob@acme.dev" }],
    ],
    [
      "of a runnable that is an agent",
      () =>
        RunnableLambda.from(async () => ({ messages: [new HumanMessage(EVE), new AIMessage("hello")] })).asTool(
          FIELDS as never,
        ) as never,
      { messages: [null, "hello"] },
    ],
  ])("%s: the gate gets what the tool has said", async (_name, make, expected) => {
    const { session, said } = await start(make());
    const [locked] = lockTools([make()], { session });
    await locked?.invoke(CALL);
    expect(said()).toEqual([expected]);
    expect(JSON.stringify(said())).not.toContain(EVE);
  });

  test.each([
    ["a text", async () => "hello"],
    ["a message", async () => aToolMessage("hello")],
  ])("seen by a handler alone, of a tool that gives %s", async (_name, run) => {
    const one = tool(run, FIELDS);
    const { session, said } = await start(one as never);
    await one.invoke(CALL, { callbacks: [new IntentlockCallbackHandler({ session })] });
    expect(said()).toEqual(["hello"]);
  });
});
