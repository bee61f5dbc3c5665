import { IntentlockError } from "../../core/index.ts";

/** What is used of `@langchain/core`. */
interface LangchainCore {
  readonly BaseCallbackHandler: typeof import("@langchain/core/callbacks/base").BaseCallbackHandler;
  readonly RunnableLambda: typeof import("@langchain/core/runnables").RunnableLambda;
  readonly ToolInputParsingException: typeof import("@langchain/core/tools").ToolInputParsingException;
  readonly ToolMessage: typeof import("@langchain/core/messages").ToolMessage;
  readonly convertToOpenAIFunction: typeof import("@langchain/core/utils/function_calling").convertToOpenAIFunction;
  readonly interopParseAsync: typeof import("@langchain/core/utils/types").interopParseAsync;
  readonly isInteropZodSchema: typeof import("@langchain/core/utils/types").isInteropZodSchema;
  readonly registerConfigureHook: typeof import("@langchain/core/context").registerConfigureHook;
  readonly setContextVariable: typeof import("@langchain/core/context").setContextVariable;
}

/** The peer, loaded with this module: a handler extends its class. */
export const langchain: LangchainCore = await loadCore();

/** @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
async function loadCore(): Promise<LangchainCore> {
  try {
    const [base, runnables, tools, messages, functions, types, context] = await Promise.all([
      import("@langchain/core/callbacks/base"),
      import("@langchain/core/runnables"),
      import("@langchain/core/tools"),
      import("@langchain/core/messages"),
      import("@langchain/core/utils/function_calling"),
      import("@langchain/core/utils/types"),
      import("@langchain/core/context"),
    ]);
    return { ...base, ...runnables, ...tools, ...messages, ...functions, ...types, ...context };
  } catch (cause) {
    throw new IntentlockError(
      "ERR_MISSING_PEER",
      'intentlock/langchain needs the package "@langchain/core": npm install @langchain/core@^1',
      { cause },
    );
  }
}
