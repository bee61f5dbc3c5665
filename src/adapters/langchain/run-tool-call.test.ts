import { tool } from "@langchain/core/tools";
import { GraphInterrupt } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { z } from "zod";
import { aSession, planOf } from "../../../test/sessions.ts";
import { describeTools } from "./describe-tool.ts";
import { runToolCall } from "./run-tool-call.ts";

const pay = tool(async () => "paid", { name: "pay", description: "Pays somebody", schema: z.object({}) });
const toolCall = { type: "tool_call" as const, id: "call-1", name: "pay", args: {} };
const failure = new Error("no money");

async function runFailing(thrown: unknown, signal = new AbortController().signal) {
  const { session } = await aSession({ tools: describeTools([pay]), plan: planOf({ tool: "pay" }) });
  return await runToolCall(session, { toolCall, tool: pay, runtime: { signal } }, () => Promise.reject(thrown));
}

test.each([
  ["an error", failure, "Error: no money\n Please fix your mistakes."],
  ["a text", "no money", "no money\n Please fix your mistakes."],
  ["nothing", undefined, "undefined\n Please fix your mistakes."],
])("what goes wrong is an answer for the model: %s", async (_name, thrown, content) => {
  expect(await runFailing(thrown)).toMatchObject({ content, status: "error", name: "pay", tool_call_id: "call-1" });
});

test("what steers a graph is none", async () => {
  const interrupt = new GraphInterrupt([]);
  await expect(runFailing(interrupt)).rejects.toBe(interrupt);
});

test("nor is the end of an aborted run", async () => {
  await expect(runFailing(failure, AbortSignal.abort())).rejects.toBe(failure);
});

class Wrapped extends Error {
  static "~brand" = "MiddlewareError";
}

test("LangChain's wrapping is taken off, as older versions do it too", async () => {
  const thrown = new Wrapped("no", { cause: new Wrapped("no", { cause: failure }) });
  expect(await runFailing(thrown)).toMatchObject({ content: "Error: no money\n Please fix your mistakes." });
  expect(await runFailing(new Error("mine", { cause: failure }))).toMatchObject({
    content: "Error: mine\n Please fix your mistakes.",
  });
});
