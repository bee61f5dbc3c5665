import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const CALLS = 1000;
const WARM_UP = 200;
/** It looks nothing up: what is left is the way there and back. */
const TOOL = "list_allowed_directories";

/** Milliseconds of each call, the two in turn, so that a busy minute of the machine falls on both. */
export async function measureRoundTrips(): Promise<{ readonly direct: number[]; readonly proxied: number[] }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bench-mcp-")));
  const times = { direct: [] as number[], proxied: [] as number[] };
  try {
    const main = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
    const server = [main, folder];
    const direct = await connect(server);
    const proxied = await connect([CLI, "mcp", ...writeOptions(folder), "--", process.execPath, ...server]);
    for (let call = -WARM_UP; call < CALLS; call++) {
      const [one, other] = [await timeCall(direct), await timeCall(proxied)];
      if (call < 0) continue;
      times.direct.push(one);
      times.proxied.push(other);
    }
    await Promise.all([direct.close(), proxied.close()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return times;
}

function writeOptions(folder: string): string[] {
  const [policy, plan] = [join(folder, "policy.yaml"), join(folder, "plan.json")];
  const rules = [{ id: "allow-in-plan", match: { inPlan: true }, decision: "allow" }];
  writeFileSync(policy, JSON.stringify({ version: 1, default: "block", rules }));
  writeFileSync(plan, JSON.stringify({ goal: "Look", steps: [{ tool: TOOL }] }));
  return ["--policy", policy, "--plan", plan, "--user", "alice@acme.dev"];
}

async function connect(args: string[]): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  return client;
}

async function timeCall(client: Client): Promise<number> {
  const started = performance.now();
  const { isError } = await client.callTool({ name: TOOL, arguments: {} });
  if (isError) throw new Error("The call was blocked");
  return performance.now() - started;
}
