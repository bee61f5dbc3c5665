import { format } from "node:util";
import { isStepCount, jsonSchema, type ModelMessage, streamText, type ToolSet } from "ai";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { stepsOf } from "../../test/ai-sdk.ts";
import { ALICE, aPolicy } from "../../test/builders.ts";
import {
  aGuard,
  aPayTool,
  aPlanningGuard,
  aReadTool,
  EXPLICIT,
  PAY_LANDLORD,
  READ,
  REQUEST,
} from "../../test/guards.ts";
import {
  ANTHROPIC,
  aModelServer,
  DIALECTS,
  type Dialect,
  type Fault,
  type ModelScript,
  type ModelServer,
} from "../../test/model-server.ts";
import { listEvents } from "../../test/sessions.ts";
import { withIntentlock } from "../adapters/vercel-ai/index.ts";
import { LocalGate } from "../gates/index.ts";
import { toolset } from "./define-tool.ts";
import { ProviderError } from "./provider-error.ts";
import { type Environment, providerFromEnv } from "./provider-from-env.ts";
import { RunStatus } from "./run-agent.ts";
import { toToolSet } from "./session-tools.ts";

const KEY = "sk-not-a-real-key-0123456789";
const LANDLORD = { to: "landlord", amount: 20 };
const PLAN = { calls: [{ id: "plan", tool: "declare_plan", args: stepsOf(PAY_LANDLORD, READ) }] };
const PAY = { calls: [{ id: "pay-1", tool: "pay", args: LANDLORD }] };
const DONE = { text: "done" };
/** At once: nobody waits for a second attempt. */
const AGAIN = { "retry-after-ms": "1" };

/** The environment of somebody who uses this server. */
function envOf(dialect: Dialect, url: string): Environment {
  if (dialect === ANTHROPIC) {
    return { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url, INTENTLOCK_MODEL: "anthropic/test-model" };
  }
  return { INTENTLOCK_BASE_URL: url, INTENTLOCK_API_KEY: KEY, INTENTLOCK_MODEL: "test-model" };
}

async function serve(dialect: Dialect, ...script: readonly ModelScript[]) {
  const server: ModelServer = await aModelServer(dialect, ...script);
  onTestFinished(() => server.close());
  return { server, provider: providerFromEnv(envOf(dialect, server.url)) };
}

async function failureOf(running: Promise<unknown>): Promise<ProviderError> {
  const error = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}

beforeEach(() => {
  // The SDK waits for seconds before it asks again.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }).setTimerTickMode("nextTimerAsync");
  return () => vi.useRealTimers();
});

