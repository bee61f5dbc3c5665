import type { LanguageModel, ToolSet } from "ai";
import type { Planner } from "../../session/index.ts";
import { loadAi } from "./load-ai.ts";

/**
 * A planner that asks a model of the SDK. Some models refuse to be forced to call a tool (with extended thinking, for
 * one): they are asked again and left to choose.
 */
export function planWithModel(model: LanguageModel): Planner {
  return async ({ system, prompt, tool, signal }) => {
    const { APICallError, generateText, jsonSchema, ToolChoiceViolationError } = await loadAi();
    const { name, description } = tool;
    const inputSchema = jsonSchema(tool.inputSchema as Parameters<typeof jsonSchema>[0]);
    // Without execute: the SDK hands the call back.
    const tools = { [name]: { description, inputSchema } } as unknown as ToolSet;
    const ask = async (toolChoice: "auto" | { type: "tool"; toolName: string }): Promise<unknown> => {
      const { toolCalls } = await generateText({
        model,
        instructions: system,
        prompt,
        tools,
        toolChoice,
        ...(signal && { abortSignal: signal }),
      });
      return toolCalls.find(({ toolName }) => toolName === name)?.input;
    };
    try {
      return await ask({ type: "tool", toolName: name });
    } catch (error) {
      // Without `?.` an older SDK, which does not have this error, would hide the model's own.
      if (ToolChoiceViolationError?.isInstance(error)) return undefined;
      if (APICallError.isInstance(error) && error.statusCode === 400) return await ask("auto");
      throw error;
    }
  };
}
