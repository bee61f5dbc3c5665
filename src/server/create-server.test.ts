import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  aKey,
  anAgent,
  aServer,
  askServer,
  PUBLIC_URL,
  type ServerSetup,
  type ServerUnderTest,
} from "../../test/servers.ts";
import { endpoints, problemSchema } from "../core/api/index.ts";
import { IntentlockError, isJsonObject } from "../core/index.ts";
import { createServer } from "./create-server.ts";

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(setup: ServerSetup = {}): Promise<ServerUnderTest> {
  const one = await aServer(setup);
  open.push(one);
  return one;
}

const JSON_TYPE = { "content-type": "application/json" };
const validate = "/v1/policies/validate";

describe("what is no request of an endpoint", () => {
  test.each([
    ["an unknown path", "GET", "/v1/nothing", 404, "not_found"],
    ["a path with more behind it", "GET", "/healthz/x", 404, "not_found"],
    ["another method", "DELETE", "/healthz", 405, "method_not_allowed"],
    ["a method that nobody knows", "BREW", "/healthz", 405, "method_not_allowed"],
  ])("%s is a problem", async (_name, method, path, status, code) => {
    const { ask } = await start();
    const answer = await ask(method, path);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(problemSchema.safeParse(answer.body).success).toBe(true);
    expect(answer.body.instance).toBe(answer.headers.get("x-request-id"));
  });

  test("a method that is not taken is told those that are", async () => {
    const { ask } = await start();
    expect((await ask("PATCH", "/healthz")).headers.get("allow")).toBe("GET, HEAD");
  });
});

describe("authentication of agents", () => {
  test.each([
    ["no key", () => ({ apiKey: null })],
    ["an unknown key", () => ({ apiKey: `ilk_${"a".repeat(43)}` })],
    ["a key and more", (key: string) => ({ apiKey: `${key}a` })],
    ["a key in another case", (key: string) => ({ apiKey: key.toUpperCase() })],
    ["another scheme", (key: string) => ({ apiKey: null, headers: { authorization: `Basic ${key}` } })],
    ["an empty header", () => ({ apiKey: null, headers: { authorization: "" } })],
  ])("refuses %s", async (_name, ask) => {
    const { ask: send, agent } = await start();
    const answer = await send("GET", "/v1/holds/some-hold", ask(agent.apiKey));
    expect([answer.status, answer.body.code]).toEqual([401, "api_key_rejected"]);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("refuses a key that was revoked, and every key of an agent that is disabled, from then on", async () => {
    const { ask, store, agent } = await start();
    const other = await aKey(store, agent.agentId);
    const status = async (apiKey: string): Promise<number> => (await ask("GET", "/v1/plans/none", { apiKey })).status;
    expect([await status(agent.apiKey), await status(other.apiKey)]).toEqual([404, 404]);
    await store.apiKeys.revoke(agent.keyId, 1);
    expect([await status(agent.apiKey), await status(other.apiKey)]).toEqual([401, 404]);
    await store.agents.setDisabled(agent.agentId, 1);
    expect(await status(other.apiKey)).toBe(401);
  });

  test("counts refused keys by address, and lets a good key in all the same", async () => {
    const { ask, agent } = await start({ rateLimits: { keyFailures: { count: 3, windowSeconds: 60 } } });
    const codes: string[] = [];
    for (let i = 0; i < 5; i++) codes.push((await ask("GET", "/v1/plans/none", { apiKey: "ilk_wrong" })).body.code);
    expect(codes).toEqual([...Array(3).fill("api_key_rejected"), "rate_limited", "rate_limited"]);
    const limited = await ask("GET", "/v1/plans/none", { apiKey: "ilk_wrong" });
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask("GET", "/v1/plans/none", { apiKey: agent.apiKey })).status).toBe(404);
  });

  test("a key opens nothing that is for people", async () => {
    const { ask } = await start();
    expect((await ask("GET", "/v1/inbox")).body.code).toBe("sign_in_required");
    expect((await ask("GET", "/v1/agents")).body.code).toBe("sign_in_required");
  });

  test("an endpoint for either says what is missing", async () => {
    const { ask } = await start();
    expect((await ask("POST", validate, { apiKey: null, body: { text: "" } })).body.code).toBe("sign_in_required");
    expect((await ask("POST", validate, { apiKey: "ilk_no", body: { text: "" } })).body.code).toBe("api_key_rejected");
  });
});

