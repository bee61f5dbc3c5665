import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { IntentlockError } from "../../core/index.ts";
import type { Planner } from "../../session/index.ts";

/** A chat model, as far as planning goes. */
export type PlanningModel = Pick<BaseChatModel, "bindTools">;

/** A planner's words are no part of what the application streams to its user. */
const TAGS = ["nostream", "langsmith:nostream"];

/**
 * A planner that asks a chat model. Some models refuse to be forced to call a tool (with extended thinking, for one): they
 * are asked again and left to choose.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for a model that cannot call tools
 */
export function planWithModel(model: PlanningModel): Planner {
  if (typeof model?.bindTools !== "function") {
    throw new IntentlockError(
      "ERR_INVALID_OPTIONS",
      "The model cannot plan: it has no bindTools. Give a chat model that calls tools.",
    );
  }
  return async ({ system, prompt, tool, signal }) => {
    const { name, description, inputSchema: parameters } = tool;
    const definition = { type: "function", function: { name, description, parameters } };
    const ask = async (choice: { readonly tool_choice?: string }): Promise<unknown> => {
      const bound = model.bindTools?.([definition], choice);
      const messages: [string, string][] = [
        ["system", system],
        ["human", prompt],
      ];
      const answer = await bound?.invoke(messages, { tags: TAGS, ...(signal && { signal }) });
      return answer?.tool_calls?.find((call) => call.name === name)?.args;
    };
    try {
      return await ask({ tool_choice: name });
    } catch (error) {
      if (isBadRequest(error)) return await ask({});
      throw error;
    }
  };
}

/** The providers' own errors go through LangChain as they are. */
function isBadRequest(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return Reflect.get(error, "status") === 400 || Reflect.get(error, "statusCode") === 400;
}
