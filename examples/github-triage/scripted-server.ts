/**
 * A server on this machine that speaks OpenAI's API, as Ollama and vLLM do, and says what a script says. It stands in for a
 * real model. Nothing here is part of Intentlock.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Reply, ToolResult, Turn } from "../scripted-model.ts";

export interface ScriptedServer {
  /** For `INTENTLOCK_BASE_URL`. */
  readonly url: string;
  readonly close: () => void;
}

export async function startScriptedServer(reply: (turn: Turn) => Reply): Promise<ScriptedServer> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = writeReply(reply(readTurn(JSON.parse(body))), () => `call-${++calls}`);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "chat.completion", model: "scripted", choices: [{ index: 0, ...message }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

/** What is read of a request to `/chat/completions`. */
interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly { readonly text: string }[] }
  | { readonly role: "assistant"; readonly tool_calls?: readonly ChatCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

function readTurn({ messages, tools = [] }: ChatRequest): Turn {
  const calls = new Map<string, ChatCall["function"]>();
  const results: ToolResult[] = [];
  let task = "";
  for (const message of messages) {
    if (message.role === "user") task = textOf(message.content);
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) calls.set(call.id, call.function);
    if (message.role !== "tool") continue;
    const call = calls.get(message.tool_call_id);
    if (call) results.push({ tool: call.name, input: JSON.parse(call.arguments), ...readOutput(message.content) });
  }
  return { task, tools: tools.map((tool) => tool.function.name), results };
}

function textOf(content: string | readonly { readonly text: string }[]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("\n");
}

/** This API does not say which results are errors. */
function readOutput(content: string): Pick<ToolResult, "isError" | "output"> {
  const isError = /^(Blocked by Intentlock|Tool failed:|Error)/.test(content);
  try {
    return { isError, output: JSON.parse(content) };
  } catch {
    return { isError, output: content };
  }
}

function writeReply(reply: Reply, nextId: () => string): object {
  if (typeof reply === "string") return { message: { role: "assistant", content: reply }, finish_reason: "stop" };
  const tool_calls = reply.map(({ tool, input }) => ({
    id: nextId(),
    type: "function",
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
  return { message: { role: "assistant", content: null, tool_calls }, finish_reason: "tool_calls" };
}
