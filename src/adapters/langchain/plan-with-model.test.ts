import { AIMessage } from "@langchain/core/messages";
import { describe, expect, test, vi } from "vitest";
import { ALICE, aPolicy } from "../../../test/builders.ts";
import { type Reply, ScriptedChatModel } from "../../../test/langchain.ts";
import { aTool } from "../../../test/sessions.ts";
import { LocalGate } from "../../gates/index.ts";
import { startSession } from "../../session/index.ts";
import { planWithModel } from "./plan-with-model.ts";

const PLAN = { goal: "Pay", steps: [{ tool: "send_money", maxCalls: 1 }] };
const DECLARED: Reply = [{ name: "declare_plan", args: PLAN }];

async function plan(model: unknown, signal?: AbortSignal) {
  const session = await startSession({
    gate: new LocalGate({ policy: aPolicy() }),
    user: ALICE,
    task: "Pay the rent",
    tools: [aTool()],
    planner: planWithModel(model as ScriptedChatModel),
    signal,
  });
  return session.plan;
}

function failing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

test("asks the model, which has to call declare_plan", async () => {
  const model = new ScriptedChatModel([DECLARED]);
  expect(await plan(model)).toEqual(PLAN);
  expect(model.requests).toMatchObject([{ tools: ["declare_plan"], toolChoice: "declare_plan" }]);
  expect(model.requests[0]?.messages.map((message) => message.getType())).toEqual(["system", "human"]);
});

test.each([
  ["OpenAI's and Anthropic's", Object.assign(new Error("no"), { status: 400 })],
  ["others'", Object.assign(new Error("no"), { statusCode: 400 })],
  ["Bedrock's", Object.assign(new Error("no"), { $metadata: { httpStatusCode: 400 } })],
])("asks without force where that is refused, in %s words", async (_name, error) => {
  const model = new ScriptedChatModel([failing(error), DECLARED]);
  expect(await plan(model)).toEqual(PLAN);
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["declare_plan", undefined]);
});

test.each([new Error("overloaded"), Object.assign(new Error("who are you"), { status: 401 }), "down", null])(
  "does not ask again for other failures (%s)",
  async (error) => {
    const model = new ScriptedChatModel([failing(error), DECLARED]);
    await expect(plan(model)).rejects.toBe(error);
    expect(model.requests).toHaveLength(1);
  },
);

test.each<[string, Reply]>([
  ["says something", "I would rather not"],
  ["calls something else", [{ name: "send_money", args: {} }]],
  ["writes no JSON", new AIMessage({ content: "", invalid_tool_calls: [{ name: "declare_plan", args: "{" }] })],
])("asks again a model that %s, and takes no plan of it", async (_name, reply) => {
  const model = new ScriptedChatModel([reply, DECLARED]);
  expect(await plan(model)).toEqual(PLAN);
  expect(model.requests[1]?.messages[1]?.text).toContain("the model did not call declare_plan");
  await expect(plan(new ScriptedChatModel([reply]))).rejects.toMatchObject({ code: "ERR_INVALID_PLAN" });
});

test("takes the first of several declarations", async () => {
  const second = { name: "declare_plan", args: { goal: "Steal", steps: [] } };
  expect(await plan(new ScriptedChatModel([[{ name: "declare_plan", args: PLAN }, second]]))).toEqual(PLAN);
});

test("hands the signal on", async () => {
  const model = new ScriptedChatModel([DECLARED]);
  const generate = vi.spyOn(ScriptedChatModel.prototype, "_generate");
  const { signal } = new AbortController();
  await plan(model, signal);
  expect(generate.mock.calls[0]?.[1]).toMatchObject({ signal });
  generate.mockRestore();
});

test("asks the model that settings were bound to", async () => {
  const model = new ScriptedChatModel([DECLARED]);
  expect(await plan(model.withConfig({ tags: ["mine"] }))).toEqual(PLAN);
});

describe("a model that cannot call tools", () => {
  test.each([undefined, null, "openai:gpt-5", {}, { bound: {} }])("is refused: %j", (model) => {
    expect(() => planWithModel(model as never)).toThrow(expect.objectContaining({ code: "ERR_INVALID_OPTIONS" }));
  });
});
