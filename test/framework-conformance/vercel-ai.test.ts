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
import { describeSuspending } from "./describe-suspending.ts";
import type { AgentResult, Framework, LockOptions, Mode, TestTool } from "./framework.ts";
import type { SuspendedResult, SuspendingFramework } from "./suspending.ts";

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

const suspendingVercelAi: SuspendingFramework = {
  name: "Vercel AI SDK",
  undecided: "answered",
  suspend: async ({ gate, tools, plan, turns, onEvent }) => {
    const model = scriptedModel(({ prompt }) => toReply(turns[countSteps(prompt)] ?? DONE));
    const lock = async (resume?: string, user = ALICE) => {
      const common = { gate, user, model, onHold: "suspend", ...(onEvent && { onEvent }) } as const;
      const set = toToolSet(tools);
      return resume === undefined
        ? await withIntentlock(set, { ...common, task: "Pay the rent", plan })
        : await withIntentlock(set, { ...common, resume });
    };
    let locked = await lock();
    // What a browser keeps of the chat, and sends back.
    let messages = GO;
    const step = async (mode: Mode): Promise<SuspendedResult> => {
      const options = { ...locked.settings, messages, stopWhen: isStepCount(9), maxRetries: 0 };
      const { responseMessages, ...result } = await run(mode, options);
      messages = JSON.parse(JSON.stringify([...messages, ...responseMessages])) as ModelMessage[];
      const pending = listPending(messages).map(({ toolName }) => toolName);
      return { ...result, pending, asked: listAsked(model), results: listResults(model) };
    };
    return {
      begin: step,
      goOn: async (mode, { says, elsewhere, user }) => {
        if (elsewhere) locked = await lock(locked.session.planId, user);
        const content = listPending(messages).map(({ approvalId }) => ({
          type: "tool-approval-response" as const,
          approvalId,
          approved: says,
        }));
        if (content.length > 0) messages = [...messages, { role: "tool", content }];
        return await step(mode);
      },
    };
  },
};

describeSuspending(suspendingVercelAi);

/** The calls of the last step that the SDK waits with. */
function listPending(messages: readonly ModelMessage[]): { readonly approvalId: string; readonly toolName: string }[] {
  const last = messages.findLast(({ role }) => role === "assistant");
  const parts = last?.role === "assistant" && typeof last.content !== "string" ? last.content : [];
  const names = new Map(parts.flatMap((part) => (part.type === "tool-call" ? [[part.toolCallId, part.toolName]] : [])));
  return parts.flatMap((part) =>
    part.type === "tool-approval-request"
      ? [{ approvalId: part.approvalId, toolName: names.get(part.toolCallId) ?? "" }]
      : [],
  );
}

const DONE = { text: "done" };
const GO: ModelMessage[] = [{ role: "user", content: "go" }];

async function run(
  mode: Mode,
  options: Parameters<typeof generateText<ToolSet>>[0],
): Promise<Pick<AgentResult, "text" | "error"> & { readonly responseMessages: readonly ModelMessage[] }> {
  try {
    if (mode === "generate") {
      const { text, responseMessages } = await generateText(options);
      return { text, responseMessages };
    }
    const result = streamText({ ...options, onError: () => undefined } as Parameters<typeof streamText>[0]);
    for await (const part of result.stream) if (part.type === "error") throw part.error;
    return { text: await result.text, responseMessages: await result.responseMessages };
  } catch (error) {
    return { text: undefined, error, responseMessages: [] };
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
