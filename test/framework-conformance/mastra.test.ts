import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import type { ModelMessage } from "ai";
import { describeTools, intentlockAgent, lockTools } from "../../src/adapters/mastra/index.ts";
import { scriptedModel } from "../ai-sdk.ts";
import { ALICE } from "../builders.ts";
import {
  countSteps,
  listAsked,
  listResults,
  toDeclarations,
  toMessages,
  toProviderTools,
  toReply,
} from "./ai-sdk-run.ts";
import { describeFramework } from "./describe-framework.ts";
import { describeSuspending } from "./describe-suspending.ts";
import type { AgentResult, LockOptions, Mode, TestTool } from "./framework.ts";
import type { SuspendedResult } from "./suspending.ts";

describeFramework({
  name: "Mastra",
  sharesSession: false,
  transforms: "refused",
  answersAlone: { prototypeNames: true },
  describe: async (tools) => await describeTools(toTools(tools)),
  lock: async ({ gate, tools, task, plan, declared, turns, history = [], onEvent, providerTool, tampering }) => ({
    run: async (mode, signal) => {
      const planner = scriptedModel(...toDeclarations(declared));
      const model = scriptedModel(...turns.map(toReply));
      const agent = new Agent({
        id: "agent",
        name: "agent",
        instructions: "You pay.",
        model: model as never,
        tools: { ...lockTools(toTools(tools), { gate }), ...toProviderTools(providerTool) },
        ...intentlockAgent({ gate, plannerModel: planner as never, onEvent }),
      });
      agent.__setLogger(SILENT);
      const requestContext = new RequestContext();
      requestContext.set("intentlock", { user: ALICE, task, plan });
      const messages = history.length === 0 ? [{ role: "user", content: "go" } as const] : toMessages(history);
      const result = await run(agent, mode, messages, {
        requestContext,
        ...tamper(tools, tampering),
        ...(signal && { abortSignal: signal }),
      });
      return { ...result, asked: [...listAsked(planner), ...listAsked(model)], results: listResults(model) };
    },
  }),
});

