/**
 * npm run demo:inbox [-- --auto]
 *
 * An agent wants to refund more than it may by itself. The server asks Bob, in the inbox: open the link that is printed and
 * decide. With --auto a browser without a window opens it and approves. No key, no network.
 */
import { generateText, isStepCount, tool } from "ai";
import { HybridGate } from "intentlock/gates";
import { withIntentlock } from "intentlock/vercel-ai";
import { z } from "zod";
import { call, scriptedModel } from "../scripted-model.ts";
import { approveInBrowser, findChromium } from "./click.ts";
import { APPROVER, setUp, USER } from "./set-up.ts";

const isAuto = process.argv.includes("--auto");
const chromium = findChromium();
if (isAuto && chromium === undefined) {
  console.error(
    "--auto needs Chromium: install it (Debian: apt install chromium), or say where it is in CHROMIUM_PATH.",
  );
  process.exit(1);
}

console.log("A server with a database of its own is set up …");
const server = await setUp();
process.once("SIGINT", async () => {
  await server.remove();
  process.exit(130);
});
console.log(`The inbox is at ${server.url}/\n`);

const refunded: string[] = [];
let asking: Promise<void> | undefined;
const tools = {
  refund: tool({
    description: "Pays a customer back",
    inputSchema: z.object({ order: z.string(), euros: z.number(), note: z.string() }),
    execute: async ({ order, euros, note }) => {
      refunded.push(`${euros} euros for order ${order}`);
      console.log(`agent: refunded ${euros} euros for order ${order}: ${note}`);
      return `refunded ${euros} euros for order ${order}`;
    },
  }),
};
const task = "Refund order 1016, which came late, with 40 euros, and order 1017, which came broken, with 240 euros";
// For a real model, change this: openai("gpt-5")
const model = scriptedModel(({ results }) => {
  if (results.length === 0) return [call("refund", { order: "1016", euros: 40, note: "Came late" })];
  if (results.length === 1) return [call("refund", { order: "1017", euros: 240, note: "Came broken" })];
  return results.some(({ isError }) => isError) ? "Order 1017 is not refunded." : "Both orders are refunded.";
});

const gate = new HybridGate({ baseUrl: server.url, apiKey: server.apiKey, outbox: server.outbox });
const locked = await withIntentlock(tools, {
  gate,
  user: USER,
  task,
  model,
  // As long as the rule lets it wait.
  holdTimeoutMs: 900_000,
  plan: { goal: task, steps: [{ tool: "refund", args: { order: { in: ["1016", "1017"] } }, maxCalls: 2 }] },
  onEvent: ({ type, reason, decision }) => {
    if (type === "hold") asking = ask(decision.ruleReason);
    else if (type === "approved" || type === "rejected" || type === "block")
      console.log(`agent: ${type} ${reason ?? ""}`);
  },
});
console.log(`${USER} asks: ${task}.`);
const { text } = await generateText({ ...locked.settings, prompt: task, stopWhen: isStepCount(10) });
await asking;
await locked.session.close();
await gate.close();

console.log(`agent: ${text}`);
console.log(`\nRefunded: ${refunded.join(", ")}`);
console.log(server.verify());
await server.remove();
if (isAuto && refunded.length !== 2) process.exitCode = 1;

/** Tells who decides where to do it. */
async function ask(reason = ""): Promise<void> {
  const link = server.link();
  console.log(`agent: held: ${reason}`);
  console.log(`\nThe agent waits. Sign in as ${APPROVER} and decide, within 15 minutes:\n\n  ${link}\n`);
  if (!isAuto || chromium === undefined) return;
  try {
    await approveInBrowser(chromium, link);
  } catch (error) {
    console.error(error);
    await server.remove();
    process.exit(1);
  }
}
