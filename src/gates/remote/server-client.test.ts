import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { aProblem, silence } from "../../../test/scripted-server.ts";
import type { Endpoint } from "../../core/api/index.ts";
import { type Ask, ServerClient, type ServerClientOptions } from "./server-client.ts";

const API_KEY = `ilk_${"k".repeat(43)}`;
const BASE_URL = "https://acme.dev/intentlock";

interface Query {
  readonly waitSeconds?: number | undefined;
  readonly name?: string | undefined;
}

const endpoint: Endpoint<object, { readonly n: number }, Query> = {
  method: "POST",
  path: "/v1/things/{thingId}",
  summary: "A thing",
  auth: ["agent"],
  query: z.object({ waitSeconds: z.number().optional(), name: z.string().optional() }),
  body: z.object({}),
  answers: { 200: z.object({ n: z.number() }), 201: z.object({ n: z.number() }) },
};
const params = { thingId: "a b/c" };

type Answer = (request: Request) => Response | Promise<Response>;
type Asked = Ask<object, Query>;

const ok = (): Response => Response.json({ n: 1 });
const reset = (): Promise<Response> => Promise.reject(new TypeError("fetch failed"));

/** A client whose server answers so, the last one again and again; and what it was asked. */
function aClient(answers: readonly Answer[], options: Partial<ServerClientOptions> = {}) {
  const asked: Request[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    asked.push(request.clone());
    const answer = answers[Math.min(asked.length, answers.length) - 1] as Answer;
    return await answer(request);
  };
  const client = new ServerClient({ baseUrl: BASE_URL, apiKey: API_KEY, fetch, ...options });
  const ask = async (more: Asked = {}): Promise<unknown> => await client.ask(endpoint, { params, ...more });
  return { ask, asked, client };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets all waits pass that are begun meanwhile. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  await vi.runAllTimersAsync();
  return await work;
}

describe("a request", () => {
  test("goes to the endpoint under the base URL, with the key and JSON", async () => {
    const { ask, asked } = aClient([ok]);
    expect(await ask({ body: { to: "landlord" }, query: { waitSeconds: 5, name: undefined } })).toEqual({ n: 1 });
    const [request] = asked;
    expect([request?.method, request?.url, request?.redirect]).toEqual([
      "POST",
      `${BASE_URL}/v1/things/a%20b%2Fc?waitSeconds=5`,
      "error",
    ]);
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      accept: "application/json, application/problem+json",
      authorization: `Bearer ${API_KEY}`,
      "content-type": "application/json",
    });
    expect(await request?.text()).toBe('{"to":"landlord"}');
  });

  test("has no query, no body and no content type where there is nothing to say", async () => {
    const { ask, asked } = aClient([ok]);
    await ask();
    expect(asked[0]?.url).toBe(`${BASE_URL}/v1/things/a%20b%2Fc`);
    expect(asked[0]?.headers.has("content-type")).toBe(false);
    expect(await asked[0]?.text()).toBe("");
  });

  test("has the text that was given for its body", async () => {
    const { ask, asked } = aClient([ok]);
    await ask({ text: '{"a": 1}' });
    expect(await asked[0]?.text()).toBe('{"a": 1}');
    expect(asked[0]?.headers.get("content-type")).toBe("application/json");
  });

  test("goes by the global fetch unless told otherwise, looked up when it is needed", async () => {
    const client = new ServerClient({ baseUrl: BASE_URL, apiKey: API_KEY });
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async () => ok());
    expect(await client.ask(endpoint, { params })).toEqual({ n: 1 });
    expect(spy).toHaveBeenCalledTimes(1);
  });
});