describeSuspending({
  name: "Mastra",
  undecided: "suspended",
  suspend: async ({ gate, tools, plan, turns, onEvent }) => {
    const model = scriptedModel(({ prompt }) => toReply(turns[countSteps(prompt)] ?? { text: "done" }));
    const storage = new InMemoryStore();
    // A gate for each process: what this adapter knows of runs, it knows by the gate.
    const startProcess = (): Agent => {
      const own = new Proxy(gate, {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const agent = new Agent({
        id: "agent",
        name: "agent",
        instructions: "You pay.",
        model: model as never,
        tools: lockTools(toTools(tools), { gate: own }),
        ...intentlockAgent({ gate: own, onHold: "suspend", ...(onEvent && { onEvent }) }),
      });
      const mastra = new Mastra({ agents: { agent }, storage, logger: false as never });
      return mastra.getAgent("agent") as Agent;
    };
    const contextOf = (user: string): RequestContext => {
      const context = new RequestContext();
      context.set("intentlock", { user, task: "Pay the rent", plan });
      return context;
    };
    let agent = startProcess();
    let runId = "";
    let waiting: readonly Suspended[] = [];
    const toResult = async (mode: Mode, result: Awaited<ReturnType<typeof read>>): Promise<SuspendedResult> => {
      const { suspended, ...rest } = result;
      runId = result.runId ?? runId;
      // Where nothing is streamed, the storage tells.
      const { runs } = await agent.listSuspendedRuns();
      const stored = runs.find((one) => one.runId === runId)?.toolCalls ?? [];
      waiting = mode === "stream" ? suspended : (stored as readonly Suspended[]);
      const pending = waiting.map(({ toolName }) => toolName);
      return { ...rest, pending, asked: listAsked(model), results: listResults(model) };
    };
    return {
      begin: async (mode) => {
        const options = { requestContext: contextOf(ALICE) };
        return await toResult(
          mode,
          await read(async () =>
            mode === "generate" ? await agent.generate("go", options) : await agent.stream("go", options),
          ),
        );
      },
      goOn: async (mode, { says, elsewhere, user }) => {
        if (elsewhere) agent = startProcess();
        let last: SuspendedResult | undefined;
        for (const { toolCallId } of waiting) {
          const which = { runId, toolCallId, ...(user !== undefined && { requestContext: contextOf(user) }) };
          const result = await read(async () =>
            mode === "generate"
              ? await agent.resumeGenerate({ approved: says }, which)
              : await agent.resumeStream({ approved: says }, which),
          );
          last = await toResult(mode, result);
        }
        if (!last) throw new Error("Nothing waits");
        return last;
      },
    };
  },
});

interface Suspended {
  readonly toolCallId: string;
  readonly toolName: string;
}

/** The end of a run, or where it is suspended. */
async function read(
  start: () => Promise<Awaited<ReturnType<Agent["generate"]>> | Awaited<ReturnType<Agent["stream"]>>>,
): Promise<
  Pick<AgentResult, "text" | "error"> & {
    readonly runId?: string | undefined;
    readonly suspended: readonly Suspended[];
  }
> {
  try {
    const output = await start();
    const suspended: Suspended[] = [];
    if ("fullStream" in output) {
      for await (const part of output.fullStream) if (part.type === "tool-call-suspended") suspended.push(part.payload);
    }
    const [error, text, runId] = await Promise.all([output.error, output.text, output.runId]);
    return error === undefined ? { text, runId, suspended } : { text: undefined, error, runId, suspended };
  } catch (error) {
    return { text: undefined, error, suspended: [] };
  }
}

const nothing = (): undefined => undefined;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing, trackException: nothing } as never;

async function run(
  agent: Agent,
  mode: Mode,
  messages: readonly ModelMessage[],
  options: object,
): Promise<Pick<AgentResult, "text" | "error">> {
  try {
    const settings = { ...options, maxSteps: 9 };
    const result =
      mode === "generate"
        ? await agent.generate(messages as never, settings)
        : await agent.stream(messages as never, settings);
    if ("fullStream" in result) for await (const _part of result.fullStream);
    const error = await result.error;
    return error === undefined ? { text: await result.text } : { text: undefined, error };
  } catch (error) {
    return { text: undefined, error };
  }
}

function toTools(tools: readonly TestTool[]) {
  return Object.fromEntries(
    tools.map(({ name, description, schema, run }) => {
      const execute = async (args: unknown, context: { readonly abortSignal?: AbortSignal } = {}): Promise<unknown> =>
        await lastOf(run(args, context.abortSignal));
      return [name, createTool({ id: name, description, inputSchema: schema, execute: execute as never })];
    }),
  );
}

/** Mastra knows no tools that give their results in parts. */
async function lastOf(result: unknown): Promise<unknown> {
  const given = await result;
  if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given)) return given;
  let last: unknown;
  for await (const part of given as AsyncIterable<unknown>) last = part;
  return last;
}

/** The last who has hands on the tools of a step: it comes after every processor. */
function tamper(tools: readonly TestTool[], tampering: LockOptions["tampering"]) {
  if (!tampering) return {};
  const { kind, evil } = tampering;
  const change = (set: Record<string, unknown>): Record<string, unknown> => {
    switch (kind) {
      case "added":
      case "swapped":
        return { ...set, ...toTools([evil]) };
      case "spread":
        return Object.fromEntries(Object.entries(set).map(([name, tool]) => [name, { ...(tool as object) }]));
      case "renamed":
        return { [evil.name]: set[tools[0]?.name ?? ""] };
      default:
        return kind satisfies never;
    }
  };
  return { prepareStep: ({ tools: set }: { readonly tools?: object }) => ({ tools: change({ ...set }) }) };
}
