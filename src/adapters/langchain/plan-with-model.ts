import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { IntentlockError } from "../../core/index.ts";
import type { Planner } from "../../session/index.ts";

/** A chat model, as far as planning goes. */
export type PlanningModel = Pick<BaseChatModel, "bindTools">;

/** A planner's words are no part of what the application streams to its user. */
const TAGS = ["nostream", "langsmith:nostream"];

/**
 * A planner that asks a chat model. Some models refuse to be forced to call a tool (with extended thinking, for one): they
 * are asked again and left to choose. A model that settings were bound to is asked without them.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for a model that cannot call tools
 */
export function planWithModel(model: PlanningModel): Planner {
  const bindable = findBindable(model);
  if (!bindable) {
    throw new IntentlockError(
      "ERR_INVALID_OPTIONS",
      "The model cannot plan: it has no bindTools. Give a chat model that calls tools.",
    );
  }
  return async ({ system, prompt, tool, signal }) => {
    const { name, description, inputSchema: parameters } = tool;
    const definition = { type: "function", function: { name, description, parameters } };
    const ask = async (choice: { readonly tool_choice?: string }): Promise<unknown> => {
      const messages: [string, string][] = [
        ["system", system],
        ["human", prompt],
      ];
      const bound = bindable.bindTools([definition], choice);
      const answer = await bound.invoke(messages, { tags: TAGS, ...(signal && { signal }) });
      return answer.tool_calls?.find((call) => call.name === name)?.args;
    };
    try {
      return await ask({ tool_choice: name });
    } catch (error) {
      if (isBadRequest(error)) return await ask({});
      throw error;
    }
  };
}

/** The model itself, or the one that a binding (`model.withConfig()`) is of. */
function findBindable(model: unknown): Required<PlanningModel> | undefined {
  for (let one = model; typeof one === "object" && one !== null; one = Reflect.get(one, "bound") as unknown) {
    if (typeof Reflect.get(one, "bindTools") === "function") return one as Required<PlanningModel>;
  }
  return undefined;
}

/** The providers' own errors go through LangChain as they are. */
function isBadRequest(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: unknown } };
  return [Reflect.get(error, "status"), Reflect.get(error, "statusCode"), $metadata?.httpStatusCode].includes(400);
}