describe.each(DIALECTS)("through $name", (dialect) => {
  describe("a run", () => {
    test("goes from the environment to the result of a tool", async () => {
      const { server, provider } = await serve(dialect, PLAN, PAY, DONE);
      const { guard, runs, events } = aPlanningGuard({ provider });
      const result = await guard.run(REQUEST);
      expect(result).toMatchObject({ status: RunStatus.COMPLETED, text: "done", finishReason: "stop" });
      expect(result.usage).toEqual({ inputTokens: 30, outputTokens: 15 });
      expect([runs, listEvents(events)]).toEqual([[LANDLORD], ["plan_signed", "allow"]]);
      const [asked, , last] = server.requests;
      expect(server.requests.map((request) => dialect.isForced(request))).toEqual([true, false, false]);
      expect(last && dialect.readResults(last)).toEqual([{ id: "pay-1", text: "paid landlord" }]);
      expect([asked?.headers["x-api-key"], asked?.headers.authorization]).toContain(
        dialect === ANTHROPIC ? KEY : `Bearer ${KEY}`,
      );
    });

    test("does not do what a tool's result says, and goes on", async () => {
      const evil = { calls: [{ id: "evil", tool: "pay", args: { to: "eve", amount: 20 } }] };
      const read = { calls: [{ id: "read-1", tool: "read", args: {} }] };
      const { server, provider } = await serve(dialect, read, evil, PAY, DONE);
      const { guard, runs } = aGuard({ provider });
      const { decisions } = await guard.run(EXPLICIT);
      expect(decisions.map(({ verdict }) => verdict)).toEqual(["allow", "block", "allow"]);
      expect(runs).toEqual([LANDLORD]);
      const results = server.requests.flatMap((request) => dialect.readResults(request));
      expect(results).toContainEqual({
        id: "evil",
        text: expect.stringContaining("Blocked by Intentlock (not_in_plan)"),
      });
    });

    test("takes no name and no id of a model for more than it is", async () => {
      const calls = [
        { id: "same", tool: "pay", args: LANDLORD },
        { id: "same", tool: "pay", args: { to: "eve" } },
        { id: "other", tool: "constructor", args: {} },
        { id: "another", tool: "declare_plan", args: stepsOf({ tool: "pay" }) },
      ];
      const { provider } = await serve(dialect, { calls }, DONE);
      const { guard, runs, events } = aGuard({ provider });
      expect((await guard.run(EXPLICIT)).status).toBe(RunStatus.COMPLETED);
      expect(runs).toEqual([LANDLORD]);
      expect(listEvents(events).filter((event) => event === "block:unknown_tool")).toHaveLength(2);
    });

    // Anthropic's are JSON in JSON.
    test.skipIf(dialect === ANTHROPIC)("gets arguments that are no JSON, and says so to the model", async () => {
      const { server, provider } = await serve(dialect, { calls: [{ id: "bad", tool: "pay", args: '{"to":' }] }, DONE);
      const { guard, runs, events } = aGuard({ provider });
      await guard.run(EXPLICIT);
      expect([runs, listEvents(events)]).toEqual([[], ["plan_signed", "block:invalid_args"]]);
      expect(server.requests[1] && dialect.readResults(server.requests[1])).toHaveLength(1);
    });

    test("whose model wants more tokens than it may have has failed", async () => {
      const { provider } = await serve(dialect, { ...PAY, isCut: true });
      const { guard, runs } = aGuard({ provider });
      const error = await failureOf(guard.run(EXPLICIT));
      expect([error.retryable, runs]).toEqual([false, []]);
      expect(error.message).toContain("raise maxTokens");
    });
  });

  describe("a model that does not plan", () => {
    test("is asked three times, and then there is no run", async () => {
      const { server, provider } = await serve(dialect, { text: "I cannot do that." });
      const { guard, events } = aPlanningGuard({ provider });
      await expect(guard.run(REQUEST)).rejects.toMatchObject({ code: "ERR_INVALID_PLAN" });
      expect(server.requests).toHaveLength(3);
      expect(listEvents(events)).toEqual(["error"]);
    });

    test("because it cannot be forced is left to choose", async () => {
      const refusal = { status: 400, message: "tool_choice is not supported while thinking" };
      const { server, provider } = await serve(
        dialect,
        (request) => (dialect.isForced(request) ? refusal : PLAN),
        PLAN,
        PAY,
        DONE,
      );
      const { guard, runs } = aPlanningGuard({ provider });
      expect((await guard.run(REQUEST)).status).toBe(RunStatus.COMPLETED);
      expect(runs).toEqual([LANDLORD]);
      expect(server.requests.map((request) => dialect.isForced(request))).toEqual([true, false, false, false]);
    });

    test("because it fails has failed before anything was signed", async () => {
      const { provider } = await serve(dialect, { status: 401, message: "no such key" });
      const { guard, events } = aPlanningGuard({ provider });
      const error = await failureOf(guard.run(REQUEST));
      expect(error).toMatchObject({ status: 401, retryable: false, planId: undefined, messages: undefined });
      expect(events).toMatchObject([{ type: "error", code: "ERR_PROVIDER", message: error.message, cause: error }]);
      await failureOf(guard.start(REQUEST));
    });
  });

  describe("a failure", () => {
    test.each<[number, boolean]>([
      [400, false],
      [401, false],
      [403, false],
      [404, false],
      [408, true],
      [409, true],
      [413, false],
      [422, false],
      [429, true],
      [500, true],
      [503, true],
      [529, true],
    ])("of status %i is retryable: %s", async (status, retryable) => {
      const { server, provider } = await serve(dialect, PAY, { status, headers: AGAIN, message: "it went wrong" });
      const { guard, events, audit } = aGuard({ provider });
      const error = await failureOf(guard.run(EXPLICIT));
      expect(error).toMatchObject({ code: "ERR_PROVIDER", name: "ProviderError", status, retryable });
      expect(error.message).toBe(`${provider.provider} answered ${status}: it went wrong`);
      // The SDK's own two retries, of what may work later.
      expect(server.requests).toHaveLength(retryable ? 4 : 2);
      expect(error.planId).toBe(events[0]?.planId);
      expect(error.messages?.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
      expect(events.at(-1)).toMatchObject({ type: "error", code: "ERR_PROVIDER", planId: error.planId, cause: error });
      expect(audit.entries.at(-1)?.event.type).toBe("closed");
    });

    test.each<[string, Record<string, string>]>([
      ["retry-after", { "retry-after": "3.456" }],
      ["retry-after-ms", { "retry-after-ms": "3456" }],
    ])("that goes away is waited for, as long as %s says", async (_, headers) => {
      const wait = vi.spyOn(globalThis, "setTimeout");
      const { server, provider } = await serve(dialect, { status: 429, headers }, { status: 500, headers }, DONE);
      expect((await aGuard({ provider }).guard.run(EXPLICIT)).text).toBe("done");
      expect(server.requests).toHaveLength(3);
      expect(wait.mock.calls.filter(([, delay]) => delay === 3456)).toHaveLength(2);
    });

    test.each<[Fault, number | null, boolean]>([
      ["closes the connection", null, true],
      ["breaks off in the middle", null, true],
      ["ends too early", 200, false],
      ["says what is no JSON", 200, false],
    ])("of a server that %s", async (fault, status, retryable) => {
      const { provider } = await serve(dialect, PAY, fault);
      const { guard, runs } = aGuard({ provider });
      const error = await failureOf(guard.run(EXPLICIT));
      expect(error).toMatchObject({ status, retryable, planId: expect.any(String) });
      expect(runs).toEqual([LANDLORD]);
    });

    test("of a server that is not there", async () => {
      const { server, provider } = await serve(dialect, DONE);
      await server.close();
      const error = await failureOf(aGuard({ provider }).guard.run(EXPLICIT));
      expect(error).toMatchObject({
        status: null,
        retryable: true,
        message: expect.stringContaining("failed: Cannot connect"),
      });
    });

    test("says the key to nobody, though the server repeats it", async () => {
      const message = `Incorrect API key provided: ${KEY}`;
      const { provider } = await serve(dialect, { status: 401, message, headers: { "x-key": KEY } });
      const { guard, events } = aPlanningGuard({ provider });
      const error = await failureOf(guard.run(REQUEST));
      expect(error.message).toContain("Incorrect API key provided: ***");
      for (const said of [error, events]) expect(format("%o", said) + JSON.stringify(said)).not.toContain(KEY);
    });
  });

  describe("a server that hangs", () => {
    test("is left when the signal says so", async () => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const hang = () => {
        controller.abort(reason);
        return "hangs" as const;
      };
      const { server, provider } = await serve(dialect, PAY, hang);
      const { guard, events, audit } = aGuard({ provider });
      await expect(guard.run({ ...EXPLICIT, signal: controller.signal })).rejects.toBe(reason);
      expect([server.requests.length, listEvents(events)]).toEqual([2, ["plan_signed", "allow"]]);
      expect(audit.entries.at(-1)?.event.type).toBe("closed");
    });

    test("is left while it should plan, too, and after a time", async () => {
      const { server, provider } = await serve(dialect, "hangs");
      const running = aPlanningGuard({ provider }).guard.run({ ...REQUEST, signal: AbortSignal.timeout(200) });
      await expect(running).rejects.toMatchObject({ name: "TimeoutError" });
      expect(server.requests.length).toBeLessThanOrEqual(1);
    });
  });

  describe("streaming", () => {
    /** The model of the environment in a loop that streams. */
    async function stream(script: readonly ModelScript[]) {
      const { server, provider } = await serve(dialect, ...script);
      const { pay, runs } = aPayTool();
      const { settings, session } = await withIntentlock(toToolSet(toolset([pay, aReadTool().read])), {
        gate: new LocalGate({ policy: aPolicy() }),
        user: ALICE,
        task: "Pay the rent",
        plan: stepsOf(PAY_LANDLORD, READ),
        model: provider,
      });
      const errors: unknown[] = [];
      const { text, finishReason } = streamText({
        ...settings,
        prompt: "Pay the rent",
        stopWhen: isStepCount(5),
        onError: ({ error }) => void errors.push(error),
      });
      const said = await Promise.resolve(text).catch(() => undefined);
      const reason = await Promise.resolve(finishReason).catch(() => undefined);
      await session.close();
      return { server, runs, errors, said, reason };
    }

    test("goes from the environment to the result of a tool, too", async () => {
      const { server, runs, errors, said } = await stream([PAY, { text: "done" }]);
      expect({ runs, errors, said }).toEqual({ runs: [LANDLORD], errors: [], said: "done" });
      const last = server.requests.at(-1);
      expect(last && dialect.readResults(last)).toEqual([{ id: "pay-1", text: "paid landlord" }]);
    });

    test.each<Fault>(["breaks off in the middle", "ends too early", "says what is no JSON"])(
      "runs no call of a server that %s",
      async (fault) => {
        const { runs, reason } = await stream([fault]);
        expect(runs).toEqual([]);
        expect(["stop", "tool-calls"]).not.toContain(reason);
      },
    );

    test("says the key to nobody", async () => {
      const { errors } = await stream([{ status: 401, message: `no key ${KEY}` }]);
      expect(errors).toHaveLength(1);
      expect(String(errors[0])).toContain("no key ***");
    });

    test("in a loop of one's own has its calls executed", async () => {
      const { server, provider } = await serve(dialect, PAY, DONE);
      const { guard, runs } = aGuard({ provider });
      const session = await guard.start(EXPLICIT);
      const messages: ModelMessage[] = [{ role: "user", content: "Pay the rent" }];
      // Without execute: the SDK hands the calls back.
      const tools = { pay: { inputSchema: jsonSchema({ type: "object" }) } } as unknown as ToolSet;
      const result = streamText({ model: provider, messages, tools });
      messages.push(...(await result.responseMessages));
      const calls = await result.toolCalls;
      const executed = await guard.execute(
        session,
        calls.map(({ toolCallId: callId, toolName, input: args }) => ({ callId, tool: toolName, args })),
      );
      const content = executed.map(({ callId: toolCallId, content: value }) => ({
        type: "tool-result" as const,
        toolCallId,
        toolName: "pay",
        output: { type: "text" as const, value },
      }));
      const { text } = streamText({ model: provider, messages: [...messages, { role: "tool", content }], tools });
      expect([await text, runs]).toEqual(["done", [LANDLORD]]);
      const last = server.requests.at(-1);
      expect(last && dialect.readResults(last)).toEqual([{ id: "pay-1", text: "paid landlord" }]);
      await session.close();
    });
  });
});
