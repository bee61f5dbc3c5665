import { once } from "node:events";
import { connect } from "node:net";
import type { UnderlyingSource } from "node:stream/web";
import { createAdaptorServer } from "@hono/node-server";
import { pino } from "pino";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createContext } from "../../../test/people.ts";
import type { AnyEndpoint, StreamMedia } from "../../core/api/index.ts";
import { createRoutes } from "./routes.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0)) end();
});

/** Routes with one endpoint that streams, and what became of the stream. */
async function aStream(source: UnderlyingSource<Uint8Array>, media: StreamMedia = "application/x-ndjson") {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const context = { ...(await createContext()), log };
  ends.push(() => void context.store.close());
  const shutdown = new AbortController();
  const cancelled = vi.fn();
  const body = new ReadableStream<Uint8Array>({ cancel: cancelled, ...source }, { highWaterMark: 0 });
  const endpoint: AnyEndpoint = {
    method: "GET",
    path: "/v1/stream",
    summary: "Streams",
    auth: ["none"],
    answers: { 200: z.object({}) },
    media,
  };
  const routes = createRoutes({
    context,
    endpoints: { stream: endpoint },
    handlers: { stream: async () => ({ status: 200, body, headers: { "content-disposition": "attachment" } }) },
    keyFailures: { count: 1, windowSeconds: 1 },
    clientAddress: () => "here",
    shutdown: shutdown.signal,
  });
  const ask = async (init: RequestInit = {}) => await routes.fetch(new Request("https://acme.dev/v1/stream", init));
  return { ask, routes, shutdown, cancelled, lines };
}

const encode = (text: string) => new TextEncoder().encode(text);

/** Gives one line and waits. */
const endless: UnderlyingSource<Uint8Array> = { start: (controller) => controller.enqueue(encode("1\n")) };

test("an answer that comes in pieces is passed on under its media type", async () => {
  const { ask } = await aStream({
    start(controller) {
      controller.enqueue(encode("1\n"));
      controller.enqueue(encode("2\n"));
      controller.close();
    },
  });
  const response = await ask();
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/x-ndjson",
    "content-disposition": "attachment",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": expect.any(String),
  });
  expect(await response.text()).toBe("1\n2\n");
});

test("nothing is read ahead of a client that does not read", async () => {
  const pull = vi.fn((controller: ReadableStreamDefaultController<Uint8Array>) => controller.enqueue(encode("1\n")));
  const { ask, cancelled } = await aStream({ pull });
  const reader = (await ask()).body!.getReader();
  await new Promise(setImmediate);
  expect(pull).not.toHaveBeenCalled();
  await reader.read();
  await new Promise(setImmediate);
  expect(pull).toHaveBeenCalledTimes(1);
  await reader.cancel();
  expect(cancelled).toHaveBeenCalledTimes(1);
});

test("a client that stops reading ends it, and nothing is wrong with that", async () => {
  const { ask, cancelled, lines } = await aStream({ pull: () => new Promise(() => {}) });
  const reader = (await ask()).body!.getReader();
  const next = reader.read();
  await new Promise(setImmediate);
  await reader.cancel();
  expect(await next).toMatchObject({ done: true });
  await new Promise(setImmediate);
  expect(cancelled).toHaveBeenCalledTimes(1);
  expect(lines).toHaveLength(1);
});

test("a client that goes away ends it", async () => {
  const { ask, cancelled } = await aStream(endless);
  const client = new AbortController();
  const reader = (await ask({ signal: client.signal })).body!.getReader();
  await reader.read();
  const next = reader.read();
  client.abort();
  await expect(next).rejects.toThrow("broken off");
  expect(cancelled).toHaveBeenCalledTimes(1);
});

test.each<[StreamMedia, boolean]>([
  ["application/x-ndjson", false],
  ["text/event-stream", true],
])("a shutdown ends %s, whole: %s", async (media, isWhole) => {
  const { ask, shutdown, cancelled, lines } = await aStream(endless, media);
  const text = (await ask()).text();
  await new Promise(setImmediate);
  shutdown.abort();
  if (isWhole) expect(await text).toBe("1\n");
  else await expect(text).rejects.toThrow("broken off");
  expect(cancelled).toHaveBeenCalledTimes(1);
  expect(lines).toHaveLength(1);
});

test("one that is asked for while the server shuts down is cancelled at once", async () => {
  const { ask, shutdown, cancelled } = await aStream(endless);
  shutdown.abort();
  await expect((await ask()).text()).rejects.toThrow("broken off");
  expect(cancelled).toHaveBeenCalledTimes(1);
});

test("what fails in the middle is logged, and the client is not told why", async () => {
  const { ask, lines } = await aStream({ pull: () => Promise.reject(new Error("secret of plan-7")) });
  const failure = await (await ask()).text().catch((error: unknown) => error);
  expect(failure).toEqual(new Error("The answer was broken off"));
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ level: 50, route: "/v1/stream", error: { name: "Error" } });
  expect(lines.join()).not.toContain("secret");
});

test("a question for the head alone streams nothing", async () => {
  const { ask, cancelled } = await aStream(endless);
  const response = await ask({ method: "HEAD" });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
  expect(cancelled).toHaveBeenCalledTimes(1);
});

/** The routes on a port of this machine. */
async function listen(routes: Awaited<ReturnType<typeof aStream>>["routes"]): Promise<number> {
  const server = createAdaptorServer({ fetch: (request, env) => routes.fetch(request, env) });
  ends.push(() => server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

describe("over a socket", () => {
  test.each<[StreamMedia, string, UnderlyingSource<Uint8Array>]>([
    ["text/event-stream", "waits", endless],
    ["application/x-ndjson", "waits", endless],
    ["application/x-ndjson", "has more", { pull: (controller) => controller.enqueue(encode("1\n".repeat(50_000))) }],
  ])("a client that goes away while %s %s ends it, and nothing is wrong with that", async (media, _name, source) => {
    const printed = [vi.spyOn(console, "error"), vi.spyOn(process.stderr, "write")];
    const { routes, cancelled, lines } = await aStream(source, media);
    const socket = connect(await listen(routes), "127.0.0.1");
    socket.write("GET /v1/stream HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "data");
    socket.destroy();
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalledTimes(1), { timeout: 5000 });
    await new Promise(setImmediate);
    expect(lines.map((line) => (JSON.parse(line) as { level: number }).level)).toEqual([30]);
    for (const print of printed) expect(print).not.toHaveBeenCalled();
  });

  test("lines that are broken off do not end as if they were all", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { routes, shutdown } = await aStream(endless);
    const text = (await fetch(`http://127.0.0.1:${await listen(routes)}/v1/stream`)).text();
    await new Promise(setImmediate);
    shutdown.abort();
    await expect(text).rejects.toThrow();
  });
});
