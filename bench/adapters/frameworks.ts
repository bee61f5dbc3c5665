import type { LanguageModelV4CallOptions, LanguageModelV4Content } from "@ai-sdk/provider";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { Agent } from "@mastra/core/agent";
import type { InputProcessor, ProcessInputStepArgs } from "@mastra/core/processors";
import { RequestContext } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import { tool as aiTool, generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { type Plan, startSession } from "intentlock";
import { describeTools, lockTools as lockLangchainTools } from "intentlock/langchain";
import { intentlockMiddleware } from "intentlock/langchain/middleware";
import { intentlockAgent, lockTools as lockMastraTools } from "intentlock/mastra";
import { withIntentlock } from "intentlock/vercel-ai";
import { createAgent, createMiddleware } from "langchain";
import { z } from "zod";
import { YesGate } from "./yes-gate.ts";

/** Without a lock; with what the lock hangs itself into, doing nothing; with the lock. */
export type Kind = "bare" | "idle" | "locked";

/** A run that was prepared. The model is told when it is asked for the first time: what is before is the run's start. */
export type Run = (onFirstStep: () => void) => Promise<unknown>;

/** A framework: `prepare` makes a run of so many calls, in steps of ten. */
interface Measured {
  readonly name: string;
  readonly prepare: (kind: Kind, calls: number) => Promise<Run>;
}

const USER = "alice@acme.dev";
const TASK = "Pay the rent";
const PLAN: Plan = { goal: TASK, steps: [{ tool: "pay" }] };
const SCHEMA = z.object({ to: z.string(), amount: z.number() });
const ARGS = { to: "landlord", amount: 20 };
const PER_STEP = 10;
const FIELDS = { name: "pay", description: "Pays somebody", schema: SCHEMA };

/** The ids of the calls of a step. */
function idsOf(step: number): string[] {
  return Array.from({ length: PER_STEP }, (_, index) => `call-${step}-${index}`);
}

export const frameworks: readonly Measured[] = [
  {
    name: "Vercel AI SDK",
    prepare: async (kind, calls) => {
      const tools = { pay: aiTool({ ...FIELDS, inputSchema: SCHEMA, execute: async () => "paid" }) };
      const { model, onFirstStep } = aiModel(calls);
      const options = { gate: new YesGate(), user: USER, task: TASK, plan: PLAN };
      const idle = kind === "idle" ? { toolApproval: () => undefined, repairToolCall: async () => null } : {};
      const settings = kind === "locked" ? (await withIntentlock(tools, options)).settings : { tools, ...idle };
      return async (listener) => {
        onFirstStep(listener);
        return await generateText({ model, ...settings, prompt: TASK, stopWhen: isStepCount(calls) });
      };
    },
  },
  {
    name: "LangChain createAgent",
    prepare: async (kind, calls) => {
      const tools = [langchainTool(async () => "paid", FIELDS)];
      const model = new ChatModel(calls);
      const input = { messages: [{ role: "user", content: TASK }] };
      const config = { recursionLimit: calls };
      if (kind === "bare") {
        const agent = createAgent({ model, tools });
        return async (listener) => {
          model.onFirstStep = listener;
          return await agent.invoke(input, config);
        };
      }
      const lock = kind === "idle" ? idleMiddleware : intentlockMiddleware({ gate: new YesGate() });
      const agent = createAgent({ model, tools, middleware: [lock] });
      const context = { intentlock: { user: USER, task: TASK, plan: PLAN } };
      return async (listener) => {
        model.onFirstStep = listener;
        return await agent.invoke(input, { ...config, context });
      };
    },
  },
  {
    name: "LangGraph createReactAgent",
    prepare: async (kind, calls) => {
      const tools = [langchainTool(async () => "paid", FIELDS)];
      const options = { gate: new YesGate(), user: USER, task: TASK, plan: PLAN, tools: describeTools(tools) };
      const given = kind === "locked" ? lockLangchainTools(tools, { session: await startSession(options) }) : tools;
      const llm = new ChatModel(calls);
      const graph = createReactAgent({ llm, tools: given });
      return async (listener) => {
        llm.onFirstStep = listener;
        return await graph.invoke({ messages: [{ role: "user", content: TASK }] }, { recursionLimit: calls });
      };
    },
  },
  {
    name: "Mastra",
    prepare: async (kind, calls) => {
      const execute = async (): Promise<string> => "paid";
      const tools = { pay: createTool({ id: "pay", description: "Pays", inputSchema: SCHEMA, execute }) };
      const gate = new YesGate();
      const { model, onFirstStep } = aiModel(calls);
      const config = { id: "agent", name: "agent", instructions: "You pay.", model: model as never };
      const locked = { tools: lockMastraTools(tools, { gate }), ...intentlockAgent({ gate }) };
      const parts = { bare: { tools }, idle: { tools, ...idleAgent }, locked };
      const agent = new Agent({ ...config, ...parts[kind] });
      const requestContext = new RequestContext();
      requestContext.set("intentlock", { user: USER, task: TASK, plan: PLAN });
      return async (listener) => {
        onFirstStep(listener);
        return await agent.generate(TASK, { requestContext, maxSteps: calls });
      };
    },
  },
];

const idleMiddleware = createMiddleware({
  name: "Idle",
  stateSchema: z.object({ _idle: z.string().optional() }),
  contextSchema: z.object({ intentlock: z.unknown().optional() }),
  beforeAgent: () => ({ _idle: "run" }),
  wrapModelCall: async (request, handler) => await handler(request),
  wrapToolCall: async (request, handler) => await handler(request),
  afterAgent: () => undefined,
});

const idleAgent = {
  hooks: { beforeToolCall: async () => undefined },
  inputProcessors: [
    { id: "idle", processInputStep: async ({ tools, model }: ProcessInputStepArgs) => ({ tools, model }) },
  ] as InputProcessor[],
};

/** A model that makes so many calls, and is done. */
function aiModel(calls: number): { model: MockLanguageModelV4; onFirstStep: (listener: () => void) => void } {
  let step = 0;
  let first: (() => void) | undefined;
  const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens: none, outputTokens: { total: 0, text: 0, reasoning: 0 } };
  const model = new MockLanguageModelV4({
    doGenerate: async (_options: LanguageModelV4CallOptions) => {
      if (step === 0) first?.();
      const isDone = step++ >= calls / PER_STEP;
      const content: LanguageModelV4Content[] = isDone
        ? [{ type: "text", text: "done" }]
        : idsOf(step).map((toolCallId) => ({
            type: "tool-call",
            toolCallId,
            toolName: "pay",
            input: JSON.stringify(ARGS),
          }));
      const finishReason = { unified: isDone ? "stop" : "tool-calls", raw: undefined } as const;
      return { content, finishReason, usage, warnings: [] };
    },
  });
  return {
    model,
    onFirstStep: (listener) => {
      first = listener;
    },
  };
}

class ChatModel extends BaseChatModel {
  readonly #calls: number;
  #step = 0;
  onFirstStep: (() => void) | undefined;

  constructor(calls: number) {
    super({});
    this.#calls = calls;
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  async _generate(_messages: BaseMessage[]) {
    if (this.#step === 0) this.onFirstStep?.();
    const isDone = this.#step++ >= this.#calls / PER_STEP;
    const tool_calls = idsOf(this.#step).map((id) => ({ type: "tool_call" as const, id, name: "pay", args: ARGS }));
    const message = isDone ? new AIMessage("done") : new AIMessage({ content: "", tool_calls });
    return { generations: [{ text: message.text, message }] };
  }
}
