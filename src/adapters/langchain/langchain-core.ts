import { missingPeer } from "../../session/setup-errors.ts";

/** What is used of `@langchain/core`. */
interface LangchainCore {
  readonly AsyncLocalStorageProviderSingleton: typeof import("@langchain/core/singletons").AsyncLocalStorageProviderSingleton;
  readonly BaseCallbackHandler: typeof import("@langchain/core/callbacks/base").BaseCallbackHandler;
  readonly DynamicStructuredTool: typeof import("@langchain/core/tools").DynamicStructuredTool;
  readonly DynamicTool: typeof import("@langchain/core/tools").DynamicTool;
  readonly Runnable: typeof import("@langchain/core/runnables").Runnable;
  readonly RunnableLambda: typeof import("@langchain/core/runnables").RunnableLambda;
  readonly RunnableToolLike: typeof import("@langchain/core/runnables").RunnableToolLike;
  readonly StructuredTool: typeof import("@langchain/core/tools").StructuredTool;
  readonly Tool: typeof import("@langchain/core/tools").Tool;
  readonly ToolInputParsingException: typeof import("@langchain/core/tools").ToolInputParsingException;
  readonly ToolMessage: typeof import("@langchain/core/messages").ToolMessage;
  readonly convertToOpenAIFunction: typeof import("@langchain/core/utils/function_calling").convertToOpenAIFunction;
  readonly ensureConfig: typeof import("@langchain/core/runnables").ensureConfig;
  readonly interopParseAsync: typeof import("@langchain/core/utils/types").interopParseAsync;
  readonly isInteropZodSchema: typeof import("@langchain/core/utils/types").isInteropZodSchema;
  readonly registerConfigureHook: typeof import("@langchain/core/context").registerConfigureHook;
  readonly setContextVariable: typeof import("@langchain/core/context").setContextVariable;
}

/**
 * The peer, loaded with this module, at the price of `require()`: LangChain keeps the hook that `installTripwire` sets in
 * the asynchronous context of whoever sets it, so that there is no time to load anything when it is called.
 */
export const langchain: LangchainCore = await loadCore();

/** @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
async function loadCore(): Promise<LangchainCore> {
  try {
    const [base, runnables, tools, messages, functions, types, context, singletons] = await Promise.all([
      import("@langchain/core/callbacks/base"),
      import("@langchain/core/runnables"),
      import("@langchain/core/tools"),
      import("@langchain/core/messages"),
      import("@langchain/core/utils/function_calling"),
      import("@langchain/core/utils/types"),
      import("@langchain/core/context"),
      import("@langchain/core/singletons"),
    ]);
    return { ...base, ...runnables, ...tools, ...messages, ...functions, ...types, ...context, ...singletons };
  } catch (cause) {
    throw missingPeer("langchain", "@langchain/core", "^1", cause);
  }
}
