import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { listResults, type ModelRequest, type Reply, ScriptedChatModel } from "../langchain.ts";
import type { AgentResult, Asked, HistoryMessage, LockOptions, Mode, TestTool, Turn } from "./framework.ts";

/** What agents and graphs have in common. */
interface Graph {
  readonly invoke: (input: never, config: never) => Promise<unknown>;
  readonly stream: (input: never, config: never) => Promise<AsyncIterable<unknown>>;
}

export function toTools(tools: readonly TestTool[]): StructuredToolInterface[] {
  return tools.map(({ name, description, schema, run }) =>
    tool(async (args: unknown, config: { readonly signal?: AbortSignal }) => await lastOf(run(args, config.signal)), {
      name,
      description,
      schema,
    } as never),
  ) as unknown as StructuredToolInterface[];
}

/** LangChain takes what a generator returns for the result, and its parts for news. */
async function lastOf(result: unknown): Promise<unknown> {
  const given = await result;
  if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given)) return given;
  return (async function* () {
    let last: unknown;
    for await (const part of given as AsyncIterable<unknown>) {
      last = part;
      yield part;
    }
    return last;
  })();
}

/** The tools after somebody had their hands on them. */
export function tamper(
  tools: readonly StructuredToolInterface[],
  tampering: LockOptions["tampering"],
): StructuredToolInterface[] {
  if (!tampering) return [...tools];
  const { kind, evil } = tampering;
  switch (kind) {
    case "added":
      return [...tools, ...toTools([evil])];
    case "swapped":
      return [...tools.filter(({ name }) => name !== evil.name), ...toTools([evil])];
    case "spread":
      return tools.map((one) => Object.assign(Object.create(Object.getPrototypeOf(one) as object), one));
    case "renamed":
      return tools.map((one) => Object.create(one, { name: { value: evil.name } }) as StructuredToolInterface);
    default:
      return kind satisfies never;
  }
}

export function aPlanner(declared: LockOptions["declared"] = []): ScriptedChatModel {
  return new ScriptedChatModel(declared.map((args) => [{ name: "declare_plan", args }]));
}

/** A tool that the model's provider runs. */
export function toServerTools(name: string | undefined): Record<string, unknown>[] {
  return name === undefined ? [] : [{ type: "web_search_20250305", name }];
}

export function toReply(turn: Turn): Reply {
  if ("executed" in turn && turn.executed) {
    const use = { type: "server_tool_use", id: "s1", name: turn.executed, input: {} };
    return new AIMessage({ content: [use, { type: "text", text: turn.text }] });
  }
  return "text" in turn ? turn.text : turn.calls.map(({ id, tool: name, args }) => ({ id, name, args }));
}

export async function runGraph(
  graph: Graph,
  {
    mode,
    history = [],
    ...config
  }: { mode: Mode; history: LockOptions["history"]; context?: object; callbacks?: unknown[]; signal?: AbortSignal },
): Promise<Pick<AgentResult, "text" | "error">> {
  const input = { messages: history.length === 0 ? [new HumanMessage("go")] : history.flatMap(toMessages) } as never;
  try {
    if (mode === "generate") return { text: lastText(await graph.invoke(input, config as never)) };
    let state: unknown;
    for await (const part of await graph.stream(input, { ...config, streamMode: "values" } as never)) state = part;
    return { text: lastText(state) };
  } catch (error) {
    // What a middleware throws comes as the cause of another error.
    const { cause } = error as Error;
    return { text: undefined, error: cause ?? error };
  }
}

export function summarize(
  model: ScriptedChatModel,
  planner: ScriptedChatModel,
  result: Pick<AgentResult, "text" | "error">,
): AgentResult {
  const asked = [...planner.requests, ...(planner === model ? [] : model.requests)].map(toAsked);
  const results = listResults(model).map(({ tool_call_id: id, text }) => ({ id, text }));
  return { ...result, asked, results };
}

function toAsked({ messages, tools }: ModelRequest): Asked {
  const roles: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };
  return {
    tools,
    messages: messages.map((message) => ({ role: roles[message.getType()] ?? message.getType(), text: message.text })),
  };
}

function lastText(state: unknown): string | undefined {
  return (state as { readonly messages: readonly BaseMessage[] }).messages.at(-1)?.text;
}

function toMessages(message: HistoryMessage): BaseMessage[] {
  if (message.role !== "call") {
    return [message.role === "user" ? new HumanMessage(message.text) : new AIMessage(message.text)];
  }
  const { id, tool: name, args } = message.call;
  const call = { type: "tool_call" as const, id, name, args: args as Record<string, unknown> };
  return [
    new AIMessage({ content: "", tool_calls: [call] }),
    new ToolMessage({ tool_call_id: id, name, content: message.result }),
  ];
}
