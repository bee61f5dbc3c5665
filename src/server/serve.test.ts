import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import { addPerson, addSession, CAROL } from "../../test/people.ts";
import { anAgent } from "../../test/servers.ts";
import { IntentlockError } from "../core/index.ts";
import { EventStream } from "./people/event-stream.ts";
import { nameSessionCookie } from "./people/session-cookie.ts";
import { hashSecret } from "./secret.ts";
import { type RunningServer, type ServeOptions, startServer } from "./serve.ts";

const running: RunningServer[] = [];
let folder = "";
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(running.splice(0).map((one) => one.close()));
  if (folder) await rm(folder, { recursive: true });
  folder = "";
});

async function start(options: ServeOptions = {}): Promise<RunningServer> {
  folder ||= await mkdtemp(join(tmpdir(), "intentlock-serve-"));
  const log = pino({ level: "silent" });
  const one = await startServer({ port: 0, sqlitePath: join(folder, "a", "store.db"), log, ...options });
  running.push(one);
  return one;
}

test("a server answers on its port, and keeps what it has in its file", async () => {
  const one = await start();
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(one.server.context.publicUrl).toBe(one.url);
  const keys = async () => await (await fetch(`${(running.at(-1) as RunningServer).url}/.well-known/jwks.json`)).json();
  const before = await keys();
  await one.close();
  await start();
  expect(await keys()).toEqual(before);
  const file = join(folder, "a", "store.db");
  expect(existsSync(file) && statSync(file).mode & 0o077).toBe(0);
});

test("an address that is taken is an error that says so, and the file is free again", async () => {
  const one = await start();
  const port = Number(new URL(one.url).port);
  const options = { port, sqlitePath: join(folder, "other.db") };
  await expect(startServer({ ...options, logLevel: "silent" })).rejects.toThrow(IntentlockError);
  await expect(startServer({ ...options, logLevel: "silent" })).rejects.toThrow(/EADDRINUSE/);
  await rm(options.sqlitePath);
});

/** A cookie with which the events are listened to. */
async function signCarolIn({ url, server: { context } }: RunningServer): Promise<string> {
  await addPerson(context.store, CAROL, ["approver"]);
  const times = { createdAt: Date.now(), lastSeenAt: Date.now(), expiresAt: Date.now() + 60_000 };
  const session = await addSession(context, CAROL, times);
  return `${nameSessionCookie(url)}=${session.token}`;
}

test("a page that leaves is no error", async () => {
  const lines: string[] = [];
  const one = await start({ log: pino({}, { write: (line: string) => lines.push(line) }) });
  const printed = [vi.spyOn(console, "error"), vi.spyOn(process.stderr, "write")];
  const page = new AbortController();
  const headers = { cookie: await signCarolIn(one) };
  const answer = await fetch(`${one.url}/v1/inbox/events`, { headers, signal: page.signal });
  await answer.body!.getReader().read();
  const left = vi.spyOn(EventStream.prototype, "end");
  page.abort();
  await vi.waitFor(() => expect(left).toHaveBeenCalled(), { timeout: 5000 });
  await one.close();
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
    lines.map(() => expect.objectContaining({ level: 30 })),
  );
  for (const print of printed) expect(print).not.toHaveBeenCalled();
});

test("a server that stops ends the events of pages that are open, and does not wait for them", async () => {
  const one = await start({ closeTimeoutMs: 600_000 });
  const cookie = await signCarolIn(one);
  const answer = await fetch(`${one.url}/v1/inbox/events`, { headers: { cookie } });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const text = answer.text();
  await one.close();
  // What is cut off is no answer.
  expect(await text).toBe(": here\n\n");
});

