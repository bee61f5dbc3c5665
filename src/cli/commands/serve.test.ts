import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { aShell, type Ended, type Shell } from "../../../test/command-lines.ts";
import { EXIT } from "../exit-codes.ts";
import type { Serving } from "../output/print-serving.ts";

// Processes, threads and syncs take as long as the machine needs.
vi.setConfig({ testTimeout: 120_000 });

const ROOT = "root@acme.dev";

interface Served {
  readonly serving: Serving;
  /** Ends it as Ctrl-C does. */
  stop(): Promise<Ended>;
}

/** Starts a server on a free port; resolves when it has said where. */
async function serve(shell: Shell, more: readonly string[] = []): Promise<Served> {
  const ctrlC = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Serving>();
  let out = "";
  const stdout = {
    write: (text: string) => {
      out += text;
      resolve(JSON.parse(text));
    },
  };
  const argv = ["serve", "--port", "0", "--log-level", "warn", "--json", ...more];
  const ended = shell.run(argv, { stdout, signal: ctrlC.signal });
  onTestFinished(() => ctrlC.abort());
  const serving = await Promise.race([promise, ended.then(({ err }) => Promise.reject(new Error(err)))]);
  return {
    serving,
    stop: async () => {
      ctrlC.abort();
      return { ...(await ended), out };
    },
  };
}

describe("serve", () => {
  test("wants to know who administers a new server", async () => {
    const shell = aShell();
    const { code, out, err } = await shell.run(["serve", "--port", "0"]);
    expect({ code, out }).toEqual({ code: EXIT.usage, out: "" });
    expect(err).toBe(
      "error: Nobody administers this server yet.\nSay who does: intentlock serve --admin you@example.com\n",
    );
  });

  test("makes the first administrator, with a link, once", async () => {
    const shell = aShell();
    const first = await serve(shell, ["--admin", "Root@ACME.dev"]);
    const { url, publicUrl, store, admin } = first.serving;
    expect({ publicUrl, store }).toEqual({ publicUrl: url, store: join(shell.folder, ".intentlock/intentlock.db") });
    expect(admin).toMatchObject({ email: ROOT, expiresInSeconds: 86_400 });
    const token = admin?.link.slice(`${url}/sign-in#`.length);
    const signIn = (): Promise<Response> =>
      fetch(`${url}/v1/session`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url },
        body: JSON.stringify({ token }),
      });
    expect([(await signIn()).status, (await signIn()).status]).toEqual([201, 401]);
    const ended = await first.stop();
    expect(ended).toMatchObject({ code: EXIT.ok });
    expect(ended.err).not.toContain(token);

    const again = await serve(shell);
    expect(again.serving).not.toHaveProperty("admin");
    expect((await fetch(`${again.serving.url}/healthz`)).status).toBe(200);
    await again.stop();
    await expect(fetch(again.serving.url)).rejects.toThrow();
  });

  test("takes the administrator and the public address from the environment", async () => {
    const shell = aShell({ INTENTLOCK_ADMIN: ROOT, INTENTLOCK_PUBLIC_URL: "https://lock.acme.dev/" });
    const { serving, stop } = await serve(shell);
    expect(serving).toMatchObject({ publicUrl: "https://lock.acme.dev", admin: { email: ROOT } });
    expect(serving.admin?.link).toMatch(/^https:\/\/lock\.acme\.dev\/sign-in#/);
    await stop();
  });

  test("runs beside commands on its store", async () => {
    const shell = aShell();
    const { serving, stop } = await serve(shell, ["--admin", ROOT]);
    expect((await shell.run(["agent", "create", "triage"])).code).toBe(EXIT.ok);
    const { out } = await shell.run(["key", "create", "--agent", "triage", "--owner", ROOT]);
    const answer = await fetch(`${serving.url}/v1/policies/validate`, {
      method: "POST",
      headers: { authorization: `Bearer ${out.trim()}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "version: 1\ndefault: block\nrules: []\n" }),
    });
    expect(await answer.json()).toMatchObject({ valid: true });
    await stop();
  });

  test("says in words where it is", async () => {
    const ctrlC = new AbortController();
    let out = "";
    const write = (text: string): void => {
      out += text;
      ctrlC.abort();
    };
    const argv = ["serve", "--port", "0", "--host", "0.0.0.0", "--admin", ROOT, "--log-level", "silent"];
    const { code, err } = await aShell().run(argv, { stdout: { write }, signal: ctrlC.signal });
    expect({ code, err }).toEqual({ code: EXIT.ok, err: "" });
    expect(out).toMatch(
      /^Intentlock listens at http:\/\/localhost:\d+\nInbox: http:\/\/localhost:\d+\/\nStore: \/.*\.db\n/,
    );
    expect(out).toMatch(/\nOther machines reach it: put TLS in front.*\n\nroot@acme\.dev is the first administrator\./);
    expect(out).toMatch(
      /\n {2}http:\/\/localhost:\d+\/sign-in#[\w-]+\nAnother one: intentlock user link root@acme\.dev\n$/,
    );
  });

  test("on a port that is taken cannot be done, and keeps nothing open", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const shell = aShell({ INTENTLOCK_ADMIN: ROOT });
    const ended = await shell.json(["serve", "--port", String(port)]);
    expect(ended).toMatchObject({ code: EXIT.failed, value: { error: { code: "ERR_LISTEN" } } });
    // Nobody was made an administrator of a server that did not run.
    expect(await shell.json(["user", "list"])).toMatchObject({ value: { people: [] } });
  });

  test.each<[argv: string, env: Record<string, string>, code: number]>([
    ["--port 65536", {}, EXIT.usage],
    ["--port -1", {}, EXIT.usage],
    ["--admin root", {}, EXIT.usage],
    ["", { INTENTLOCK_ADMIN: "root" }, EXIT.usage],
    ["--log-level loud", {}, EXIT.usage],
    ["--public-url lock.acme.dev", {}, EXIT.usage],
    ["--admin root@acme.dev --port 0 --host not-a-host.invalid", {}, EXIT.failed],
    ["--admin root@acme.dev --database /dev/null/x", {}, EXIT.failed],
  ])("with %j and %j ends with %i", async (argv, env, code) => {
    const ended = await aShell(env).run(["serve", ...(argv === "" ? [] : argv.split(" "))]);
    expect(ended).toEqual({ code, out: "", err: expect.stringMatching(/^error: /) });
  });
});
