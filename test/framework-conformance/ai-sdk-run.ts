import type { LanguageModelV4CallOptions, LanguageModelV4Content } from "@ai-sdk/provider";
import type { ModelMessage } from "ai";
import type { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { aToolCall } from "../ai-sdk.ts";
import type { AgentResult, Asked, HistoryMessage, LockOptions, Turn } from "./framework.ts";

/** A tool that the model's provider runs, by the name under which it is given. */
export function toProviderTools(name: string | undefined): object {
  if (name === undefined) return {};
  return {
    [name]: { type: "provider", isProviderExecuted: true, id: "mock.web", args: {}, inputSchema: z.object({}) },
  };
}

/** What a planner says, in the words of the AI SDK's models. */
export function toDeclarations(declared: LockOptions["declared"] = []): (readonly LanguageModelV4Content[])[] {
  return declared.map((args) => [aToolCall("declare_plan", args)]);
}

export function toReply(turn: Turn): readonly LanguageModelV4Content[] {
  if ("text" in turn) {
    const text = { type: "text", text: turn.text } as const;
    return turn.executed ? [aToolCall(turn.executed, {}, { providerExecuted: true, dynamic: true }), text] : [text];
  }
  return turn.calls.map(({ id, tool, args }) => aToolCall(tool, args, { toolCallId: id }));
}

/** How often the model has had its say since the user's last message. */
export function countSteps(prompt: LanguageModelV4CallOptions["prompt"]): number {
  const last = prompt.findLastIndex(({ role }) => role === "user");
  return prompt.slice(last + 1).filter(({ role }) => role === "assistant").length;
}

export function toMessages(history: readonly HistoryMessage[]): ModelMessage[] {
  return history.flatMap((message): ModelMessage[] => {
    if (message.role !== "call") return [{ role: message.role, content: message.text }];
    const { id: toolCallId, tool: toolName, args: input } = message.call;
    const output = { type: "text", value: message.result } as const;
    return [
      { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] },
    ];
  });
}

function listCalls(model: MockLanguageModelV4): LanguageModelV4CallOptions[] {
  return [...model.doGenerateCalls, ...model.doStreamCalls];
}

export function listAsked(model: MockLanguageModelV4): Asked[] {
  return listCalls(model).map(({ prompt, tools = [] }) => ({
    messages: prompt.map(({ role, content }) => ({ role, text: toText(content) })),
    tools: tools.map(({ name }) => name),
  }));
}

function toText(content: LanguageModelV4CallOptions["prompt"][number]["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : JSON.stringify(part))).join("\n");
}

export function listResults(model: MockLanguageModelV4): AgentResult["results"] {
  const prompt = listCalls(model).at(-1)?.prompt ?? [];
  // Those of the run alone: what the history says is no result of it.
  const last = prompt.findLastIndex(({ role }) => role === "user");
  return prompt
    .slice(last + 1)
    .flatMap(({ role, content }) =>
      role === "tool"
        ? content.flatMap((part) =>
            part.type === "tool-result" ? [{ id: part.toolCallId, text: resultText(part.output) }] : [],
          )
        : [],
    );
}

function resultText(output: { readonly type: string; readonly value?: unknown; readonly reason?: string }): string {
  if (output.type === "execution-denied") return output.reason ?? "";
  return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
}