describe("an answer", () => {
  test.each([200, 201])("of status %i is read by its schema", async (status) => {
    const { ask } = aClient([() => Response.json({ n: 2 }, { status })]);
    expect(await ask()).toEqual({ n: 2 });
  });

  test.each<[string, Answer, RegExp]>([
    ["without what has to be in it", () => Response.json({}), /is not one to POST \/v1\/things\/\{thingId\}: n: ./],
    ["that is no object", () => Response.json(null), /is not one to POST \/v1\/things\/\{thingId\}: \w/],
    ["that is no JSON", () => new Response("<html>"), /is not one to POST/],
    ["that says a name twice", () => new Response('{"n":1,"n":2}'), /is not one to POST/],
    ["without a body", () => new Response(null), /is not one to POST/],
  ])("%s is none", async (_name, answer, message) => {
    const { ask } = aClient([answer], { retries: 0 });
    await expect(ask()).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE", status: 200, message });
  });

  test.each([204, 299, 302])("of status %i, which the endpoint does not have, is none", async (status) => {
    const { ask } = aClient([() => new Response(null, { status })]);
    await expect(ask()).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE", status });
  });

  test("of a status that objects inherit is none", async () => {
    const odd = { status: "toString", body: null, headers: new Headers() } as unknown as Response;
    await expect(aClient([() => odd]).ask()).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE" });
  });

  test("that is a problem says so in the server's words, and when to come again", async () => {
    const { ask } = aClient([() => aProblem("plan_revoked", { "retry-after": "7" })]);
    await expect(ask()).rejects.toMatchObject({
      code: "ERR_REQUEST_REFUSED",
      status: 409,
      problem: { code: "plan_revoked" },
      retryAfterMs: 7000,
    });
  });

  test.each<[string, string]>([
    ["a page", "<html>not found</html>"],
    ["a problem of a code that nobody knows", JSON.stringify({ type: "x", title: "x", status: 404, code: "new" })],
  ])("that is %s is known by its status alone", async (_name, text) => {
    const error = await aClient([() => new Response(text, { status: 404 })])
      .ask()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ERR_REQUEST_REFUSED", status: 404, problem: undefined });
  });

  test.each(["soon", "-1", "Wed, 21 Oct 2099 07:28:00 GMT", "Infinity"])(
    "with %j says nothing of when to come again",
    async (retryAfter) => {
      const error = await aClient([() => aProblem("plan_revoked", { "retry-after": retryAfter })])
        .ask()
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ retryAfterMs: undefined });
    },
  );

  test("may say that one can come again at once", async () => {
    const { ask } = aClient([() => aProblem("plan_revoked", { "retry-after": "0" })]);
    await expect(ask()).rejects.toMatchObject({ retryAfterMs: 0 });
  });

  const large = (bytes: number): Answer => {
    return () => new Response(`{"n":1}${" ".repeat(bytes - 7)}`);
  };

  test("of 16 MiB is read, and of a byte more is not", async () => {
    expect(await aClient([large(2 ** 24)]).ask()).toEqual({ n: 1 });
    await expect(aClient([large(2 ** 24 + 1)]).ask()).rejects.toMatchObject({
      code: "ERR_SERVER_UNAVAILABLE",
      status: 200,
      message: "The server's answer is too long",
    });
  });

  test("that comes in parts is read as one, be a character in two of them", async () => {
    const bytes = new TextEncoder().encode('{"n":3,"of":"é"}');
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await aClient([() => new Response(body)]).ask()).toEqual({ n: 3 });
  });
});

