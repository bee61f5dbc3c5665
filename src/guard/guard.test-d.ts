import type { LanguageModel, ModelMessage } from "ai";
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Decision } from "../core/index.ts";
import type { Gate } from "../gates/index.ts";
import type { Session } from "../session/index.ts";
import {
  type CallResult,
  createGuard,
  defineTool,
  type Guard,
  type GuardTool,
  PlanSource,
  ProviderError,
  providerFromEnv,
  RunStatus,
  type ToolContext,
  toolset,
} from "./index.ts";

declare const gate: Gate;
declare const model: LanguageModel;

const schema = z.object({ repo: z.string(), count: z.number().default(10), since: z.string().transform(Number) });
const base = { name: "list", description: "Lists" } as const;
const list = defineTool({ ...base, schema: z.object({}), impl: () => 1 });

describe("defineTool", () => {
  test("infers the arguments of impl from what the schema makes of them", () => {
    const tool = defineTool({
      ...base,
      schema,
      impl: (args, context) => {
        expectTypeOf(args).toEqualTypeOf<{ repo: string; count: number; since: number }>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
      },
    });
    expectTypeOf(tool).toEqualTypeOf<GuardTool>();
  });

  test("takes an impl that returns anything, now or later", () => {
    defineTool({ ...base, schema, impl: async ({ repo }) => ({ repo }) });
    defineTool({ ...base, schema, impl: () => undefined });
  });

  test("refuses an impl that wants something else", () => {
    // @ts-expect-error repo is a text
    defineTool({ ...base, schema, impl: ({ repo }: { repo: number }) => repo });
    // @ts-expect-error the schema has no such argument
    defineTool({ ...base, schema, impl: ({ owner }) => owner });
    // @ts-expect-error a schema of zod is needed
    defineTool({ ...base, schema: { type: "object" }, impl: () => 1 });
    // @ts-expect-error the model is told what a tool is for
    defineTool({ name: "list", schema, impl: () => 1 });
  });
});

describe("createGuard", () => {
  test("makes a guard whose runs have a task and no plan", async () => {
    const guard = createGuard({ provider: model, gate, ...toolset([list]) });
    expectTypeOf(guard).toEqualTypeOf<Guard<"planner">>();
    const result = await guard.run({ user: "alice@acme.dev", task: "List" });
    expectTypeOf(result.status).toEqualTypeOf<"completed" | "max_turns">();
    expectTypeOf(result.text).toEqualTypeOf<string>();
    expectTypeOf(result.messages).toEqualTypeOf<readonly ModelMessage[]>();
    expectTypeOf(result.decisions).toEqualTypeOf<readonly Decision[]>();
    // @ts-expect-error somebody is acted for
    await guard.run({ task: "List" });
    // @ts-expect-error the model makes the plans
    await guard.run({ user: "alice@acme.dev", task: "List", goal: "List", steps: [] });
  });

  test("makes a guard whose runs have a plan", async () => {
    const guard = createGuard({ provider: model, gate, ...toolset([list]), planSource: PlanSource.EXPLICIT });
    expectTypeOf(guard).toEqualTypeOf<Guard<"explicit">>();
    await guard.run({ user: "alice@acme.dev", task: "List", goal: "List", steps: [{ tool: "list" }] });
    // @ts-expect-error there is no plan
    await guard.run({ user: "alice@acme.dev", task: "List" });
  });

  test("needs a provider, a gate and tools", () => {
    // @ts-expect-error a model is asked
    createGuard({ gate, ...toolset([list]) });
    // @ts-expect-error a gate decides
    createGuard({ provider: model, ...toolset([list]) });
    // @ts-expect-error there are no tools
    createGuard({ provider: model, gate });
    // @ts-expect-error there is no such option
    createGuard({ provider: model, gate, ...toolset([list]), maxTurn: 3 });
  });

  test("takes what providerFromEnv gives", () => {
    createGuard({ provider: providerFromEnv({}), gate, ...toolset([list]) });
    expectTypeOf(providerFromEnv({})).toExtend<LanguageModel>();
  });

  test("gives sessions for a loop of one's own", async () => {
    const guard = createGuard({ provider: model, gate, ...toolset([list]) });
    const session = await guard.start({ user: "alice@acme.dev", task: "List" });
    expectTypeOf(session).toEqualTypeOf<Session>();
    expectTypeOf(await guard.execute(session, [{ callId: "1", tool: "list", args: {} }])).toEqualTypeOf<CallResult[]>();
    // @ts-expect-error a call has a name
    await guard.execute(session, [{ callId: "1", args: {} }]);
  });
});

test("the choices are their values", () => {
  expectTypeOf(RunStatus.COMPLETED).toEqualTypeOf<"completed">();
  expectTypeOf<RunStatus>().toEqualTypeOf<"completed" | "max_turns">();
  expectTypeOf<PlanSource>().toEqualTypeOf<"planner" | "explicit">();
});

test("a ProviderError says what failed", () => {
  const error = {} as ProviderError;
  expectTypeOf(error.status).toEqualTypeOf<number | null>();
  expectTypeOf(error.retryable).toEqualTypeOf<boolean>();
  expectTypeOf(error.planId).toEqualTypeOf<string | undefined>();
  expectTypeOf(error.messages).toEqualTypeOf<readonly ModelMessage[] | undefined>();
  expectTypeOf(ProviderError.name).toEqualTypeOf<string>();
});
