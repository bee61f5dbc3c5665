import { APICallError } from "ai";
import { describe, expect, test } from "vitest";
import { hideKey } from "./hide-key.ts";

const KEY = "sk-not-a-real-key-0123456789";

function anError(): APICallError {
  return new APICallError({
    message: `Incorrect API key provided: ${KEY}.`,
    url: `https://acme.dev/v1?key=${KEY}`,
    requestBodyValues: { messages: [{ content: `my key is ${KEY}` }] },
    statusCode: 401,
    responseBody: JSON.stringify({ key: KEY }),
    responseHeaders: { "x-echo": KEY },
    data: { error: { message: KEY } },
    cause: new AggregateError([new Error(`of ${KEY}`)], KEY),
  });
}

describe("a key", () => {
  test("is nowhere in an error, its causes and what it carries", () => {
    const error = anError();
    const hidden = hideKey(error, KEY) as APICallError;
    expect(hidden).toBe(error);
    const { message, stack, url, responseBody, responseHeaders, data, cause } = hidden;
    const said = [message, stack, url, responseBody, JSON.stringify([responseHeaders, data])];
    const { errors, message: outer, stack: trace } = cause as AggregateError;
    for (const text of [...said, outer, trace, String(errors[0]), errors[0].stack]) expect(text).not.toContain(KEY);
    expect(message).toBe("Incorrect API key provided: ***.");
  });

  test("stays in what was asked: it is the conversation's own", () => {
    expect(JSON.stringify((hideKey(anError(), KEY) as APICallError).requestBodyValues)).toContain(KEY);
  });

  test.each([
    ["none", undefined],
    ["a word that servers without keys are given", "Incorrect".slice(0, 7)],
  ])("that is %s changes nothing", (_, key) => {
    expect((hideKey(anError(), key) as Error).message).toContain("Incorrect");
  });

  test("is looked for in circles, and where nobody may look", () => {
    const error: Error & { self?: unknown } = new Error(KEY);
    error.self = error;
    Object.defineProperty(error, "closed", {
      get: () => {
        throw new Error("closed");
      },
    });
    expect(hideKey(Object.freeze(error), KEY)).toBe(error);
    expect(hideKey(`text with ${KEY}`, KEY)).toBe("text with ***");
    expect(hideKey(undefined, KEY)).toBe(undefined);
  });
});
