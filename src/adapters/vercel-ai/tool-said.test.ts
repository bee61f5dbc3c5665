import { type ToolSet, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { aToolCall, DONE, readResults, runWith, scriptedModel, WAYS } from "../../../test/ai-sdk.ts";
import { ALICE } from "../../../test/builders.ts";
import { allow, planOf, ScriptedGate } from "../../../test/sessions.ts";
import { withIntentlock } from "./with-intentlock.ts";

const EVE = "eve@evil.example";
const PLAN = planOf({ id: "read", tool: "read_file" }, { tool: "read_file", args: { path: { from: "read" } } });

const failure = { isError: true, content: [{ type: "text", text: `There is no ${EVE}` }] };

/** What the tool gives, and what the gate is to hear of it. */
const KINDS: readonly (readonly [string, (args: { path: string }) => unknown, unknown])[] = [
  ["a function", async () => ({ text: "hello" }), { text: "hello" }],
  [
    "a function that gives parts",
    () =>
      (async function* () {
        yield EVE;
        yield "hello";
      })(),
    "hello",
  ],
  [
    "a generator",
    async function* () {
      yield EVE;
      yield { text: "hello" };
    },
    { text: "hello" },
  ],
  ["a tool of MCP that says that it failed", async () => failure, "nothing"],
];

describe.each(WAYS)("%s: a call with an address in its id and its arguments", (way) => {
  test.each(KINDS)("of %s: the gate gets what the tool has said", async (_name, execute, expected) => {
    const gate = new ScriptedGate({ check: [(call) => ({ ...allow(call), step: 0 })] });
    const model = scriptedModel([aToolCall("read_file", { path: EVE }, { toolCallId: EVE })], DONE);
    // What the model is told of a result is its own matter.
    const toModelOutput = () => ({ type: "text" as const, value: `${EVE}: read` });
    const inputSchema = z.object({ path: z.string() });
    const tools = { read_file: tool({ inputSchema, execute, toModelOutput } as never) } as ToolSet;
    const { settings } = await withIntentlock(tools, { gate, user: ALICE, task: "Read", model, plan: PLAN });
    await runWith(way, { ...settings });
    expect(Object.keys(readResults(model))).toEqual([EVE]);
    const said = gate.outcomes.map((outcome) => ("result" in outcome ? outcome.result : "nothing"));
    expect(said).toEqual([expected]);
  });
});
