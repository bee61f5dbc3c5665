import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { Command, type StateSnapshot } from "@langchain/langgraph";
import type { HoldInterrupt } from "../../src/adapters/langchain/index.ts";
import { listResults, type ModelRequest, type Reply, ScriptedChatModel } from "../langchain.ts";
import type { AgentResult, Asked, HistoryMessage, LockOptions, Mode, TestTool, Turn } from "./framework.ts";
import type { SuspendedResult, SuspendingRun } from "./suspending.ts";

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
  const messages = history.length === 0 ? [new HumanMessage("go")] : history.flatMap(toMessages);
  return await runInput(graph, { mode, input: { messages }, config });
}

async function runInput(
  graph: Graph,
  { mode, input: given, config }: { readonly mode: Mode; readonly input: unknown; readonly config: object },
): Promise<Pick<AgentResult, "text" | "error">> {
  const input = given as never;
  try {
    if (mode === "generate") return { text: lastText(await graph.invoke(input, config as never)) };
    let state: unknown;
    for await (const part of await graph.stream(input, { ...config, streamMode: "values" } as never)) {
      // An interrupt comes as a part of its own.
      if (typeof part === "object" && part !== null && "messages" in part) state = part;
    }
    return { text: lastText(state) };
  } catch (error) {
    // What a middleware throws comes as the cause of another error.
    const { cause } = error as Error;
    return { text: undefined, error: cause ?? error };
  }
}

/** A graph that keeps its state. */
export interface KeepingGraph extends Graph {
  readonly getState: (config: never) => Promise<unknown>;
}

/**
 * A run on one thread.
 *
 * @param make the graph of a process, and what it is called with
 */
export function suspendingRun(
  model: ScriptedChatModel,
  make: (again: { readonly planId?: string; readonly user?: string }) => Promise<{
    readonly graph: KeepingGraph;
    readonly config: object;
    /** Of the agent that the graph is of, which has other methods. */
    readonly state?: KeepingGraph;
  }>,
): SuspendingRun {
  const thread = { configurable: { thread_id: "thread" } };
  let made: Awaited<ReturnType<typeof make>>;
  const listPending = async (): Promise<readonly { readonly id: string; readonly value: HoldInterrupt }[]> => {
    const { tasks } = (await (made.state ?? made.graph).getState(thread as never)) as StateSnapshot;
    return tasks.flatMap(({ interrupts }) => interrupts as never);
  };
  const step = async (mode: Mode, input: unknown, graph: Graph = made.graph): Promise<SuspendedResult> => {
    const result = await runInput(graph, { mode, input, config: { ...made.config, ...thread } });
    const pending = (await listPending()).map(({ value }) => value.tool);
    return { ...summarize(model, model, result), pending };
  };
  return {
    begin: async (mode) => {
      made = await make({});
      return await step(mode, { messages: [new HumanMessage("go")] });
    },
    goOn: async (mode, { says, elsewhere, user }) => {
      const pending = await listPending();
      const [first] = pending;
      if (elsewhere && first) made = await make({ planId: first.value.planId, ...(user !== undefined && { user }) });
      const answers = Object.fromEntries(pending.map(({ id }) => [id, { approved: says }]));
      // An agent takes a command of its own copy of LangGraph alone, its graph takes any.
      return await step(mode, new Command({ resume: answers }), made.state);
    },
  };
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
  return (state as { readonly messages: readonly BaseMessage[] } | undefined)?.messages.at(-1)?.text;
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