test("a server that stops answers who waits, and lets what runs end", async () => {
  const one = await start();
  const { store } = one.server.context;
  const { apiKey } = await anAgent(store);
  const found = Promise.withResolvers<undefined>();
  vi.spyOn(store.plans, "get").mockReturnValue(found.promise);
  const answer = fetch(`${one.url}/v1/plans/none`, { headers: { authorization: `Bearer ${apiKey}` } });
  await vi.waitFor(() => expect(store.plans.get).toHaveBeenCalled());
  const closing = one.close();
  await expect(fetch(`${one.url}/healthz`)).rejects.toThrow();
  found.resolve(undefined);
  expect((await answer).status).toBe(404);
  await closing;
  expect(one.close()).toBe(one.close());
});

test("who never sends the rest of a request does not keep a server from stopping", async () => {
  const one = await start({ closeTimeoutMs: 50 });
  const { apiKey } = await anAgent(one.server.context.store);
  const socket = connect(Number(new URL(one.url).port), "127.0.0.1");
  const head = [
    "POST /v1/plans HTTP/1.1",
    "Host: a",
    `Authorization: Bearer ${apiKey}`,
    "Content-Type: application/json",
  ];
  socket.write(`${head.join("\r\n")}\r\nContent-Length: 1000\r\n\r\n{`);
  socket.on("error", () => {});
  await once(socket, "connect");
  await vi.waitFor(async () => expect(await (await fetch(`${one.url}/healthz`)).json()).toEqual({ status: "ok" }));
  await Promise.all([one.close(), once(socket, "close")]);
});

test.each([
  [
    "longer than it may be, in pieces without a length",
    `${"10000\r\n"}${" ".repeat(65_536)}\r\n`.repeat(80),
    /^HTTP\/1.1 413 /,
  ],
  ["sound, in pieces", '6\r\n{"text\r\n5\r\n":""}\r\n0\r\n\r\n', /^HTTP\/1.1 200 /],
])("a body that is %s", async (_name, body, expected) => {
  const one = await start();
  const { apiKey } = await anAgent(one.server.context.store);
  const socket = connect(Number(new URL(one.url).port), "127.0.0.1");
  socket.on("error", () => {});
  const head = ["POST /v1/policies/validate HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"];
  const more = [`Authorization: Bearer ${apiKey}`, "Content-Type: application/json", "", ""];
  socket.write([...head, ...more].join("\r\n") + body);
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(expected);
  socket.destroy();
});

test("who leaves while the key is looked up does not keep a server from stopping", async () => {
  const one = await start();
  const { store } = one.server.context;
  const { apiKey } = await anAgent(store);
  const found = await store.apiKeys.findByHash(hashSecret(apiKey));
  const looked = Promise.withResolvers<typeof found>();
  const findByHash = vi.spyOn(store.apiKeys, "findByHash").mockReturnValue(looked.promise);
  const socket = connect(Number(new URL(one.url).port), "127.0.0.1");
  const head = [
    "POST /v1/plans HTTP/1.1",
    "Host: a",
    `Authorization: Bearer ${apiKey}`,
    "Content-Type: application/json",
  ];
  socket.write(`${head.join("\r\n")}\r\nContent-Length: 1000\r\n\r\n{`);
  await vi.waitFor(() => expect(findByHash).toHaveBeenCalled());
  socket.destroy();
  await once(socket, "close");
  await fetch(`${one.url}/healthz`);
  looked.resolve(found);
  await one.close();
});

test("refused keys are counted by the address of the socket", async () => {
  const one = await start({ rateLimits: { keyFailures: { count: 1, windowSeconds: 60 } } });
  const hit = vi.spyOn(one.server.context.store.rateLimits, "hit");
  const status = async () =>
    (await fetch(`${one.url}/v1/holds/x`, { headers: { authorization: "Bearer ilk_" } })).status;
  expect([await status(), await status()]).toEqual([401, 429]);
  expect(hit.mock.calls[0]?.[0]).toBe("api key 127.0.0.1");
});

test("sweeps go on by themselves, also after one has failed", async () => {
  const one = await start({ sweepEveryMs: 1 });
  const expire = vi.spyOn(one.server.context.store.holds, "expire").mockRejectedValueOnce(new Error("no"));
  await vi.waitFor(() => expect(expire.mock.calls.length).toBeGreaterThan(2));
});
