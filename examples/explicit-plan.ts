/**
 * npx node examples/explicit-plan.ts
 *
 * The app knows what the task needs and gives the plan itself, so no model is asked for one. Each step says which calls it
 * allows: which values, and how often.
 */
import { generateText, isStepCount, tool } from "ai";
import { LocalGate, type Plan } from "intentlock";
import { withIntentlock } from "intentlock/vercel-ai";
import { z } from "zod";
import { call, scriptedModel } from "./scripted-model.ts";

const deleted: string[] = [];
const tools = {
  delete_file: tool({
    description: "Deletes a file",
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => {
      deleted.push(path);
      return `deleted ${path}`;
    },
  }),
};

const plan: Plan = {
  goal: "Clear the build folder",
  steps: [{ tool: "delete_file", args: { path: { glob: "build/*" } }, maxCalls: 2 }],
};

const script = [
  [call("delete_file", { path: "build/app.js" }), call("delete_file", { path: "src/app.ts" })],
  [call("delete_file", { path: "build/../src/app.ts" })],
  [call("delete_file", { path: "build/app.css" })],
  [call("delete_file", { path: "build/app.map" })],
  "I deleted what I could.",
];
const model = scriptedModel(script); // For a real model, change this line: openai("gpt-5")

const policy = `
version: 1
default: block
rules:
  - { id: planned, match: { inPlan: true }, decision: allow }
`;
const task = "Clear the build folder";
const locked = await withIntentlock(tools, {
  gate: new LocalGate({ policy }),
  user: "alice@acme.dev",
  task,
  plan,
  model,
  onEvent: ({ type, decision }) => {
    if (decision?.verdict === "block") console.log(decision.message);
    else console.log(type);
  },
});
const { text } = await generateText({ ...locked.settings, prompt: task, stopWhen: isStepCount(20) });
await locked.session.close();

console.log(`${text}\nDeleted: ${deleted.join(", ")}`);
if (deleted.length > 2 || deleted.some((path) => !path.startsWith("build/app."))) process.exitCode = 1;
