import type { LanguageModelV4Content } from "@ai-sdk/provider";
import { generateText, type LanguageModel, type ToolSet, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { aPayTool, aToolCall, DONE, readOffered, readResults, runWith, scriptedModel } from "../../../test/ai-sdk.ts";
import type { AnyTool } from "./coverage.ts";
import { lockModel } from "./lock-model.ts";

const WAYS = ["generateText", "streamText"] as const;

const { pay } = aPayTool();

function aProviderTool(id: `${string}.${string}`, over = {}): AnyTool {
  const inputSchema = z.object({ q: z.string() });
  return { type: "provider", isProviderExecuted: true, id, args: {}, inputSchema, ...over } as AnyTool;
}

const shell = aProviderTool("mock.shell", { isProviderExecuted: false, execute: () => "ran here" });
const search = aProviderTool("mock.search");

/** A call that the provider ran, as a model says it. */
function executed(toolName: string, over = {}): LanguageModelV4Content[] {
  return [
    aToolCall(toolName, { q: "secret" }, { providerExecuted: true, ...over }),
    { type: "tool-result", toolCallId: `${toolName}-1`, toolName, result: { hits: 1 } },
    ...DONE,
  ];
}

describe.each(WAYS)("%s with a locked model", (way) => {
  test("offers what is known and nothing else", async () => {
    const model = scriptedModel(DONE);
    const locked = await lockModel(model, { pay, shell }, []);
    await runWith(way, { model: locked, tools: { pay, shell, late: pay, search } });
    expect(readOffered(model)).toEqual(["pay", "shell"]);
  });

  test("offers a tool that the provider runs only if it is the one that was allowed", async () => {
    const model = scriptedModel(DONE);
    const locked = await lockModel(model, { pay, search }, ["search"]);
    await runWith(way, { model: locked, tools: { pay, search } });
    expect(readOffered(model)).toEqual(["pay", "search"]);
    await runWith(way, { model: locked, tools: { pay, search: aProviderTool("mock.code_execution") } });
    expect(readOffered(model)).toEqual(["pay"]);
  });

  // Under a name that is known as one of ours, the provider would run it before anybody is asked.
  test("does not offer a tool of the provider under the name of a locked one", async () => {
    const model = scriptedModel(DONE);
    const locked = await lockModel(model, { pay }, []);
    await runWith(way, { model: locked, tools: { pay: search } });
    expect(readOffered(model)).toEqual([]);
  });

  test.each<[string, LanguageModelV4Content[]]>([
    ["that is in the set", executed("search")],
    ["that is in no set", executed("mcp.delete_repo", { dynamic: true })],
    ["called like a locked one", executed("pay")],
    ["that says so by its result alone", executed("search").slice(1)],
  ])("ends with an error when the provider ran a tool %s", async (_name, content) => {
    const locked = await lockModel(scriptedModel(content), { pay }, []);
    await expect(runWith(way, { model: locked, tools: { pay, search } })).rejects.toMatchObject({
      code: "ERR_UNGATED_TOOLS",
      message: expect.stringMatching(/^The model's provider ran "[a-z_.]+", which the gate cannot see\./),
    });
  });

  test("lets the provider run what is allowed by name", async () => {
    const locked = await lockModel(scriptedModel(executed("search")), { pay, search }, ["search"]);
    const { text, content } = await runWith(way, { model: locked, tools: { pay, search } });
    expect(text).toBe("done");
    expect(content.map(({ type }) => type)).toEqual(["tool-call", "tool-result", "text"]);
  });

  test("runs tools as without", async () => {
    const { pay: paying, runs } = aPayTool();
    const model = scriptedModel([aToolCall("pay", { amount: 1 })], DONE);
    const locked = await lockModel(model, { pay: paying }, []);
    expect((await runWith(way, { model: locked, tools: { pay: paying } })).text).toBe("done");
    expect(runs).toEqual([{ amount: 1 }]);
    expect(readResults(model)["pay-1"]).toEqual({ type: "json", value: { paid: 1 } });
  });

  test.each<[string, Record<string, object>, readonly string[], Record<string, object>]>([
    [
      "remote MCP servers are taken out",
      { anthropic: { mcpServers: [{ url: "https://mcp.example" }], thinking: { type: "enabled" } } },
      [],
      { anthropic: { thinking: { type: "enabled" } } },
    ],
    [
      "under whatever name the provider has",
      { "my-anthropic": { mcpServers: [] }, openai: { user: "a" } },
      [],
      { "my-anthropic": {}, openai: { user: "a" } },
    ],
    ["unless they are allowed", { anthropic: { mcpServers: [] } }, ["mcpServers"], { anthropic: { mcpServers: [] } }],
    ["other options stay", { openai: { user: "a" } }, [], { openai: { user: "a" } }],
  ])("provider options: %s", async (_name, providerOptions, allowed, passed) => {
    const model = scriptedModel(DONE);
    const locked = await lockModel(model, { pay }, allowed);
    await runWith(way, { model: locked, providerOptions });
    const [call] = [...model.doGenerateCalls, ...model.doStreamCalls];
    expect(call?.providerOptions).toEqual(passed);
  });
});

test("the options that the application gave are not changed", async () => {
  const providerOptions = Object.freeze({ anthropic: Object.freeze({ mcpServers: Object.freeze([]) }) });
  const locked = await lockModel(scriptedModel(DONE), {}, []);
  await runWith("generateText", { model: locked, providerOptions });
  expect(providerOptions).toEqual({ anthropic: { mcpServers: [] } });
});

test("a model given as an id stays as it is", async () => {
  expect(await lockModel("openai/gpt-5", { pay }, [])).toBe("openai/gpt-5");
});

test("a model of the AI SDK 6 can be locked too", async () => {
  const model = new MockLanguageModelV3({
    doGenerate: async () => ({
      content: [{ type: "text", text: "done" }],
      finishReason: { unified: "stop", raw: undefined },
      usage: {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
      warnings: [],
    }),
  });
  const tools: ToolSet = { pay, late: tool({ inputSchema: z.object({}), execute: () => 1 }) };
  const locked: LanguageModel = await lockModel(model, { pay }, []);
  expect((await generateText({ model: locked, prompt: "go", tools })).text).toBe("done");
  expect(model.doGenerateCalls[0]?.tools?.map(({ name }) => name)).toEqual(["pay"]);
});