describe("what is asked again", () => {
  test.each<[string, Answer]>([
    ["no answer", reset],
    ["an error of the server", () => new Response(null, { status: 500 })],
    ["an answer that is none", () => Response.json({})],
  ])("%s, where asking twice does no harm", async (_name, answer) => {
    const { ask, asked } = aClient([answer, answer, ok]);
    expect(await inTime(ask({ isRepeatable: true }))).toEqual({ n: 1 });
    expect(asked).toHaveLength(3);
    const once = aClient([answer, ok]);
    await expect(inTime(once.ask())).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE" });
    expect(once.asked).toHaveLength(1);
  });

  test.each([429, 503])("whatever the server says it has not done, by status %i", async (status) => {
    const { ask, asked } = aClient([() => new Response(null, { status }), ok]);
    expect(await inTime(ask())).toEqual({ n: 1 });
    expect(asked).toHaveLength(2);
  });

  test.each<[string, Answer]>([
    ["a refusal", () => aProblem("plan_revoked")],
    ["a key that is not let in", () => new Response(null, { status: 401 })],
  ])("not %s", async (_name, answer) => {
    const { ask, asked } = aClient([answer, ok]);
    await expect(inTime(ask({ isRepeatable: true }))).rejects.toMatchObject({ status: expect.any(Number) });
    expect(asked).toHaveLength(1);
  });

  test.each([
    [undefined, 4],
    [0, 1],
    [1, 2],
  ])("is so at most so often: with retries %s, %i requests", async (retries, requests) => {
    const { ask, asked } = aClient([reset], { retries });
    await expect(inTime(ask({ isRepeatable: true }))).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE" });
    expect(asked).toHaveLength(requests);
  });

  async function pausesOf(answer: Answer, retries: number): Promise<number[]> {
    const times: number[] = [];
    const { ask } = aClient(
      [
        (request) => {
          times.push(performance.now());
          return answer(request);
        },
      ],
      { retries },
    );
    await inTime(ask({ isRepeatable: true }).catch(() => undefined));
    return times.slice(1).map((time, index) => Math.round(time - (times[index] as number)));
  }

  test("waits twice as long each time, up to five seconds, and never quite the same", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    expect(await pausesOf(reset, 8)).toEqual([50, 100, 200, 400, 800, 1600, 2500, 2500]);
    vi.spyOn(Math, "random").mockReturnValue(1);
    expect(await pausesOf(reset, 8)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  test.each([
    ["2", 2000],
    ["3600", 5000],
    ["0", 50],
  ])("waits as long as the server says, %s s, within reason", async (seconds, pauseMs) => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const busy: Answer = () => new Response(null, { status: 503, headers: { "retry-after": seconds } });
    expect(await pausesOf(busy, 1)).toEqual([pauseMs]);
  });

  test("ends with the signal while it waits", async () => {
    const controller = new AbortController();
    const { ask, asked } = aClient([reset, ok]);
    const refused = expect(ask({ isRepeatable: true, signal: controller.signal })).rejects.toThrow("enough");
    await vi.advanceTimersByTimeAsync(10);
    controller.abort(new Error("enough"));
    await refused;
    await vi.runAllTimersAsync();
    expect(asked).toHaveLength(1);
  });
});

describe("a request that takes too long", () => {
  test.each<[string, Asked, number]>([
    ["the client's time", {}, 30],
    ["its own time", { timeoutMs: 20 }, 20],
  ])("ends after %s", async (_name, more, timeoutMs) => {
    const { ask } = aClient([silence], { timeoutMs: 30, retries: 0 });
    await expect(ask(more)).rejects.toMatchObject({
      code: "ERR_SERVER_UNAVAILABLE",
      message: `The server did not answer within ${timeoutMs} ms: ${BASE_URL}`,
      status: undefined,
      cause: { name: "TimeoutError" },
    });
  });

  test("ends even where whoever fetches does not look at the signal", async () => {
    const { ask } = aClient([() => new Promise(() => undefined)], { timeoutMs: 10, retries: 0 });
    await expect(ask()).rejects.toThrow("did not answer within 10 ms");
  });

  test("ends while its answer comes", async () => {
    const { ask } = aClient([() => new Response(new ReadableStream())], { timeoutMs: 10, retries: 0 });
    await expect(ask()).rejects.toThrow("did not answer within 10 ms");
  });
});

test("a server that cannot be reached is said to be so, with why", async () => {
  await expect(aClient([reset]).ask()).rejects.toMatchObject({
    code: "ERR_SERVER_UNAVAILABLE",
    message: `The server could not be reached: ${BASE_URL}`,
    cause: { message: "fetch failed" },
  });
});

describe("a signal", () => {
  test("that is aborted before sends nothing back but its reason", async () => {
    const { ask } = aClient([silence]);
    await expect(ask({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  });

  test("ends a request with its reason, once and for all", async () => {
    const controller = new AbortController();
    const { ask, asked } = aClient([silence]);
    const refused = expect(ask({ isRepeatable: true, signal: controller.signal })).rejects.toThrow("enough");
    controller.abort(new Error("enough"));
    await refused;
    await vi.runAllTimersAsync();
    expect(asked).toHaveLength(1);
  });
});

describe("options", () => {
  test.each<[string, object, string]>([
    ["no URL", { baseUrl: undefined }, "baseUrl"],
    ["no key", { apiKey: undefined }, "apiKey"],
    ["a key of somebody else", { apiKey: "sk-123" }, "apiKey"],
    ["a key with something before it", { apiKey: `x${API_KEY}` }, "apiKey"],
    ["a key with a line feed", { apiKey: `${API_KEY}\n` }, "apiKey"],
    ["a key that is too short", { apiKey: `ilk_${"k".repeat(19)}` }, "apiKey"],
    ["a key that is too long", { apiKey: `ilk_${"k".repeat(201)}` }, "apiKey"],
    ["a key as an object", { apiKey: { toString: () => API_KEY } }, "apiKey"],
    ["no time", { timeoutMs: 0 }, "timeoutMs"],
    ["part of a millisecond", { timeoutMs: 1.5 }, "timeoutMs"],
    ["a text for a time", { timeoutMs: "10" }, "timeoutMs"],
    ["less than no retries", { retries: -1 }, "retries"],
    ["endless retries", { retries: Number.POSITIVE_INFINITY }, "retries"],
  ])("%s: refused", (_name, options, name) => {
    expect(() => aClient([ok], options)).toThrow(
      expect.objectContaining({
        code: "ERR_INVALID_OPTIONS",
        message: expect.stringMatching(new RegExp(`^${name}: `)),
      }),
    );
  });

  test.each<[string, object]>([
    ["the shortest key", { apiKey: `ilk_${"k".repeat(20)}` }],
    ["the longest", { apiKey: `ilk_${"-_".repeat(100)}` }],
    ["a millisecond", { timeoutMs: 1 }],
    ["no retries", { retries: 0 }],
  ])("%s: taken", (_name, options) => {
    expect(aClient([ok], options).client.baseUrl).toBe(BASE_URL);
  });

  test("none at all are refused by what is missing", () => {
    expect(() => new ServerClient(undefined as never)).toThrow("baseUrl: expected a URL");
  });
});
