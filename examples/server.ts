/**
 * npx node examples/server.ts
 *
 * A team's server, set up with the command line; an agent that decides its calls by itself, under plans that the server has
 * signed; and a payment that waits until Bob has approved it. In a folder that is removed at the end.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { generateText, isStepCount, tool } from "ai";
import { HybridGate } from "intentlock/gates";
import { withIntentlock } from "intentlock/vercel-ai";
import { z } from "zod";
import { call, scriptedModel } from "./scripted-model.ts";

const cwd = await mkdtemp(join(tmpdir(), "intentlock-example-"));
const program = fileURLToPath(new URL("cli.js", import.meta.resolve("intentlock")));
/** In a terminal: `npx intentlock …`. */
const intentlock = (...args: string[]): Record<string, string> =>
  JSON.parse(execFileSync(process.execPath, [program, ...args, "--json"], { cwd, encoding: "utf8" }));

intentlock("user", "add", "root@acme.dev", "--role", "admin");
intentlock("user", "add", "alice@acme.dev", "--role", "member");
intentlock("user", "add", "bob@acme.dev", "--role", "approver");
intentlock("agent", "create", "accounting");
intentlock("policy", "push", "--agent", "accounting", fileURLToPath(new URL("server.yaml", import.meta.url)));
const { key: apiKey = "" } = intentlock("key", "create", "--agent", "accounting", "--owner", "root@acme.dev");

const server = spawn(process.execPath, [program, "serve", "--port", "0", "--log-level", "warn"], {
  cwd,
  stdio: ["ignore", "pipe", "inherit"],
});
const baseUrl = await readUrl();
console.log("the server runs");

const paid: string[] = [];
const tools = {
  pay: tool({
    description: "Pays a supplier",
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: async ({ to, euros }) => {
      paid.push(`${to}: ${euros}`);
      return `paid ${euros} to ${to}`;
    },
  }),
};
const task = "Pay the invoices of the printer, 80 and 900 euros";
const script = [
  [call("pay", { to: "printer", euros: 80 }), call("pay", { to: "printer", euros: 900 })],
  [call("pay", { to: "eve", euros: 900 })],
  "The printer is paid.",
];
const model = scriptedModel(script); // For a real model, change this line: openai("gpt-5")

const gate = new HybridGate({ baseUrl, apiKey, outbox: join(cwd, "outbox.db") });
const locked = await withIntentlock(tools, {
  gate,
  user: "alice@acme.dev",
  task,
  model,
  plan: { goal: task, steps: [{ tool: "pay", args: { to: { eq: "printer" } }, maxCalls: 2 }] },
  onEvent: ({ type, tool: name, reason = "" }) => {
    if (name !== undefined) console.log(`${type} ${name} ${reason}`.trim());
    if (type === "hold") void approveAsBob();
  },
});
await generateText({ ...locked.settings, prompt: task, stopWhen: isStepCount(20) });
await locked.session.close();
await gate.close();
server.kill("SIGTERM");
await once(server, "exit");

const audits = execFileSync(process.execPath, [program, "audit", "verify"], { cwd, encoding: "utf8" });
console.log(audits.trim());
await rm(cwd, { recursive: true, force: true });
console.log(`paid: ${paid.join(", ")}`);
if (paid.join() !== "printer: 80,printer: 900") process.exitCode = 1;

/** What the inbox page does for Bob, who has opened his sign-in link. */
async function approveAsBob(): Promise<void> {
  const { link = "" } = intentlock("user", "link", "bob@acme.dev", "--public-url", baseUrl);
  const json = { "content-type": "application/json", origin: baseUrl };
  const body = JSON.stringify({ token: new URL(link).hash.slice(1) });
  const signedIn = await fetch(`${baseUrl}/v1/session`, { method: "POST", headers: json, body });
  const { csrf } = (await signedIn.json()) as { readonly csrf: string };
  const [cookie = ""] = signedIn.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  const headers = { ...json, cookie, "x-intentlock-csrf": csrf };
  for (;;) {
    const inbox = (await (await fetch(`${baseUrl}/v1/inbox`, { headers })).json()) as {
      readonly holds: readonly Held[];
    };
    const [hold] = inbox.holds;
    if (hold) {
      console.log(`Bob is asked by ${hold.agentName}: ${hold.tool} ${JSON.stringify(hold.args)} (${hold.ruleReason})`);
      const decision = JSON.stringify({ decision: "approve" });
      await fetch(`${baseUrl}/v1/holds/${hold.holdId}/decision`, { method: "POST", headers, body: decision });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** As much of a hold as is used here. */
interface Held {
  readonly holdId: string;
  readonly agentName: string;
  readonly tool?: string;
  readonly args?: unknown;
  readonly ruleReason?: string;
}

/** Where the server listens, from the first line that says so. */
async function readUrl(): Promise<string> {
  for await (const line of createInterface({ input: server.stdout })) {
    const [url] = /http:\/\/[\w.:]+/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error("The server did not start");
}
