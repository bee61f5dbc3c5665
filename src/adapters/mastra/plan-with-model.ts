import type { MastraModelConfig } from "@mastra/core/llm";
import type { Planner } from "../../session/index.ts";
import { loadMastra } from "./load-mastra.ts";

/**
 * A planner that asks a model as Mastra knows them, through an agent that has nothing but `declare_plan`: no memory, no
 * thread. Some models refuse to be forced to call a tool (with extended thinking, for one): they are asked again and left
 * to choose.
 */
export function planWithModel(model: MastraModelConfig): Planner {
  return async ({ system, prompt, tool, signal }) => {
    const { Agent, createTool } = await loadMastra();
    const { name, description, inputSchema } = tool;
    const id = "intentlock-planner";
    // Without execute: Mastra hands the call back.
    const declare = createTool({ id: name, description, inputSchema: inputSchema as never });
    const planner = new Agent({ id, name: id, instructions: system, model, tools: { [name]: declare } });
    const ask = async (toolChoice: "auto" | { type: "tool"; toolName: string }): Promise<unknown> => {
      const { toolCalls, error } = await planner.generate(prompt, {
        toolChoice,
        maxSteps: 1,
        ...(signal && { abortSignal: signal }),
      });
      if (error) throw error;
      return toolCalls.find(({ payload }) => payload.toolName === name)?.payload.args;
    };
    try {
      return await ask({ type: "tool", toolName: name });
    } catch (error) {
      if (isBadRequest(error)) return await ask("auto");
      throw error;
    }
  };
}

/** The provider's own error, which Mastra may have wrapped. */
function isBadRequest(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return Reflect.get(error, "statusCode") === 400 || isBadRequest(Reflect.get(error, "cause"));
}
