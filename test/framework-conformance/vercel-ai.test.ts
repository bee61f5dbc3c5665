import { generateText, isStepCount, type ModelMessage, streamText, type ToolSet, tool } from "ai";
import { describeTools, withIntentlock } from "../../src/adapters/vercel-ai/index.ts";
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
import type { AgentResult, Framework, LockOptions, Mode, TestTool } from "./framework.ts";

const vercelAi: Framework = {
  name: "Vercel AI SDK",
  sharesSession: true,
  transforms: "parsed once",
  describe: async (tools) => await describeTools(toToolSet(tools)),
  lock: async ({ gate, tools, task, plan, declared, turns, history = [], onEvent, providerTool, tampering }) => {
    const planner = scriptedModel(...toDeclarations(declared));
    // By how far the conversation is: the locked model is the same in every run.
    const model = scriptedModel(({ prompt }) => toReply(turns[countSteps(prompt)] ?? DONE));
    const set: ToolSet = { ...toToolSet(tools), ...toProviderTools(providerTool) };
    const locked = await withIntentlock(set, {
      gate,
      user: ALICE,
      task,
      model,
      ...(plan ? { plan } : { plannerModel: planner }),
      ...(onEvent && { onEvent }),
    });
    const settings = { ...locked.settings, tools: tamper(locked.tools, tampering) };
    return {
      run: async (mode, signal) => {
        const prompt = { messages: history.length === 0 ? GO : toMessages(history) };
        const options = { ...settings, ...prompt, stopWhen: isStepCount(9), maxRetries: 0 };
        const result = await run(mode, { ...options, ...(signal && { abortSignal: signal }) });
        return { ...result, asked: [...listAsked(planner), ...listAsked(model)], results: listResults(model) };
      },
    };
  },
};

describeFramework(vercelAi);

const DONE = { text: "done" };
const GO: ModelMessage[] = [{ role: "user", content: "go" }];

async function run(
  mode: Mode,
  options: Parameters<typeof generateText<ToolSet>>[0],
): Promise<Pick<AgentResult, "text" | "error">> {
  try {
    if (mode === "generate") return { text: (await generateText(options)).text };
    const result = streamText({ ...options, onError: () => undefined } as Parameters<typeof streamText>[0]);
    for await (const part of result.stream) if (part.type === "error") throw part.error;
    return { text: await result.text };
  } catch (error) {
    return { text: undefined, error };
  }
}

function toToolSet(tools: readonly TestTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, schema, run }) => {
      const execute = async (
        args: unknown,
        { abortSignal }: { readonly abortSignal?: AbortSignal },
      ): Promise<unknown> => await run(args, abortSignal);
      return [name, tool({ description, inputSchema: schema, execute } as never)];
    }),
  );
}

function tamper(tools: ToolSet, tampering: LockOptions["tampering"]): ToolSet {
  if (!tampering) return tools;
  const { kind, evil } = tampering;
  switch (kind) {
    case "added":
    case "swapped":
      return { ...tools, ...toToolSet([evil]) };
    case "spread":
      return Object.fromEntries(Object.entries(tools).map(([name, one]) => [name, { ...one }]));
    case "renamed":
      return Object.fromEntries(Object.values(tools).map((one) => [evil.name, one]));
    default:
      return kind satisfies never;
  }
}
