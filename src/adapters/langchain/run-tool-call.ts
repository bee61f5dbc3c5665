import type { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { BlockedError, type Session } from "../../session/index.ts";
import { refuseCall } from "./check-call.ts";
import { isClientTool } from "./coverage.ts";
import { keepInterrupt } from "./interrupt-held.ts";
import { lockTool } from "./lock-tool.ts";
import { toErrorMessage } from "./model-call.ts";
import { isTripped, runWithTripwire } from "./tripwire.ts";

/** What LangChain hands to a middleware for a call of a tool. */
interface ToolCallRequest<Tool> {
  readonly toolCall: ToolCall;
  readonly tool: Tool;
  readonly runtime: { readonly signal?: AbortSignal };
}

/**
 * Hands a call on with a locked tool, which makes the check wherever the call gets to. What is not that tool does not
 * start. Whatever goes wrong is an answer for the model: an error would end the run.
 *
 * @throws what LangGraph steers its graphs with, and what ends an aborted run
 */
export async function runToolCall<Request extends ToolCallRequest<unknown>, Answer>(
  session: Session,
  request: Request,
  handler: (request: Request) => Answer | Promise<Answer>,
): Promise<Answer | ToolMessage> {
  const { toolCall, tool, runtime } = request;
  try {
    if (!isClientTool(tool)) throw await refuse(session, toolCall, "the agent has no such tool");
    const locked = { ...request, tool: lockTool(tool, session) };
    return await keepInterrupt({ session, callId: toolCall.id }, () => runWithTripwire(() => handler(locked)));
  } catch (thrown) {
    if (isControl(thrown) || runtime.signal?.aborted) throw thrown;
    const error = findRoot(thrown);
    if (!isTripped(error)) return toAnswer(toolCall, error);
    return toAnswer(toolCall, await refuse(session, toolCall, "another tool was put in its place"));
  }
}

async function refuse(session: Session, { id, name, args }: ToolCall, detail: string): Promise<BlockedError> {
  const input = { type: "tool_call", id, args };
  return await refuseCall({ name, session }, { input, refusal: { reason: "unknown_tool", detail } });
}

/** What LangGraph throws to steer a graph is no error of a tool. */
function isControl(error: unknown): boolean {
  return typeof error === "object" && error !== null && Reflect.get(error, "is_bubble_up") === true;
}

/** LangChain wraps what a middleware throws, once for each middleware that it comes through. */
function findRoot(thrown: unknown): unknown {
  let error = thrown;
  while (error instanceof Error && isWrapped(error)) error = error.cause;
  return error;
}

/** By a brand that instances have, or in older versions their class. */
function isWrapped(error: Error): boolean {
  const brands: unknown[] = [Reflect.get(error, "~brand"), Reflect.get(error.constructor, "~brand")];
  return brands.includes("MiddlewareError") && error.cause !== undefined;
}

/** In LangChain's own words, if it is no block. */
function toAnswer(call: ToolCall, error: unknown): ToolMessage {
  return toErrorMessage(call, error instanceof BlockedError ? error.message : `${error}\n Please fix your mistakes.`);
}
