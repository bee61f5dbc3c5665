import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import type { ModelMessage } from "ai";
import { describeTools, intentlockAgent, lockTools } from "../../src/adapters/mastra/index.ts";
import { scriptedModel } from "../ai-sdk.ts";
import { ALICE } from "../builders.ts";
import { listAsked, listResults, toDeclarations, toMessages, toProviderTools, toReply } from "./ai-sdk-run.ts";
import { describeFramework } from "./describe-framework.ts";
import type { AgentResult, LockOptions, Mode, TestTool } from "./framework.ts";

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
