import { APICallError, LoadAPIKeyError, RetryError } from "ai";
import { describe, expect, test } from "vitest";
import { scriptedModel } from "../../test/ai-sdk.ts";
import { aGuard, EXPLICIT } from "../../test/guards.ts";
import { ScriptedGate } from "../../test/sessions.ts";
import { IntentlockError } from "../core/index.ts";
import { describeFailure, ProviderError } from "./provider-error.ts";

function anAnswer(over: Partial<ConstructorParameters<typeof APICallError>[0]> = {}): APICallError {
  return new APICallError({ message: "of the API", url: "https://acme.dev", requestBodyValues: {}, ...over });
}

function aRetry(...errors: readonly unknown[]): RetryError {
  return new RetryError({ message: "Failed after 3 attempts", reason: "maxRetriesExceeded", errors: [...errors] });
}

describe("what happened", () => {
  test.each<[string, unknown, number | null, boolean]>([
    ["an answer", anAnswer({ statusCode: 401 }), 401, false],
    ["an answer for now", anAnswer({ statusCode: 503 }), 503, true],
    ["the last of several answers", aRetry(anAnswer({ statusCode: 500 }), anAnswer({ statusCode: 429 })), 429, true],
    ["an answer that the SDK would ask for again", anAnswer({ statusCode: 404, isRetryable: true }), 404, false],
    ["an answer that is none", anAnswer({ statusCode: 200 }), 200, false],
    ["an answer that broke off", anAnswer({ statusCode: 200, isRetryable: true }), null, true],
    ["no answer", anAnswer({ isRetryable: true }), null, true],
    ["no answer in time", new DOMException("The operation timed out", "TimeoutError"), null, true],
    ["a request that was given up", new DOMException("This operation was aborted", "AbortError"), null, true],
    ["no key", new LoadAPIKeyError({ message: "key missing" }), null, false],
    ["an error of the model's own", new TypeError("x is not a function"), null, false],
    ["a text", "down", null, false],
    ["nothing", undefined, null, false],
    ["null", null, null, false],
  ])("%s", (_, error, status, retryable) => {
    expect(describeFailure(error)).toMatchObject({ status, retryable, detail: expect.any(String) });
  });

  test("is told in few words, however many the server has", () => {
    expect(describeFailure(anAnswer({ message: "x".repeat(100_000) })).detail).toHaveLength(500);
  });

  test("is an IntentlockError with all there is to know", () => {
    const failure = { status: 429, retryable: true, detail: "slow down" };
    const error = new ProviderError("acme", failure, { planId: "plan-1", messages: [], cause: "why" });
    expect(error).toBeInstanceOf(IntentlockError);
    expect(error).toMatchObject({ name: "ProviderError", code: "ERR_PROVIDER", ...{ planId: "plan-1", cause: "why" } });
    expect(error.message).toBe("acme answered 429: slow down");
  });
});

describe("whose fault it is", () => {
  test("the model's, whatever it throws", async () => {
    const fault = new TypeError("x is not a function");
    const provider = scriptedModel(() => {
      throw fault;
    });
    const { guard, events } = aGuard({ provider });
    await expect(guard.run(EXPLICIT)).rejects.toMatchObject({
      code: "ERR_PROVIDER",
      provider: "mock-provider",
      cause: fault,
    });
    expect(events.at(-1)).toMatchObject({ type: "error", code: "ERR_PROVIDER" });
  });

  test("the gate's, which is thrown as it is", async () => {
    const fault = new TypeError("of the gate");
    const gate = new ScriptedGate();
    gate.sign = () => Promise.reject(fault);
    const { guard, events } = aGuard({ gate });
    await expect(guard.run(EXPLICIT)).rejects.toBe(fault);
    expect(events).toEqual([{ type: "error", message: "of the gate", cause: fault }]);
    await expect(guard.start(EXPLICIT)).rejects.toBe(fault);
  });
});
