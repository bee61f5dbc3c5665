import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { aToolCall, DONE, scriptedModel } from "../../../test/ai-sdk.ts";
import { anAgent, aRequest, runWith, SILENT, WAYS } from "../../../test/mastra.ts";
import type { PlanStep } from "../../core/index.ts";
import type { LocalGate, Outcome } from "../../gates/index.ts";
import { lockTools } from "./lock-tools.ts";
import { readSaid } from "./tool-said.ts";

const EVE = "eve@evil.example";

describe("what a tool has said", () => {
  const refused = { error: true, message: `Provided arguments: ${EVE}`, validationErrors: { errors: [EVE] } };

  test.each<[string, string, unknown, unknown]>([
    ["a text", "read", "hello", "hello"],
    ["an object", "read", { text: "hello", to: "bob" }, { text: "hello", to: "bob" }],
    ["nothing", "read", undefined, undefined],
    ["nothing where Mastra refuses something", "read", refused, undefined],
    ["nothing of a failure of MCP's", "read", { isError: true, content: [{ type: "text", text: EVE }] }, undefined],
    ["what only looks like one", "read", { error: true, isError: true }, { error: true, isError: true }],
    [
      "the text of an agent",
      "agent-inner",
      { text: "hello", object: { a: 1 }, subAgentThreadId: EVE, subAgentToolResults: [{ args: { to: EVE } }] },
      { text: "hello", object: { a: 1 } },
    ],
    ["the result of a workflow", "workflow-flow", { result: { a: 1 }, runId: EVE }, { result: { a: 1 } }],
    ["nothing of a workflow that failed", "workflow-flow", { error: EVE, runId: EVE }, {}],
  ])("%s", (_name, tool, given, said) => {
    expect(readSaid(tool, given)).toEqual(said);
    expect(JSON.stringify(readSaid(tool, given)) ?? "").not.toContain(EVE);
  });
});

/** The results that a gate was given, through a real run whose model makes this call. */
async function saidIn(way: (typeof WAYS)[number], tool: string, args: object, config: (gate: LocalGate) => object) {
  const outcomes: Outcome[] = [];
  const made = anAgent([[aToolCall(tool, args, { toolCallId: EVE })]], (gate) => {
    const { record } = gate;
    gate.record = async (outcome) => {
      outcomes.push(outcome);
      await record.call(gate, outcome);
    };
    return config(gate);
  });
  const [arg = ""] = Object.keys(args);
  const steps: PlanStep[] = [
    { id: "first", tool },
    { tool, args: { [arg]: { from: "first" } } },
  ];
  const { error } = await runWith(way, made.agent, { requestContext: aRequest(steps) });
  expect(error).toBeUndefined();
  return outcomes.flatMap((outcome) => (outcome.type === "outcome" ? [outcome.result ?? "nothing"] : []));
}

describe.each(WAYS)("%s: a call with an address in its id and its arguments", (way) => {
  const inputSchema = z.object({ path: z.string() });
  const fields = { id: "read", description: "Reads", inputSchema };

  test("of a tool", async () => {
    const read = createTool({ ...fields, execute: async () => ({ text: "hello" }) });
    const said = await saidIn(way, "read", { path: EVE }, (gate) => ({ tools: lockTools({ read }, { gate }) }));
    expect(said).toEqual([{ text: "hello" }]);
  });

  test("of a tool whose result its schema refuses", async () => {
    const outputSchema = z.object({ text: z.string() });
    const read = createTool({ ...fields, outputSchema, execute: async ({ path }) => ({ text: [path] }) as never });
    const said = await saidIn(way, "read", { path: EVE }, (gate) => ({ tools: lockTools({ read }, { gate }) }));
    expect(said).toEqual(["nothing"]);
  });

  test("of an agent that calls tools itself", async () => {
    const inner = new Agent({
      id: "inner",
      name: "inner",
      description: "Helps",
      instructions: "You help.",
      model: scriptedModel([aToolCall("look", { path: EVE })], DONE) as never,
      tools: { look: createTool({ ...fields, id: "look", execute: async () => "found" }) },
    });
    inner.__setLogger(SILENT);
    const said = await saidIn(way, "agent-inner", { prompt: EVE }, () => ({ agents: { inner } }));
    expect(said).toEqual([{ text: "done" }]);
  });

  test("of a workflow", async () => {
    const step = createStep({
      id: "step",
      inputSchema,
      outputSchema: z.any(),
      execute: async () => ({ text: "hello" }),
    });
    const flow = createWorkflow({ id: "flow", inputSchema, outputSchema: z.any() }).then(step).commit();
    const said = await saidIn(way, "workflow-flow", { inputData: { path: EVE } }, () => ({ workflows: { flow } }));
    expect(said).toEqual([{ result: { text: "hello" } }]);
  });
});
