import {
  dynamicTool,
  generateText,
  type InferUITools,
  isStepCount,
  type LanguageModel,
  streamText,
  ToolLoopAgent,
  tool,
} from "ai";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Gate } from "../../gates/index.ts";
import type { Session } from "../../session/index.ts";
import { type CoverageGap, lockTools, withIntentlock } from "./index.ts";

declare const gate: Gate;
declare const session: Session;
declare const model: LanguageModel;

const tools = {
  weather: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ celsius: 20, city }),
  }),
  parts: tool({
    inputSchema: z.object({ n: z.number() }),
    async *execute({ n }) {
      yield { done: n };
    },
  }),
  confirm: tool({ inputSchema: z.object({ question: z.string() }), outputSchema: z.string() }),
  dynamic: dynamicTool({ inputSchema: z.object({}), execute: async () => 1 as unknown }),
  keyed: tool({
    inputSchema: z.object({}),
    contextSchema: z.object({ key: z.string() }),
    execute: async (_input, { context }) => context.key,
  }),
};
const toolsContext = { keyed: { key: "k" } };
const options = { gate, user: "alice@acme.dev", task: "Say the weather" };

test("the type of the tools stays", async () => {
  expectTypeOf(lockTools(tools, { session })).toEqualTypeOf<typeof tools>();
  const locked = await withIntentlock(tools, options);
  expectTypeOf(locked.tools).toEqualTypeOf<typeof tools>();
  expectTypeOf(locked.settings.tools).toEqualTypeOf<typeof tools>();
  expectTypeOf(locked.session).toEqualTypeOf<Session>();
  expectTypeOf(locked.coverage).toEqualTypeOf<readonly CoverageGap[]>();
});

test("results have the inputs, outputs and names of the tools", async () => {
  const { settings } = await withIntentlock(tools, { ...options, model });
  const { toolResults } = await generateText({ ...settings, prompt: "go", toolsContext, stopWhen: isStepCount(2) });
  for (const result of toolResults) {
    if (result.dynamic) continue;
    expectTypeOf(result.toolName).toEqualTypeOf<keyof typeof tools>();
    if (result.toolName === "weather") {
      expectTypeOf(result.input).toEqualTypeOf<{ city: string }>();
      expectTypeOf(result.output).toEqualTypeOf<{ celsius: number; city: string }>();
    }
    // @ts-expect-error no tool has this name
    if (result.toolName === "nope") continue;
  }
});

test("the types of UI messages stay", async () => {
  const { tools: locked } = await withIntentlock(tools, options);
  expectTypeOf<InferUITools<typeof locked>>().toEqualTypeOf<InferUITools<typeof tools>>();
  expectTypeOf<InferUITools<typeof locked>["weather"]["input"]>().toEqualTypeOf<{ city: string }>();
});

test("a tool's context is still needed", async () => {
  const { settings } = await withIntentlock(tools, { ...options, model });
  streamText({ ...settings, prompt: "go", toolsContext });
  new ToolLoopAgent({ ...settings, toolsContext });
  // @ts-expect-error the tool `keyed` needs its context
  generateText({ ...settings, prompt: "go" });
  // @ts-expect-error the context of `keyed` has a key, which is a text
  streamText({ ...settings, prompt: "go", toolsContext: { keyed: { key: 1 } } });
  // @ts-expect-error an agent needs the context of `keyed` too
  new ToolLoopAgent({ ...settings });
});

test("there is a model in the settings if one was given, and only then", async () => {
  const withModel = await withIntentlock(tools, { ...options, model });
  expectTypeOf(withModel.settings.model).toEqualTypeOf<LanguageModel>();
  const withId = await withIntentlock(tools, { ...options, model: "openai/gpt-5" as const });
  expectTypeOf(withId.settings.model).toEqualTypeOf<LanguageModel>();
  const without = await withIntentlock(tools, { ...options, plan: { goal: "a", steps: [] } });
  expectTypeOf(without.settings).not.toHaveProperty("model");
  // @ts-expect-error no model was given: the SDK needs one
  generateText({ ...without.settings, prompt: "go", toolsContext });
  generateText({ ...without.settings, model, prompt: "go", toolsContext });
});

test("the application's own approvals know the tools", async () => {
  await withIntentlock(tools, { ...options, toolApproval: { weather: "user-approval" } });
  await withIntentlock(tools, {
    ...options,
    toolApproval: {
      weather: ({ city }) => {
        expectTypeOf(city).toEqualTypeOf<string>();
        return "approved";
      },
    },
  });
  // @ts-expect-error no tool has this name
  await withIntentlock(tools, { ...options, toolApproval: { nope: "user-approval" } });
  // @ts-expect-error the SDK runs a tool on a status that it does not know
  await withIntentlock(tools, { ...options, toolApproval: { weather: "dennied" } });
});

test("gate, user and task are needed", async () => {
  // @ts-expect-error a gate decides
  await withIntentlock(tools, { user: "a", task: "b" });
  // @ts-expect-error somebody is acted for
  await withIntentlock(tools, { gate, task: "b" });
  // @ts-expect-error a plan is made of a task
  await withIntentlock(tools, { gate, user: "a" });
});

test("a plan that goes on needs its user, and no task", async () => {
  const { settings } = await withIntentlock(tools, { gate, user: "alice@acme.dev", resume: "plan-1", model });
  expectTypeOf(settings.tools).toEqualTypeOf<typeof tools>();
  expectTypeOf(settings.model).toEqualTypeOf<LanguageModel>();
  // @ts-expect-error whose plan it is has to be said
  await withIntentlock(tools, { gate, resume: "plan-1" });
  // @ts-expect-error without a plan that goes on, a task is needed
  await withIntentlock(tools, { gate, user: "alice@acme.dev", onHold: "suspend" });
  // @ts-expect-error it waits or is suspended
  await withIntentlock(tools, { ...options, onHold: "later" });
});
