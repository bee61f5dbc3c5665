/** A server for the demo, set up as a team would: with the command line, in a folder that is removed at the end. */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "intentlock/server";

export const AGENT = "support";
export const USER = "alice@acme.dev";
export const APPROVER = "bob@acme.dev";

export interface DemoServer {
  readonly url: string;
  readonly apiKey: string;
  /** For the agent's own records. */
  readonly outbox: string;
  /** A link that signs the approver in, once. */
  link(): string;
  /** What the audit trail of all plans proves, in words. */
  verify(): string;
  remove(): Promise<void>;
}

export async function setUp(): Promise<DemoServer> {
  const cwd = await mkdtemp(join(tmpdir(), "intentlock-demo-"));
  const program = fileURLToPath(new URL("cli.js", import.meta.resolve("intentlock")));
  /** In a terminal: `npx intentlock …`. */
  const intentlock = (...args: string[]): string =>
    execFileSync(process.execPath, [program, ...args], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
    });
  const read = (...args: string[]): Record<string, string> => JSON.parse(intentlock(...args, "--json"));

  intentlock("user", "add", "root@acme.dev", "--role", "admin");
  intentlock("user", "add", USER, "--role", "member");
  intentlock("user", "add", APPROVER, "--role", "approver");
  intentlock("agent", "create", AGENT);
  const policy = fileURLToPath(new URL("policy.yaml", import.meta.url));
  intentlock("policy", "push", "--agent", AGENT, policy);
  const { key: apiKey = "" } = read("key", "create", "--agent", AGENT, "--owner", "root@acme.dev");

  const sqlitePath = join(cwd, ".intentlock", "intentlock.db");
  const { url, close } = await startServer({ port: 0, sqlitePath, logLevel: "silent" });
  return {
    url,
    apiKey,
    outbox: join(cwd, "outbox.db"),
    link: () => read("user", "link", APPROVER, "--public-url", url)["link"] ?? "",
    verify: () => intentlock("audit", "verify").trim(),
    remove: async () => {
      await close();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}
