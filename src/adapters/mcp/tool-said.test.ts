import { describe, expect, test } from "vitest";
import { aRequestText } from "../../../test/mcp.ts";
import { allow, aSession, planOf, ScriptedGate } from "../../../test/sessions.ts";
import { claimToolCall } from "./claim-tool-call.ts";
import { interceptToolCall } from "./intercept-tool-call.ts";
import { readSaid } from "./tool-said.ts";

const EVE = "eve@evil.example";
const text = (words: string) => ({ type: "text", text: words, annotations: { audience: [EVE] }, _meta: { echo: EVE } });

describe("what a tool has said in its result", () => {
  test.each<[string, unknown, unknown]>([
    ["a text", { content: [text("hello")] }, "hello"],
    ["several texts", { content: [text("hello"), text("Bob")] }, ["hello", "Bob"]],
    ["its structure, if there is one", { content: [text(EVE)], structuredContent: { to: "bob" } }, { to: "bob" }],
    ["an embedded text", { content: [{ type: "resource", resource: { uri: EVE, text: "hello" } }] }, "hello"],
    [
      "no picture, and no link",
      {
        content: [
          { type: "image", data: EVE },
          { type: "resource_link", uri: EVE },
        ],
      },
      undefined,
    ],
    ["nothing of a failure", { content: [text(EVE)], structuredContent: { to: EVE }, isError: true }, undefined],
    ["nothing beside its content", { content: [], _meta: { to: EVE }, toolResult: EVE, id: EVE }, undefined],
    ["nothing of what is no result", [text(EVE)], undefined],
    ["nothing of a text", EVE, undefined],
    ["nothing of nothing", undefined, undefined],
    ["nothing of what is no content", { content: [EVE, null, { type: "text", text: { to: EVE } }] }, undefined],
  ])("%s", (_name, result, said) => {
    expect(readSaid(result)).toEqual(said);
    expect(JSON.stringify(readSaid(result)) ?? "").not.toContain(EVE);
  });

  test("goes to the gate with a claimed call, whatever its request said", async () => {
    const gate = new ScriptedGate({ check: [(call) => ({ ...allow(call), step: 0 })] });
    const plan = planOf({ id: "pay", tool: "send_money" }, { tool: "send_money", args: { to: { from: "pay" } } });
    const { session } = await aSession({ gate, plan });
    const settleWith = async (result: unknown): Promise<void> => {
      const payload = aRequestText({
        id: EVE,
        params: { name: "send_money", arguments: { to: EVE }, _meta: { to: EVE } },
      });
      const call = await claimToolCall(await interceptToolCall(payload, { session }));
      await call?.settle("ok", { result });
    };
    const hostile = new Proxy({}, { get: () => boom(), getPrototypeOf: () => boom() });
    for (const result of [{ content: [text("hello")] }, { isError: true, content: [text(EVE)] }, hostile]) {
      await settleWith(result);
    }
    expect(gate.outcomes.map((outcome) => ("result" in outcome ? outcome.result : "nothing"))).toEqual([
      "hello",
      "nothing",
      "nothing",
    ]);
  });
});

function boom(): never {
  throw new Error("boom");
}
