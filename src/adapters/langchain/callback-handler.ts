import type { Serialized } from "@langchain/core/load/serializable";
import { isJsonObject, type Json } from "../../core/index.ts";
import { BlockedError, type Session } from "../../session/index.ts";
import { wrapText } from "./describe-tool.ts";
import { isGated } from "./gated-context.ts";
import { langchain } from "./langchain-core.ts";
import { hasLocked } from "./lock-tool.ts";
import { readSaid } from "./tool-said.ts";

export interface IntentlockCallbackHandlerOptions {
  readonly session: Session;
}

type Run = PromiseWithResolvers<unknown>;
const Base: typeof langchain.BaseCallbackHandler = langchain.BaseCallbackHandler;

/**
 * Checks the tools of plain chains, which have no other place for it: pass it in `callbacks`. A call that is blocked ends in
 * a `BlockedError` before the tool runs. The session has to know the tools by `describeTools`, which brings their schemas:
 * LangChain tells a handler what the model wrote, before defaults and transforms, and cannot be told what to run.
 *
 * It sees less than `lockTools` and `intentlockMiddleware`, which are to be preferred:
 * - It is not asked about runnables that were made tools (`runnable.asTool()`), about `tool.func()` and `tool._call()`, or
 *   where `callbacks: []` drops it.
 * - It checks what the session makes of the arguments with the schema that it was started with, and LangChain parses them
 *   once more for the tool: a default or transform that gives something else each time is not held to what was checked.
 * - It knows a tool by the name of its run: `runName` changes it, and tools of classes without one are blocked.
 * - It cannot suspend a run, and a step that LangGraph runs again is a new call.
 * - Beside a middleware that wraps tool calls, LangChain ends the run with its error.
 *
 * Locked tools are checked once, by themselves, and no other tool of their name runs. What they call is their own doing.
 *
 * @example
 * import { RunnableLambda } from "@langchain/core/runnables";
 * import { tool } from "@langchain/core/tools";
 * import { IntentlockCallbackHandler } from "intentlock/langchain";
 *
 * const pay = tool(async () => "paid", { name: "pay_rent", description: "Pays this month's rent" });
 * const chain = RunnableLambda.from(async (amount: string) => ({ input: amount })).pipe(pay);
 * await chain.invoke("20", { callbacks: [new IntentlockCallbackHandler({ session })] });
 */
export class IntentlockCallbackHandler extends Base {
  readonly name: string = "intentlock";
  readonly #session: Session;
  readonly #runs = new Map<string, Run>();

  constructor({ session }: IntentlockCallbackHandlerOptions) {
    // As an argument: as a field it would come too late to make LangChain wait for the answer.
    super({ raiseError: true });
    this.#session = session;
  }

  /** LangChain makes copies by handing a handler to its own constructor: this one keeps the calls that it waits for. */
  override copy(): IntentlockCallbackHandler {
    return this;
  }

  override async handleToolStart(
    tool: Serialized,
    input: string,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    _metadata?: Record<string, unknown>,
    runName?: string,
    toolCallId?: string,
  ): Promise<void> {
    if (isGated(tool)) return;
    const name = runName ?? "";
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const call = {
      callId: toolCallId ?? runId,
      tool: name,
      args: readArgs(input),
      ...(hasLocked(this.#session, name) && { refusal: NOT_LOCKED }),
    };
    const run = (): Promise<unknown> => {
      this.#runs.set(runId, ended);
      started.resolve();
      return ended.promise;
    };
    const running = this.#session.run(call, run, { resultOf: readSaid });
    // It settles without having started if it is blocked, or is another call's twin.
    void running.then((result) =>
      started.reject(new BlockedError(result.decision, result.isError ? result : undefined)),
    );
    await started.promise;
  }

  override async handleToolEnd(output: unknown, runId: string): Promise<void> {
    this.#take(runId)?.resolve(output);
  }

  override async handleToolError(error: unknown, runId: string): Promise<void> {
    this.#take(runId)?.reject(error);
  }

  #take(runId: string): Run | undefined {
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    return run;
  }
}

const NOT_LOCKED = { reason: "unknown_tool", detail: "it is not the locked tool of this session" } as const;

/** The arguments travel as a text. */
function readArgs(input: string): unknown {
  try {
    const args = JSON.parse(input) as Json;
    return isJsonObject(args) ? args : wrapText(input);
  } catch {
    return wrapText(input);
  }
}
