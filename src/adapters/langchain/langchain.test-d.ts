import { AIMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { type DynamicStructuredTool, StructuredTool, tool } from "@langchain/core/tools";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { createAgent, createMiddleware } from "langchain";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Gate } from "../../gates/index.ts";
import type { Session } from "../../session/index.ts";
import { IntentlockCallbackHandler, installTripwire, lockTools } from "./index.ts";
import { intentlockMiddleware } from "./middleware.ts";

declare const gate: Gate;
declare const session: Session;

const weather = tool(async ({ city }) => ({ celsius: 20, city }), {
  name: "weather",
  description: "Says the weather",
  schema: z.object({ city: z.string() }),
});
class Balance extends StructuredTool {
  name = "balance";
  description = "Says the balance";
  schema = z.object({});
  async _call(): Promise<number> {
    return 10;
  }
  owner(): string {
    return "alice";
  }
}
const balance = new Balance();
const search = RunnableLambda.from(async (input: { q: string }) => input.q).asTool({
  name: "search",
  description: "Searches",
  schema: z.object({ q: z.string() }),
});
const input = { messages: [{ role: "user" as const, content: "go" }] };
const identity = { user: "alice@acme.dev", task: "Say the weather" };

test("the tuple of the tools stays", async () => {
  const locked = lockTools([weather, balance, search], { session });
  expectTypeOf(locked).toEqualTypeOf<[typeof weather, Balance, typeof search]>();
  expectTypeOf(locked[1].owner()).toEqualTypeOf<string>();
  expectTypeOf(locked[0].name).toEqualTypeOf<(typeof weather)["name"]>();
  expectTypeOf(await locked[0].invoke({ city: "Rome" })).toEqualTypeOf<{ celsius: number; city: string }>();
  // @ts-expect-error the tool takes a city
  await locked[0].invoke({ town: "Rome" });
  const list: DynamicStructuredTool[] = [];
  expectTypeOf(lockTools(list, { session })).toEqualTypeOf<DynamicStructuredTool[]>();
});

test("locked tools go where tools go", () => {
  const tools = lockTools([weather, balance, search], { session });
  new ToolNode(tools);
  createAgent({ model: "openai:gpt-5", tools });
  createReactAgent({ llm: "openai:gpt-5" as never, tools });
});

test("a session is needed", () => {
  // @ts-expect-error somebody has to check the calls
  lockTools([weather], {});
  // @ts-expect-error somebody has to check the calls
  new IntentlockCallbackHandler({});
});

test("an agent needs an identity for each run", async () => {
  const agent = createAgent({ model: "openai:gpt-5", tools: [weather], middleware: [intentlockMiddleware({ gate })] });
  const state = await agent.invoke(input, { context: { intentlock: identity } });
  expectTypeOf(state.messages[0]).not.toBeAny();
  // @ts-expect-error the name of a run is nobody's business
  expectTypeOf(state._intentlockRun);
  // @ts-expect-error there is nobody to act for
  await agent.invoke(input, { context: {} });
  // @ts-expect-error a plan is made of a task
  await agent.invoke(input, { context: { intentlock: { user: "alice@acme.dev" } } });
  // @ts-expect-error a person is a text, or has an e-mail
  await agent.invoke(input, { context: { intentlock: { user: 7, task: "pay" } } });
});

test("the contexts of others stay", async () => {
  const tenant = createMiddleware({
    name: "Tenant",
    contextSchema: z.object({ tenant: z.string() }),
    wrapToolCall: async (request, handler) => {
      expectTypeOf(request.runtime.context.tenant).toEqualTypeOf<string>();
      return await handler(request);
    },
  });
  const agent = createAgent({
    model: "openai:gpt-5",
    tools: [weather],
    contextSchema: z.object({ locale: z.string() }),
    middleware: [intentlockMiddleware({ gate }), tenant],
  });
  await agent.invoke(input, { context: { intentlock: identity, tenant: "acme", locale: "de" } });
  // @ts-expect-error the other middleware needs its tenant
  await agent.invoke(input, { context: { intentlock: identity, locale: "de" } });
  // @ts-expect-error the agent needs its locale
  await agent.invoke(input, { context: { intentlock: identity, tenant: "acme" } });
  // @ts-expect-error and Intentlock its identity
  await agent.invoke(input, { context: { tenant: "acme", locale: "de" } });
});

test("structured responses stay", async () => {
  const agent = createAgent({
    model: "openai:gpt-5",
    tools: [weather],
    responseFormat: z.object({ celsius: z.number() }),
    middleware: [intentlockMiddleware({ gate })],
  });
  const { structuredResponse } = await agent.invoke(input, { context: { intentlock: identity } });
  expectTypeOf(structuredResponse.celsius).toEqualTypeOf<number>();
});

test("with an identify of the application's own, there is no context to give", async () => {
  const identify = ({ configurable }: { readonly configurable?: Readonly<Record<string, unknown>> | undefined }) => ({
    ...identity,
    user: String(configurable?.["user"]),
  });
  const agent = createAgent({
    model: "openai:gpt-5",
    tools: [weather],
    middleware: [intentlockMiddleware({ gate, identify })],
  });
  await agent.invoke(input, { configurable: { user: "alice@acme.dev" } });
  // @ts-expect-error an identity has a task
  intentlockMiddleware({ gate, identify: () => ({ user: "alice@acme.dev" }) });
  // @ts-expect-error a gate decides
  intentlockMiddleware({ identify });
});

test("a handler goes where callbacks go", async () => {
  const callbacks = [new IntentlockCallbackHandler({ session })];
  await weather.invoke({ city: "Rome" }, { callbacks });
  await RunnableLambda.from(async () => new AIMessage("done")).invoke("go", { callbacks });
  expectTypeOf(installTripwire()).toEqualTypeOf<() => void>();
});
