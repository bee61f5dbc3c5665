import type { JsonObject, OutcomeStatus } from "../../core/index.ts";
import type { AdmittedCall } from "../../session/index.ts";
import { readSaid } from "./tool-said.ts";
import type { AllowedToolVerdict, ToolVerdict } from "./tool-verdict.ts";

/** A call that its holder, and nobody else, may run now. */
export interface ClaimedToolCall {
  readonly callId: string;
  readonly tool: string;
  /** What was checked, frozen: send this on, and not the payload. */
  readonly args: JsonObject;
  /**
   * Says what became of it; the first word counts. `aborted` gives back what it took, and nothing else does. Never rejects:
   * trouble is told to the session's listener.
   *
   * @param options.result with `ok`: the `CallToolResult` of the server, from which later calls may have copied values
   */
  settle(status: OutcomeStatus, options?: { readonly result?: unknown }): Promise<void>;
}

/** A verdict's own identity: call ids are not unique, and a copy of a verdict claims nothing. */
const admitted = new WeakMap<ToolVerdict, AdmittedCall>();

/** Makes a verdict the one of an admitted call. */
export function rememberAdmitted(verdict: AllowedToolVerdict, call: AdmittedCall): AllowedToolVerdict {
  admitted.set(verdict, call);
  return verdict;
}

/**
 * Claims the execution of an allowed call: once for each verdict, right before it runs. Undefined if it was claimed before,
 * or if its session was closed or aborted in the meantime; then it must not run, and what it took is given back.
 *
 * Then say how it ended: `ok`; `failed` if the tool said so; `unknown` if it was reached and did not answer; `aborted` if it
 * was never reached, because the worker is full or the server away.
 */
export async function claimToolCall(verdict: ToolVerdict): Promise<ClaimedToolCall | undefined> {
  const call = admitted.get(verdict);
  if (!call || !(await call.claim())) return undefined;
  const { callId, decision, args } = call;
  const settle: ClaimedToolCall["settle"] = async (status, { result } = {}) =>
    await call.settle(status, { result, resultOf: readSaid });
  return Object.freeze({ callId, tool: decision.tool, args, settle });
}

/** Gives back what an allowed call took that nobody has claimed, and nobody will. */
export async function releaseToolCall(verdict: ToolVerdict): Promise<void> {
  await admitted.get(verdict)?.release();
}
