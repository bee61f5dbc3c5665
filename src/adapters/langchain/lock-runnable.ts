import { answerBlocked, checkCall, type Gate, refuseCall, type ToolConfig } from "./check-call.ts";
import type { ClientTool } from "./coverage.ts";
import { deriveTool } from "./derive-tool.ts";
import { langchain } from "./langchain-core.ts";
import { toModelCall } from "./model-call.ts";

type Invoke = (input: unknown, config?: ToolConfig) => Promise<unknown>;

/** A runnable under the name of a tool, as `runnable.asTool()` makes it. */
export interface RunnableTool extends ClientTool {
  readonly schema: unknown;
  readonly bound: { readonly invoke: Invoke };
}

export function isRunnableTool(tool: ClientTool): tool is RunnableTool {
  return Object.getPrototypeOf(tool) === langchain.RunnableToolLike.prototype;
}

/** Every method of a runnable that is bound to another goes to the one that it is bound to: that one is checked. */
export function lockRunnable(tool: RunnableTool, gate: Gate): object {
  const { bound } = tool;
  const check: Invoke = async (input, config) => {
    const call = toModelCall(input);
    try {
      const args = call ? await parse(gate, input, config) : input;
      return await checkCall(gate, { args, config: call ? { ...config, toolCall: call } : config }, (checked) => {
        // As no call of a model: it would be parsed again, or taken apart once more.
        if (toModelCall(checked)) throw new TypeError("The arguments of a tool cannot be a call themselves");
        return bound.invoke(checked, config);
      });
    } catch (error) {
      return answerBlocked(gate, input, error);
    }
  };
  const run = langchain.RunnableLambda.from(check as never).withConfig({ runName: gate.name });
  return deriveTool(tool, { bound: run });
}

async function parse(gate: Gate, input: unknown, config: ToolConfig | undefined): Promise<unknown> {
  const schema: unknown = Reflect.get(gate.tool, "schema");
  const args = toModelCall(input)?.args;
  if (!langchain.isInteropZodSchema(schema)) return args;
  try {
    return await langchain.interopParseAsync(schema, args);
  } catch (error) {
    const detail = error instanceof Error ? error.message : "the schema rejects them";
    throw await refuseCall(gate, { input, config, refusal: { reason: "invalid_args", detail } });
  }
}
