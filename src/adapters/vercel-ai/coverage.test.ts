import { experimental_toolCaller, type ToolSet, tool, toolSearch } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AnyTool, assertCovered, findGaps, modelIdGap } from "./coverage.ts";

const inputSchema = z.object({});
const pay = tool({ inputSchema, execute: () => 1 });
const client = tool({ inputSchema, outputSchema: z.string() });
const search = { type: "provider", isProviderExecuted: true, id: "mock.search", args: {}, inputSchema } as AnyTool;
const providerTool = { ...search, isProviderExecuted: false } as AnyTool;
const localShell = { ...providerTool, execute: () => 1 } as AnyTool;

function callerOf(type: "local" | "provider"): AnyTool {
  return experimental_toolCaller(pay as never, { type, bind: () => pay } as never) as AnyTool;
}

test.each<[string, AnyTool, string | undefined]>([
  ["a tool with execute", pay, undefined],
  ["a tool without", client, "client-side"],
  ["a tool that the provider runs", search, "provider-executed"],
  ["one with an execute, which nobody would call", { ...search, execute: () => 1 } as AnyTool, "provider-executed"],
  ["a tool of the provider without execute", providerTool, "provider-executed"],
  ["a tool of the provider that runs here", localShell, undefined],
  ["the SDK's tool search", toolSearch() as AnyTool, "tool-search"],
  ["a copy of it", { ...toolSearch() } as AnyTool, "tool-search"],
  ["a caller of tools that runs here", callerOf("local"), undefined],
  ["a caller of tools at the provider", callerOf("provider"), "provider-tool-caller"],
])("%s", (_name, given, kind) => {
  expect(findGaps({ given }).map((gap) => gap.kind)).toEqual(kind ? [kind] : []);
});

test("a gap says which tool and why, whatever the tool is called", () => {
  const tools = JSON.parse('{"__proto__":{},"constructor":{}}') as ToolSet;
  expect(findGaps(tools)).toEqual(
    ["__proto__", "constructor"].map((name) => ({
      kind: "client-side",
      name,
      detail: "it has no execute: the client runs it, and gets the call before any check",
    })),
  );
});

describe("tools that cannot be locked", () => {
  const gaps = findGaps({ pay, client, search });

  test("are refused, all of them, with what to do", () => {
    expect(() => assertCovered(gaps, [])).toThrow(
      expect.objectContaining({
        code: "ERR_UNGATED_TOOLS",
        message: [
          "These tools cannot be locked:",
          "  client (client-side): it has no execute: the client runs it, and gets the call before any check",
          "  search (provider-executed): it runs at the model's provider, before anything here is asked",
          "Leave them out, or name them in allowUngated and do without a check of their calls.",
        ].join("\n"),
      }),
    );
  });

  test.each([
    ["one of them is named", ["client"], true],
    ["they are named by a pattern", ["*"], true],
    ["all of them are named", ["search", "client"], false],
  ])("%s", (_name, allowed, isRefused) => {
    const assertion = expect(() => assertCovered(gaps, allowed));
    if (isRefused) assertion.toThrow("search (provider-executed)");
    else assertion.not.toThrow();
  });

  test("a model's id is no tool", () => {
    expect(() => assertCovered([modelIdGap("openai/gpt-5")], [])).not.toThrow();
  });
});
