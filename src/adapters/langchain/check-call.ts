import type { RunnableConfig } from "@langchain/core/runnables";
import type { BlockReason, JsonObject } from "../../core/index.ts";
import { unwrapResult } from "../../session/blocked-error.ts";
import { BlockedError, type RunResult, type Session } from "../../session/index.ts";
import type { ClientTool } from "./coverage.ts";
import { fingerprintNow, wrapText } from "./describe-tool.ts";
import { nameCall, runInsideTool } from "./gated-context.ts";
import { interruptIfHeld } from "./interrupt-held.ts";
import { type ModelCall, toErrorMessage, toModelCall } from "./model-call.ts";
import { readSaid } from "./tool-said.ts";

/** What LangChain tells a tool beside its arguments. */
export type ToolConfig = RunnableConfig & {
  readonly toolCall?: ModelCall;
  readonly toolCallId?: string;
  /** From LangGraph. */
  readonly interrupt?: unknown;
};

/** What a call is checked as. */
export interface Gate {
  readonly name: string;
  readonly tool: ClientTool;
  readonly session: Session;
}

export interface CallToCheck {
  readonly args: unknown;
  readonly config: ToolConfig | undefined;
  /** What the tool has said, of what the implementation gives. Default: {@link readSaid}. */
  readonly resultOf?: (given: unknown) => unknown;
}

/**
 * Checks a call whose arguments are what the tool's schema made of them, and runs the tool with exactly these.
 *
 * @returns what the tool gives
 * @throws BlockedError, or what the tool throws
 */
export async function checkCall(
  { name, tool, session }: Gate,
  { args, config, resultOf = readSaid }: CallToCheck,
  implementation: (checked: unknown) => unknown,
): Promise<unknown> {
  const isText = typeof args !== "object" || args === null;
  const callId = nameCall(session, readId(config?.toolCall?.id) ?? readId(config?.toolCallId) ?? crypto.randomUUID());
  const call = {
    callId,
    tool: name,
    args: wrapText(args),
    isParsed: true,
    fingerprint: fingerprintNow(tool),
    signal: config?.signal,
    replayKey: readTaskId(config),
  };
  const run = (checked: JsonObject): unknown =>
    runInsideTool({ session, callId }, () => implementation(isText ? checked["input"] : checked));
  const attempt = (): Promise<RunResult<unknown>> => session.run(call, run, { isSuspension: isInterrupt, resultOf });
  if (session.onHold === "wait") return unwrapResult(await attempt());
  return unwrapResult(await interruptIfHeld({ session, call, config: config ?? {} }, attempt));
}

export interface Refusal {
  readonly reason: BlockReason;
  readonly detail: string;
}

/** Puts a call on record that does not get as far as its check. @returns what it is answered with */
export async function refuseCall(
  { name, session }: Pick<Gate, "name" | "session">,
  { input, config, refusal }: { readonly input: unknown; readonly config?: ToolConfig | undefined; refusal: Refusal },
): Promise<BlockedError> {
  const call = toModelCall(input) ?? config?.toolCall;
  const callId = readId(call?.id) ?? crypto.randomUUID();
  const args = wrapText(call ? call.args : input);
  const { decision } = await session.run({ callId, tool: name, args, refusal }, () => undefined);
  return new BlockedError(decision);
}

/** A block is an answer for a model that has called, and an error for code that has. @throws all that is no such block */
export function answerBlocked({ name }: Gate, input: unknown, error: unknown): unknown {
  const call = toModelCall(input);
  if (!call || !(error instanceof BlockedError)) throw error;
  return toErrorMessage({ name, id: call.id }, error.message);
}

/** What `interrupt()` of LangGraph throws, known by its name: LangGraph is not needed here. */
export function isInterrupt(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === "GraphInterrupt" || thrown.name === "NodeInterrupt");
}

/** Some providers give no ids, or empty ones: such calls are told apart all the same. */
function readId(id: unknown): string | undefined {
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** LangGraph's name for the run of a node, the same when the node runs again after a resume. */
function readTaskId(config: ToolConfig | undefined): string | undefined {
  const id: unknown = config?.configurable?.["__pregel_task_id"];
  return typeof id === "string" ? id : undefined;
}
