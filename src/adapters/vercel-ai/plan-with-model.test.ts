import { APICallError, type LanguageModel } from "ai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { aToolCall, DONE, scriptedModel, stepsOf } from "../../../test/ai-sdk.ts";
import { aTool } from "../../../test/sessions.ts";
import { PlanError } from "../../core/index.ts";
import { makePlan, type PlanRequest } from "../../session/planner.ts";
import { planWithModel } from "./plan-with-model.ts";

const PLAN = stepsOf({ tool: "send_money", maxCalls: 1 });
const DECLARED = [aToolCall("declare_plan", PLAN)];
const REQUEST: PlanRequest = {
  system: "You plan",
  prompt: "Pay the rent",
  tool: { name: "declare_plan", description: "Declare", inputSchema: { type: "object", required: ["goal"] } },
};

/** A model's answer that is an error of its provider. */
function refuse(statusCode: number): () => never {
  const message = "tool_choice is not supported with extended thinking";
  return () => {
    throw new APICallError({ message, url: "https://model.example", requestBodyValues: {}, statusCode });
  };
}

async function plan(model: LanguageModel) {
  const task = { instruction: "Pay the rent" };
  return await makePlan(planWithModel(model), { task, tools: [aTool()], signal: undefined });
}

describe("what the model is asked", () => {
  test("is one call, with one tool, that it is forced to call", async () => {
    const model = scriptedModel(DECLARED);
    expect(await planWithModel(model)(REQUEST)).toEqual(PLAN);
    expect(model.doGenerateCalls).toHaveLength(1);
    expect(model.doGenerateCalls[0]).toMatchObject({
      toolChoice: { type: "tool", toolName: "declare_plan" },
      tools: [
        { type: "function", name: "declare_plan", description: "Declare", inputSchema: REQUEST.tool.inputSchema },
      ],
      prompt: [
        { role: "system", content: "You plan" },
        { role: "user", content: [{ type: "text", text: "Pay the rent" }] },
      ],
    });
  });

  test("can be aborted", async () => {
    const model = scriptedModel(DECLARED);
    await planWithModel(model)({ ...REQUEST, signal: AbortSignal.abort() });
    expect(model.doGenerateCalls[0]?.abortSignal?.aborted).toBe(true);
  });
});

describe("what the model answers", () => {
  test("its first plan counts, and its other calls do not run", async () => {
    const calls = [
      aToolCall("send_money"),
      ...DECLARED,
      aToolCall("declare_plan", stepsOf(), { toolCallId: "second" }),
    ];
    expect(await planWithModel(scriptedModel(calls))(REQUEST)).toEqual(PLAN);
  });

  test("what is no JSON is no plan, and the model is asked again", async () => {
    const broken = [aToolCall("declare_plan", undefined, { input: '{"goal":' })];
    const model = scriptedModel(broken, DECLARED);
    expect(await plan(model)).toEqual(PLAN);
    expect(model.doGenerateCalls).toHaveLength(2);
  });

  test("text in place of the forced call is asked about again, and is a PlanError in the end", async () => {
    const model = scriptedModel(DONE);
    await expect(plan(model)).rejects.toThrow(PlanError);
    expect(model.doGenerateCalls).toHaveLength(3);
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toMatch("the model did not call declare_plan");
  });

  test("text first and a plan then is a plan", async () => {
    expect(await plan(scriptedModel(DONE, DECLARED))).toEqual(PLAN);
  });
});

describe("a model that refuses to be forced", () => {
  test("is left to choose", async () => {
    const model = scriptedModel(refuse(400), DECLARED);
    expect(await planWithModel(model)(REQUEST)).toEqual(PLAN);
    expect(model.doGenerateCalls.map(({ toolChoice }) => toolChoice?.type)).toEqual(["tool", "auto"]);
    expect(model.doGenerateCalls[1]?.tools).toHaveLength(1);
  });

  test("and then says something else is asked again", async () => {
    const model = scriptedModel(refuse(400), DONE, DECLARED);
    expect(await plan(model)).toEqual(PLAN);
  });

  test("and then fails, fails", async () => {
    await expect(planWithModel(scriptedModel(refuse(400), refuse(400)))(REQUEST)).rejects.toThrow("tool_choice");
  });

  test.each([401, 403, 404, 422])("another error is thrown at once: status %i", async (status) => {
    const model = scriptedModel(refuse(status), DECLARED);
    await expect(planWithModel(model)(REQUEST)).rejects.toThrow("tool_choice");
    expect(model.doGenerateCalls).toHaveLength(1);
  });
});

test("an SDK from before ToolChoiceViolationError plans as well", async () => {
  vi.resetModules();
  vi.doMock("ai", async (original) => ({ ...(await original<object>()), ToolChoiceViolationError: undefined }));
  onTestFinished(() => {
    vi.doUnmock("ai");
    vi.resetModules();
  });
  const { planWithModel: planWithOldSdk } = await import("./plan-with-model.ts");
  const model = scriptedModel(refuse(400), DECLARED);
  expect(await planWithOldSdk(model)(REQUEST)).toEqual(PLAN);
});
