import { expect, onTestFinished, test, vi } from "vitest";
import { aPlan } from "../../../test/builders.ts";
import { aLock, type Served, serve } from "../../../test/mcp.ts";
import { callText, overHttp } from "../../../test/mcp-processes.ts";
import { loadMcpSdk } from "../../adapters/mcp/proxy/load-mcp-sdk.ts";
import { ProxyConnection } from "../../adapters/mcp/proxy/proxy-connection.ts";
import { type Listening, listen } from "./listen.ts";

interface Heard extends Listening {
  readonly log: string[];
  /** The servers that were begun, one for each client. */
  readonly begun: Served[];
}

async function aListener(over: { readonly maxClients?: number; readonly fails?: boolean } = {}): Promise<Heard> {
  const log: string[] = [];
  const begun: Served[] = [];
  // A client may come before its server has been made.
  const made = await Promise.all(Array.from({ length: 4 }, () => serve()));
  const { lock } = aLock({ plan: aPlan() });
  const listening = await listen({
    port: 0,
    sdk: await loadMcpSdk(),
    connect: (client, number) => {
      const served = made[number - 1] as Served;
      begun.push(served);
      if (over.fails) vi.spyOn(served.transport, "start").mockRejectedValue(new Error("spawn ENOENT"));
      return new ProxyConnection({ client, server: served.transport, lock, callIdPrefix: `${number}/` });
    },
    log: (line) => log.push(line),
    ...(over.maxClients !== undefined && { maxClients: over.maxClients }),
  });
  onTestFinished(() => listening.close());
  return { ...listening, log, begun };
}

test("only a client begins a server, and ends it", async () => {
  const { url, begun, log } = await aListener();
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  for (const body of ["{", "{}", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })]) {
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(400);
  }
  expect(begun).toHaveLength(0);
  const client = await overHttp(url);
  expect(begun).toHaveLength(1);
  const sessionId = (client.transport as unknown as { readonly sessionId: string }).sessionId;
  const ended = await fetch(url, { method: "DELETE", headers: { ...headers, "mcp-session-id": sessionId } });
  expect(ended.status).toBe(200);
  await vi.waitFor(() => expect(begun[0]?.server.transport).toBeUndefined());
  expect((await fetch(url, { method: "DELETE", headers: { ...headers, "mcp-session-id": sessionId } })).status).toBe(
    404,
  );
  expect(log).toEqual([]);
});

test("whoever was heard of least recently makes room", async () => {
  const { url } = await aListener({ maxClients: 2 });
  const [first, second] = [await overHttp(url), await overHttp(url)];
  await callText(first, "send_money", {});
  const third = await overHttp(url);
  await vi.waitFor(async () => await expect(callText(second, "send_money", {})).rejects.toThrow());
  expect(await callText(first, "send_money", {})).toContain("ran with");
  expect(await callText(third, "send_money", {})).toContain("ran with");
});

test("a server that cannot be begun is told of, and the client hears that it is none", async () => {
  const { url, log } = await aListener({ fails: true });
  await expect(overHttp(url)).rejects.toThrow();
  await vi.waitFor(() => expect(log[0]).toBe("the server cannot be started: spawn ENOENT"));
});

test("two proxies cannot have one port", async () => {
  const { url } = await aListener();
  const port = Number(new URL(url).port);
  const options = { port, sdk: await loadMcpSdk(), connect: () => expect.fail(), log: () => undefined };
  await expect(listen(options)).rejects.toMatchObject({ code: "ERR_LISTEN" });
});