describe("what a body may be", () => {
  test.each<[string, string, Record<string, string>, number, string]>([
    ["no JSON", "{", JSON_TYPE, 400, "invalid_request"],
    ["a duplicate key", '{"text":"a","text":"b"}', JSON_TYPE, 400, "invalid_request"],
    ["an unknown field", '{"text":"a","more":1}', JSON_TYPE, 400, "invalid_request"],
    ["a field __proto__", '{"text":"a","__proto__":{}}', JSON_TYPE, 400, "invalid_request"],
    ["a missing field", "{}", JSON_TYPE, 400, "invalid_request"],
    ["half of a surrogate pair", '{"text":"\\ud800"}', JSON_TYPE, 400, "invalid_request"],
    ["nesting without end", `{"text":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, JSON_TYPE, 400, "invalid_request"],
    ["no type", '{"text":""}', {}, 415, "unsupported_media_type"],
    ["a form", "text=a", { "content-type": "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
    ["a text", '{"text":""}', { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    [
      "other letters",
      '{"text":""}',
      { "content-type": "application/json; charset=latin1" },
      415,
      "unsupported_media_type",
    ],
    ["a packed body", '{"text":""}', { ...JSON_TYPE, "content-encoding": "gzip" }, 415, "unsupported_media_type"],
    [
      "a length beyond the limit",
      '{"text":""}',
      { ...JSON_TYPE, "content-length": "99999999" },
      413,
      "payload_too_large",
    ],
  ])("%s is refused", async (_name, body, headers, status, code) => {
    const { server, agent } = await start();
    const request = new Request(`${PUBLIC_URL}${validate}`, {
      method: "POST",
      headers: { authorization: `Bearer ${agent.apiKey}`, ...headers },
      body: new Blob([body]),
    });
    if (!("content-type" in headers)) request.headers.delete("content-type");
    const response = await server.fetch(request);
    const problem = await response.json();
    expect([response.status, isJsonObject(problem) && problem["code"]]).toEqual([status, code]);
    expect(problemSchema.safeParse(problem).success).toBe(true);
  });

  test("one that does not end is not read to its end", async () => {
    const { server, agent } = await start();
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    const request = new Request(`${PUBLIC_URL}${validate}`, {
      method: "POST",
      headers: { ...JSON_TYPE, authorization: `Bearer ${agent.apiKey}` },
      body: endless,
      duplex: "half",
    } as RequestInit);
    expect((await server.fetch(request)).status).toBe(413);
    expect(sent).toBeLessThan(2 * 4_194_304);
  });

  test("bytes that are no UTF-8 are refused", async () => {
    const { server, agent } = await start();
    const headers = { ...JSON_TYPE, authorization: `Bearer ${agent.apiKey}` };
    const body = new Uint8Array([0x22, 0xff, 0x22]);
    expect(
      (await server.fetch(new Request(`${PUBLIC_URL}${validate}`, { method: "POST", headers, body }))).status,
    ).toBe(400);
  });

  test("an endpoint without one takes {} and nothing else", async () => {
    const { ask } = await start();
    expect((await ask("POST", "/v1/plans/none/refresh", { body: { a: 1 } })).body.code).toBe("invalid_request");
    for (const body of [undefined, {}]) {
      expect((await ask("POST", "/v1/plans/none/refresh", { body })).body.code).not.toBe("invalid_request");
    }
  });

  test.each(["/v1/plans/a%2Fb", "/v1/plans/%00", "/v1/plans/%E0%A4%A", `/v1/plans/${"a".repeat(201)}`])(
    "the parameter in %s is refused",
    async (path) => {
      const { ask } = await start();
      expect((await ask("GET", path)).body.code).toBe("invalid_request");
    },
  );

  test.each(["waitSeconds=61", "waitSeconds=-1", "waitSeconds=1&waitSeconds=2", "other=1", "__proto__=1"])(
    "the query %s is refused",
    async (query) => {
      const { ask } = await start();
      expect((await ask("GET", `/v1/holds/some-hold?${query}`)).body.code).toBe("invalid_request");
    },
  );
});

describe("what the server says of itself", () => {
  test("it is there, and it is ready while its database is", async () => {
    const { ask, store } = await start();
    expect((await ask("GET", "/healthz", { apiKey: null })).body).toEqual({ status: "ok" });
    expect((await ask("GET", "/readyz", { apiKey: null })).body).toEqual({ status: "ok" });
    await store.close();
    expect((await ask("GET", "/healthz", { apiKey: null })).status).toBe(200);
    expect((await ask("GET", "/readyz", { apiKey: null })).body.code).toBe("unavailable");
  });

  test("its document has every path", async () => {
    const { ask } = await start();
    const { body } = await ask("GET", "/v1/openapi.json", { apiKey: null });
    expect(new Set(Object.keys(body.paths))).toEqual(new Set(Object.values(endpoints).map(({ path }) => path)));
  });

  test("its keys are public, the same each time, and without their private halves", async () => {
    const { ask } = await start();
    const [first, second] = await Promise.all([
      ask("GET", "/.well-known/jwks.json"),
      ask("GET", "/.well-known/jwks.json"),
    ]);
    expect(first.body.keys).toHaveLength(1);
    expect(second.body).toEqual(first.body);
    expect(Object.keys(first.body.keys[0]).sort()).toEqual(["crv", "kid", "kty", "x"]);
  });

  test.each(["", "intentlock", "ftp://a", "https://a/?b", "https://a:b@c", "https://a/#b"])(
    "a public address like %j is refused",
    async (publicUrl) => {
      const { store } = await start();
      expect(() => createServer({ store, publicUrl })).toThrow(IntentlockError);
    },
  );
});

describe("trouble", () => {
  test("says nothing of its cause, and leaves it in the log without what it quotes", async () => {
    const { log, lines } = aLog();
    const { ask, store } = await start({ log });
    vi.spyOn(store.plans, "get").mockRejectedValue(new Error("secret of plan-7"));
    const answer = await ask("GET", "/v1/plans/plan-7");
    expect([answer.status, answer.body.code]).toEqual([500, "internal"]);
    expect(JSON.stringify(answer.body)).not.toContain("secret");
    const line = lines().find(({ status }) => status === 500);
    expect(line).toMatchObject({ level: 50, requestId: answer.body.instance, error: { name: "Error" } });
    expect(JSON.stringify(lines())).not.toContain("secret of plan-7");
    expect(String(line?.["error"].stack)).toContain("at ");
  });

  test("a database that fails is a server that cannot answer", async () => {
    const { ask, store } = await start();
    vi.spyOn(store.plans, "get").mockRejectedValue(new IntentlockError("ERR_STORE", "The database failed"));
    expect((await ask("GET", "/v1/plans/plan-7")).body.code).toBe("unavailable");
  });
});

test("a log line has who, what and how it went, and no secret, argument or body", async () => {
  const { log, lines } = aLog();
  const { ask, agent } = await start({ log });
  await ask("POST", validate, { body: { text: "rules: MY-PRIVATE-RULE" }, headers: { "x-request-id": "client-7" } });
  await ask("GET", "/v1/plans/MY-PRIVATE-PLAN", { headers: { "x-request-id": 'no "id"' } });
  await ask("GET", "/v1/plans/x", { apiKey: `ilk_${"s".repeat(43)}` });
  await ask("GET", "/MY-PRIVATE-PATH", { headers: { cookie: "intentlock_session=MY-PRIVATE-COOKIE" } });
  expect(lines()[0]).toMatchObject({
    method: "POST",
    route: validate,
    agentId: agent.agentId,
    keyId: agent.keyId,
    clientRequestId: "client-7",
    durationMs: expect.any(Number),
  });
  expect(lines()[1]).toMatchObject({ route: "/v1/plans/{planId}", status: 404, code: "not_found" });
  expect(lines()[1]).not.toHaveProperty("clientRequestId");
  const text = JSON.stringify(lines());
  expect(lines()).toHaveLength(4);
  for (const secret of [agent.apiKey, "MY-PRIVATE", "ilk_", "sss"]) expect(text).not.toContain(secret);
});

test("a server that closes answers what is under way first", async () => {
  const { server, store, agent } = await aServer();
  const found = Promise.withResolvers<undefined>();
  vi.spyOn(store.plans, "get").mockReturnValue(found.promise);
  const answer = askServer(server, "GET", "/v1/plans/none", { apiKey: agent.apiKey });
  await vi.waitFor(() => expect(store.plans.get).toHaveBeenCalled());
  let isClosed = false;
  const closing = server.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  found.resolve(undefined);
  expect((await answer).status).toBe(404);
  await closing;
});

test("another agent is another caller", async () => {
  const { store, ask } = await start();
  const other = await anAgent(store);
  expect((await ask("GET", "/v1/plans/none", { apiKey: other.apiKey })).status).toBe(404);
});

function aLog() {
  const texts: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      texts.push(String(chunk));
      done();
    },
  });
  // biome-ignore lint/suspicious/noExplicitAny: lines of any fields.
  return { log: pino({}, stream), lines: (): Record<string, any>[] => texts.map((text) => JSON.parse(text)) };
}
