import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import { answerBlocked, checkCall, type Gate, refuseCall, type ToolConfig } from "./check-call.ts";
import { type ClientTool, isClientTool } from "./coverage.ts";
import { deriveTool, restoreMethods } from "./derive-tool.ts";
import { wrapText } from "./describe-tool.ts";
import { announceLocked } from "./gated-context.ts";
import { langchain } from "./langchain-core.ts";
import { lockFunction } from "./lock-function.ts";
import { runWithoutTripwire } from "./tripwire.ts";

type RunManager = CallbackManagerForToolRun | undefined;

/** A tool whose arguments LangChain parses, in one place, before it runs `_call`. */
export interface StructuredTool extends ClientTool {
  readonly call: (args: unknown, config?: ToolConfig) => Promise<unknown>;
  readonly func?: (...parts: unknown[]) => unknown;
  readonly toJSON: () => object;
  readonly _call: (args: unknown, runManager?: RunManager, config?: ToolConfig) => unknown;
}

/** Whether LangChain's own code, and nobody else's, leads from `invoke` to `_call`. */
export function isStructuredTool(tool: ClientTool): tool is StructuredTool {
  const { DynamicStructuredTool, DynamicTool, StructuredTool, Tool } = langchain;
  const calls: unknown[] = [DynamicStructuredTool, DynamicTool, StructuredTool, Tool].map((one) => one.prototype.call);
  const invoke: unknown = StructuredTool.prototype.invoke;
  return isClientTool(tool) && tool.invoke === invoke && calls.includes(Reflect.get(tool, "call"));
}

/**
 * The check sits in `_call`, behind the one place where LangChain parses arguments. Methods run on the original, whose
 * `#private` fields a derived object does not have.
 */
export function lockStructuredTool(tool: StructuredTool, gate: Gate): object {
  const { invoke, call } = tool;
  const check = async (args: unknown, runManager?: RunManager, config?: ToolConfig): Promise<unknown> => {
    try {
      return await checkCall(gate, { args, config }, async (checked) => {
        const result = await tool._call(checked, runManager, withCheckedArgs(config, checked));
        return isGenerator(result) ? await drain(result, runManager) : result;
      });
    } catch (error) {
      if (error instanceof langchain.ToolInputParsingException) behindParsing.add(error);
      throw error;
    }
  };
  const run = async (method: unknown, input: unknown, config?: ToolConfig): Promise<unknown> => {
    try {
      return await runWithoutTripwire(() => Reflect.apply(method as typeof invoke, inner, [input, config]));
    } catch (error) {
      if (!(error instanceof langchain.ToolInputParsingException) || behindParsing.has(error)) throw error;
      throw await refuseCall(gate, { input, config, refusal: { reason: "invalid_args", detail: error.message } });
    }
  };
  const locked = deriveTool(tool, {
    ...restoreMethods(tool),
    toJSON: () => announceLocked(tool.toJSON()),
    invoke: async (input: unknown, config?: ToolConfig) => {
      try {
        return await run(invoke, input, config);
      } catch (error) {
        return answerBlocked(gate, input, error);
      }
    },
    call: (args: unknown, config?: ToolConfig) => run(call, args, config),
    _call: check,
    ...(tool.func && { func: lockFunction(gate, tool.func) }),
  });
  // LangChain's `invoke` goes on to its own `call`.
  const inner = Object.setPrototypeOf({ call }, locked) as object;
  return locked;
}

/** What a tool itself threw, or a tool inside of it: of these calls the arguments were parsed, checked and recorded. */
const behindParsing = new WeakSet<object>();

/** A tool finds the call in its config, with the arguments as the model wrote them. It gets those that were checked. */
function withCheckedArgs(config: ToolConfig | undefined, checked: unknown): ToolConfig | undefined {
  if (!config?.toolCall) return config;
  // LangChain makes this object for the call, and changes it too. A copy costs as much as the check.
  return Object.assign(config, { toolCall: { ...config.toolCall, args: wrapText(checked) } });
}

type Parts = AsyncGenerator<unknown, unknown, void>;

function isGenerator(result: unknown): result is Parts {
  return typeof result === "object" && result !== null && typeof Reflect.get(result, "next") === "function";
}

/** The result of a tool that gives parts of it before, as LangChain reads it. */
async function drain(generator: Parts, runManager: RunManager): Promise<unknown> {
  try {
    let step = await generator.next();
    while (!step.done) {
      try {
        await runManager?.handleToolEvent(step.value);
      } catch (error) {
        await runManager?.handleToolError(error);
      }
      step = await generator.next();
    }
    return step.value;
  } finally {
    await generator.return?.(undefined);
  }
}
