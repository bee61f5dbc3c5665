import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { isKnownServerTool, refuseExecuted } from "./server-tools.ts";

const RAN = { code: "ERR_UNGATED_TOOLS" };

/** Parts of messages that say that a tool ran at the provider, and a name for it. */
const EXECUTED: readonly (readonly [provider: string, name: string, message: AIMessage])[] = [
  ["Anthropic", "web_search", content({ type: "server_tool_use", id: "s", name: "web_search", input: {} })],
  ["Anthropic, its result alone", "web_search", content({ type: "web_search_tool_result", tool_use_id: "s" })],
  ["Anthropic's MCP", "remove", content({ type: "mcp_tool_use", id: "m", name: "remove", server_name: "files" })],
  ["Anthropic's MCP, by its server", "files", content({ type: "mcp_tool_use", name: "remove", server_name: "files" })],
  ["LangChain's own words", "web_search", content({ type: "server_tool_call", name: "web_search", args: {} })],
  ["Gemini", "codeExecution", content({ type: "executableCode", executableCode: {} })],
  ["OpenAI", "web_search", more({ tool_outputs: [{ type: "web_search_call", id: "s" }] })],
  ["OpenAI's MCP", "remove", more({ tool_outputs: [{ type: "mcp_call", name: "remove", server_label: "files" }] })],
  ["OpenAI's MCP, by its server", "files", more({ tool_outputs: [{ type: "mcp_call", server_label: "files" }] })],
  ["OpenAI's MCP, by its type", "mcp", more({ tool_outputs: [{ type: "mcp_call", server_label: "files" }] })],
  ["OpenAI, as it came", "code_interpreter", output({ type: "code_interpreter_call", id: "c" })],
];

function content(...blocks: readonly object[]): AIMessage {
  return new AIMessage({ content: [{ type: "text", text: "so" }, ...blocks] as never });
}

function more(additional_kwargs: Record<string, unknown>): AIMessage {
  return new AIMessage({ content: "", additional_kwargs });
}

function output(...items: readonly object[]): AIMessage {
  return new AIMessage({ content: "", response_metadata: { output: [{ type: "message" }, ...items] } });
}

describe.each(EXECUTED)("a tool that ran at %s", (_provider, name, message) => {
  test("ends the run, unless it is named", () => {
    expect(() => refuseExecuted(message, [])).toThrow(expect.objectContaining(RAN));
    expect(() => refuseExecuted(message, ["other"])).toThrow(expect.objectContaining(RAN));
    expect(() => refuseExecuted(message, [name])).not.toThrow();
  });

  test("is seen in a message that was streamed", () => {
    const { content, additional_kwargs, response_metadata } = message;
    const streamed = new AIMessageChunk({ content, additional_kwargs, response_metadata });
    expect(() => refuseExecuted(streamed, [])).toThrow(expect.objectContaining(RAN));
  });
});

test.each([
  ["a text", new AIMessage("done")],
  ["calls that are for us", new AIMessage({ content: "", tool_calls: [{ name: "pay", args: {}, id: "a" }] })],
  ["Anthropic's calls that are for us", content({ type: "tool_use", id: "a", name: "pay", input: {} })],
  ["OpenAI's calls that are for us", output({ type: "function_call", name: "pay" }, { type: "custom_tool_call" })],
  ["a screen that is ours", more({ tool_outputs: [{ type: "computer_call" }, { type: "local_shell_call" }] })],
  ["a command", { update: {} }],
])("%s is no tool that ran there", (_name, message) => {
  expect(() => refuseExecuted(message, [])).not.toThrow();
});

test.each<[object | undefined, string[], boolean]>([
  [{ type: "web_search_20250305", name: "web_search" }, ["web_search"], true],
  [{ type: "web_search" }, ["web_search"], true],
  [{ type: "mcp", server_label: "files" }, ["files"], true],
  [{ type: "mcp", server_label: "files" }, [], false],
  [{ googleSearch: {} }, ["googleSearch"], true],
  [{ googleSearch: {} }, ["web_search"], false],
  [undefined, ["undefined"], false],
])("%j is known by %j: %j", (tool, allowed, isKnown) => {
  expect(isKnownServerTool(tool, allowed)).toBe(isKnown);
});
