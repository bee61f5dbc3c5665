import { APICallError } from "ai";
import { expect, test } from "vitest";
import { aToolCall, DONE, type Reply, scriptedModel } from "../../../test/ai-sdk.ts";
import { aTool } from "../../../test/sessions.ts";
import { makePlan } from "../../session/planner.ts";
import { planWithModel } from "./plan-with-model.ts";

const DECLARED = { goal: "Pay", steps: [{ tool: "send_money", maxCalls: 1 }] };

async function plan(...replies: readonly Reply[]) {
  const model = scriptedModel(...replies);
  const planning = makePlan(planWithModel(model as never), {
    task: { instruction: "Pay the rent" },
    tools: [aTool()],
    signal: undefined,
  });
  return { planning, calls: model.doGenerateCalls };
}

test("the model is asked for nothing but the plan, and has to declare it", async () => {
  const { planning, calls } = await plan([aToolCall("declare_plan", DECLARED)]);
  expect(await planning).toEqual(DECLARED);
  expect(calls).toHaveLength(1);
  const [{ prompt, tools, toolChoice }] = calls as [(typeof calls)[number]];
  expect(prompt.map(({ role }) => role)).toEqual(["system", "user"]);
  expect(tools?.map(({ name }) => name)).toEqual(["declare_plan"]);
  expect(JSON.stringify(tools)).toContain("maxCalls");
  expect(toolChoice).toEqual({ type: "tool", toolName: "declare_plan" });
});

test("a model that refuses to be forced is asked to choose", async () => {
  const refusal = new APICallError({
    message: "no forced tools",
    url: "",
    requestBodyValues: {},
    statusCode: 400,
    isRetryable: false,
  });
  const { planning, calls } = await plan(() => {
    throw refusal;
  }, [aToolCall("declare_plan", DECLARED)]);
  expect(await planning).toEqual(DECLARED);
  expect(calls.map(({ toolChoice }) => toolChoice?.type)).toEqual(["tool", "auto"]);
});

test("other trouble of the model is the planner's", async () => {
  const { planning } = await plan(() => {
    throw new Error("no credit");
  });
  await expect(planning).rejects.toThrow("no credit");
});

test.each<[string, Reply]>([
  ["says something else", DONE],
  ["declares what is no plan", [aToolCall("declare_plan", { steps: "all" })]],
  ["calls another tool", [aToolCall("send_money", {})]],
])("a model that %s is asked three times", async (_name, reply) => {
  const { planning, calls } = await plan(reply);
  await expect(planning).rejects.toMatchObject({ code: "ERR_INVALID_PLAN" });
  expect(calls).toHaveLength(3);
});
