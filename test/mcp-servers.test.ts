import { existsSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EXIT } from "../src/cli/exit-codes.ts";
import { runCli } from "../src/cli/run-cli.ts";
import { aDesk, callText, type Desk, environmentOf, officialServer, overHttp, throughProxy } from "./mcp-processes.ts";

// Processes take as long as the machine needs.
vi.setConfig({ testTimeout: 120_000 });

describe("over stdio", () => {
  test("the filesystem server does what is planned, and nothing else", async () => {
    const desk = aDesk();
    const { client, call, log } = await throughProxy(desk, [
      ...desk.options({ tool: "read_text_file", args: { path: { eq: join(desk.notes, "a.txt") } }, maxCalls: 2 }),
      "--",
      ...officialServer("filesystem", desk.notes),
    ]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["read_text_file", "write_file"]));
    expect(await call("read_text_file", { path: join(desk.notes, "a.txt") })).toContain("bread and milk");
    expect(await call("read_text_file", { path: join(desk.notes, "secret.txt") })).toContain("(not_in_plan)");
    expect(await call("read_text_file", { path: 7 })).toContain("(invalid_args)");
    const written = join(desk.notes, "b.txt");
    expect(await call("write_file", { path: written, content: "x" })).toContain("(not_in_plan)");
    expect(existsSync(written)).toBe(false);
    await expect(client.listResources()).rejects.toThrow();
    expect(log()).toContain("blocked write_file (not_in_plan)");
  });

  test("the memory server, too, with its calls side by side", async () => {
    const desk = aDesk();
    const { client, call } = await throughProxy(desk, [
      ...desk.options({ tool: "create_entities", maxCalls: 3 }, { tool: "read_graph" }),
      ...["--outbox", "outbox.db", "--signing-key", "key.json", "--"],
      ...officialServer("memory"),
    ]);
    const create = (name: string): Promise<string> =>
      call("create_entities", { entities: [{ name, entityType: "person", observations: [] }] });
    const answers = await Promise.all(["a", "b", "c", "d", "e"].map(create));
    expect(answers.filter((text) => text.includes("(call_limit)"))).toHaveLength(2);
    expect(await call("delete_entities", { entityNames: ["a"] })).toContain("(not_in_plan)");
    const graph = JSON.parse(await call("read_graph", {})) as { readonly entities: readonly unknown[] };
    expect(graph.entities.length).toBeGreaterThan(0);
    await client.close();
    const verify = ["audit", "verify", "--outbox", "outbox.db", "--jwks", "key.json", "--agent", "local", "--json"];
    let out = "";
    const write = (text: string): void => {
      out += text;
    };
    const code = await runCli(verify, { stdout: { write }, stderr: { write }, env: {}, cwd: desk.folder });
    expect({ code, ...JSON.parse(out) }).toMatchObject({
      code: EXIT.ok,
      ok: true,
      plans: 1,
      decisions: 7,
      recomputed: 7,
    });
    expect(statSync(join(desk.folder, "key.json")).mode & 0o077).toBe(0);
  });
});

/** A proxy in this process, over HTTP; gives its address. */
async function listening(desk: Desk, argv: readonly string[]): Promise<string> {
  const stop = new AbortController();
  let log = "";
  const said = Promise.withResolvers<string>();
  const write = (text: string): void => {
    log += text;
    const url = /listens at (\S+)/.exec(log)?.[1];
    if (url) said.resolve(url);
  };
  const env = environmentOf(desk);
  const io = { stdout: { write: () => undefined }, stderr: { write }, env, cwd: desk.folder, signal: stop.signal };
  const ended = runCli(["mcp", "--listen", "0", ...argv], io);
  onTestFinished(async () => {
    stop.abort();
    expect(await ended).toBe(EXIT.ok);
  });
  return await Promise.race([said.promise, ended.then(() => Promise.reject(new Error(log)))]);
}

describe("over streamable HTTP", () => {
  test("on both sides: several clients share one plan, and each has its server", async () => {
    const desk = aDesk();
    const path = join(desk.notes, "a.txt");
    const step = { tool: "read_text_file", args: { path: { eq: path } } };
    const inner = await listening(desk, [...desk.options(step), "--", ...officialServer("filesystem", desk.notes)]);
    const outer = await listening(desk, [...desk.options({ ...step, maxCalls: 2 }), "--server", inner]);
    const clients = await Promise.all([overHttp(outer), overHttp(outer), overHttp(outer)]);
    const read = await Promise.all(clients.map((client) => callText(client, "read_text_file", { path })));
    expect(read.filter((text) => text.includes("bread and milk"))).toHaveLength(2);
    expect(read.filter((text) => text.includes("(call_limit)"))).toHaveLength(1);
    const secret = join(desk.notes, "secret.txt");
    expect(await callText(await overHttp(inner), "read_text_file", { path: secret })).toContain("(not_in_plan)");
  });

  test("takes nobody but programs of this machine", async () => {
    const desk = aDesk();
    const url = await listening(desk, [...desk.options({ tool: "read_graph" }), "--", ...officialServer("memory")]);
    const ask = async (path: string, headers: Record<string, string>): Promise<number> => {
      const { port } = new URL(url);
      return await new Promise((resolve, reject) => {
        const asked = request({ host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        asked.on("error", reject).end("{}");
      });
    };
    const accept = "application/json, text/event-stream";
    const json = { "content-type": "application/json", accept };
    expect(await ask("/mcp", { ...json, origin: "https://evil.example" })).toBe(403);
    expect(await ask("/mcp", { ...json, origin: "null" })).toBe(403);
    expect(await ask("/mcp", { ...json, host: "evil.example" })).toBe(403);
    expect(await ask("/", json)).toBe(404);
    expect(await ask("/mcp", { ...json, "mcp-session-id": "made-up" })).toBe(404);
    expect(await ask("/mcp", json)).toBe(400);
    const client = await overHttp(url, { origin: new URL(url).origin });
    expect(await callText(client, "read_graph", {})).toContain("entities");
  });
});

test("a server that is not there is told of, with its own exit code", async () => {
  const desk = aDesk();
  let err = "";
  const stderr = { write: (text: string) => (err += text) };
  const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: process.env, cwd: desk.folder };
  const code = await runCli(["mcp", ...desk.options({ tool: "x" }), "--", "/no/such/server"], io);
  expect({ code, err }).toEqual({ code: EXIT.failed, err: expect.stringContaining("The server cannot be started") });
});
