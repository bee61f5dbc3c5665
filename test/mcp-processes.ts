import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import type { PlanStep } from "../src/core/index.ts";

const CLI = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const POLICY =
  "version: 1\ndefault: block\nrules:\n  - { id: allow-in-plan, match: { inPlan: true }, decision: allow }\n";

/** The command that starts an official server. */
export function officialServer(name: "filesystem" | "memory", ...args: readonly string[]): string[] {
  const require = createRequire(import.meta.url);
  return [process.execPath, require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`), ...args];
}

/** A folder with a policy, a plan and `notes/`. */
export interface Desk {
  readonly folder: string;
  readonly notes: string;
  /** The options of a proxy with a local gate and these steps. */
  options(...steps: readonly PlanStep[]): string[];
}

export function aDesk(): Desk {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mcp-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const notes = join(folder, "notes");
  mkdirSync(notes);
  writeFileSync(join(notes, "a.txt"), "bread and milk");
  writeFileSync(join(notes, "secret.txt"), "s3cr3t");
  writeFileSync(join(folder, "policy.yaml"), POLICY);
  return {
    folder,
    notes,
    options: (...steps) => {
      writeFileSync(join(folder, "plan.json"), JSON.stringify({ goal: "Read the notes", steps }));
      return ["--policy", "policy.yaml", "--plan", "plan.json", "--user", "alice@acme.dev"];
    },
  };
}

export interface Connected {
  readonly client: Client;
  /** What the proxy has written to its error stream. */
  readonly log: () => string;
  call(name: string, args: Record<string, unknown>): Promise<string>;
}

/** What the memory server remembers stays in the desk's folder. */
export function environmentOf({ folder }: Desk): Record<string, string> {
  const kept = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(kept), MEMORY_FILE_PATH: join(folder, "memory.jsonl") };
}

/** The official client, before `intentlock mcp` with these arguments. */
export async function throughProxy(desk: Desk, argv: readonly string[]): Promise<Connected> {
  const args = [CLI, "mcp", ...argv];
  const [cwd, env] = [desk.folder, environmentOf(desk)];
  const transport = new StdioClientTransport({ command: process.execPath, args, cwd, env, stderr: "pipe" });
  let log = "";
  transport.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const client = new Client({ name: "desktop", version: "1" }, { capabilities: { sampling: {} } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, log: () => log, call: (name, args) => callText(client, name, args) };
}

export async function overHttp(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: "desktop", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never);
  return client;
}

export async function callText(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as readonly { readonly text?: string }[]).map(({ text }) => text ?? "").join("\n");
}
