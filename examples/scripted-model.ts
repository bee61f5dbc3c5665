/**
 * A model that needs no key: it says what a script says, through the AI SDK's own mock. The examples and the demo use it in
 * place of a real one. Nothing here is part of Intentlock.
 */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";

export interface ScriptedCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Some text, which ends the run, or tool calls. */
export type Reply = string | readonly ScriptedCall[];

/** A call that was made before, with its result as the model reads it. */
export interface ToolResult extends ScriptedCall {
  readonly isError: boolean;
  readonly output: unknown;
}

/** What a model is given when it is its turn. */
export interface Turn {
  /** The last thing that the user said. */
  readonly task: string;
  /** The names of the tools that are offered. */
  readonly tools: readonly string[];
  readonly results: readonly ToolResult[];
}

export function call(tool: string, input: ScriptedCall["input"]): ScriptedCall {
  return { tool, input };
}

/** @param script the replies in their order, or a function that chooses one by what the model is given */
export function scriptedModel(script: readonly Reply[] | ((turn: Turn) => Reply)): MockLanguageModelV4 {
  let turns = 0;
  let calls = 0;
  function answer(
    options: LanguageModelV4CallOptions,
  ): Pick<LanguageModelV4GenerateResult, "content" | "finishReason"> {
    const reply = typeof script === "function" ? script(readTurn(options)) : (script[turns++] ?? "Done.");
    if (typeof reply === "string") {
      return { content: [{ type: "text", text: reply }], finishReason: { unified: "stop", raw: undefined } };
    }
    const content = reply.map(
      ({ tool, input }): LanguageModelV4Content => ({
        type: "tool-call",
        toolCallId: `call-${++calls}`,
        toolName: tool,
        input: JSON.stringify(input),
      }),
    );
    return { content, finishReason: { unified: "tool-calls", raw: undefined } };
  }
  return new MockLanguageModelV4({
    doGenerate: async (options) => ({ ...answer(options), usage: NO_USAGE, warnings: [] }),
    doStream: async (options) => {
      const { content, finishReason } = answer(options);
      const chunks: LanguageModelV4StreamPart[] = [
        { type: "stream-start", warnings: [] },
        ...content.flatMap(toStreamParts),
        { type: "finish", finishReason, usage: NO_USAGE },
      ];
      return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) };
    },
  });
}

const NO_USAGE: LanguageModelV4GenerateResult["usage"] = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

function toStreamParts(part: LanguageModelV4Content): LanguageModelV4StreamPart[] {
  if (part.type === "tool-call") return [part];
  if (part.type !== "text") return [];
  return [
    { type: "text-start", id: "text" },
    { type: "text-delta", id: "text", delta: part.text },
    { type: "text-end", id: "text" },
  ];
}

function readTurn({ prompt, tools = [] }: LanguageModelV4CallOptions): Turn {
  const inputs = new Map<string, ScriptedCall["input"]>();
  const results: ToolResult[] = [];
  let task = "";
  for (const message of prompt) {
    if (message.role === "system") continue;
    for (const part of message.content) {
      if (message.role === "user" && part.type === "text") task = part.text;
      if (part.type === "tool-call") inputs.set(part.toolCallId, part.input as ScriptedCall["input"]);
      if (part.type === "tool-result") {
        const input = inputs.get(part.toolCallId) ?? {};
        results.push({ tool: part.toolName, input, ...readOutput(part.output) });
      }
    }
  }
  return { task, tools: tools.map(({ name }) => name), results };
}

function readOutput(output: LanguageModelV4ToolResultOutput): Pick<ToolResult, "isError" | "output"> {
  if (output.type === "execution-denied") return { isError: true, output: output.reason ?? "" };
  return { isError: output.type === "error-text" || output.type === "error-json", output: output.value };
}
