import type { OutcomeStatus } from "../../../core/index.ts";
import { freezeJson } from "../../../core/json.ts";
import { blockDecision } from "../../../core/verdict.ts";
import { describeThrown } from "../../../session/describe-thrown.ts";
import { claimToolCall } from "../claim-tool-call.ts";
import { interceptRequest } from "../intercept-tool-call.ts";
import { type BadRequest, readRequest, type ToolCallRequest } from "../parse-request.ts";
import { blockedVerdict, isAllowed, type ToolVerdict } from "../tool-verdict.ts";
import { NoReply, type PeerRequest, type Reply } from "./peer.ts";
import type { SignedLock } from "./plan-lock.ts";
import type { ToolList } from "./server-tools.ts";

/** How a blocked call is answered: as a result that the model reads, or as an error of the protocol. */
export type CallDenial = "result" | "error";

export interface ForwardOptions {
  /** Undefined as long as there is no plan. */
  readonly signed: SignedLock | undefined;
  /** The tools as the server lists them now. */
  readonly now: ToolList;
  readonly callId: string;
  readonly denyAs: CallDenial;
  /** Sends the call to the server. @throws NoReply */
  readonly forward: (call: { readonly name: string; readonly arguments: object }) => Promise<Reply>;
}

/** Decides about a client's call and, if it is allowed, has the server run it. */
export async function forwardCall(request: PeerRequest, options: ForwardOptions): Promise<Reply> {
  const verdict = await decide(read(request), request.signal, options);
  if (!isAllowed(verdict)) return denied(verdict, options.denyAs);
  const call = await claimToolCall(verdict);
  if (!call) return failed("The run was over before the call started");
  let end: OutcomeStatus = "unknown";
  let result: unknown;
  try {
    const reply = await options.forward({ name: call.tool, arguments: call.args });
    if (!("error" in reply)) result = reply.result;
    end = "error" in reply || reply.result["isError"] === true ? "failed" : "ok";
    return reply;
  } catch (error) {
    if (error instanceof NoReply && !error.reached) end = "aborted";
    return failed(
      `${describeThrown(error)}. Whether the tool has run is ${end === "aborted" ? "known: no" : "not known"}.`,
    );
  } finally {
    await call.settle(end, { result });
  }
}

/** The transport has parsed it: two readers cannot read it differently any more, and what is sent on is printed anew. */
function read({ id, method, params }: PeerRequest): ToolCallRequest | BadRequest {
  try {
    return readRequest(freezeJson({ jsonrpc: "2.0", id, method, ...(params && { params }) }));
  } catch (error) {
    const detail = `the request is ${describeThrown(error)}`;
    return { id, tool: undefined, args: undefined, problem: { code: "invalid_json", detail } };
  }
}

async function decide(
  request: ToolCallRequest | BadRequest,
  signal: AbortSignal,
  { signed, now, callId }: ForwardOptions,
): Promise<ToolVerdict> {
  if (!signed) return withoutPlan(request);
  const { tool } = request;
  // A tool that the server does not list any more, or that cannot be read, is not the one that was signed.
  const isPinned = tool !== undefined && signed.pinned.has(tool);
  const fingerprint = isPinned ? (now.get(tool)?.fingerprint ?? "gone") : undefined;
  return await interceptRequest(request, { session: signed.session, signal, callId, fingerprint });
}

/** There is nothing that could be decided under, and no record that it could be written to. */
function withoutPlan({ id, tool = "<unparsed>" }: ToolCallRequest | BadRequest): ToolVerdict {
  const detail = "there is no plan yet: call declare_plan first";
  const call = { callId: "", tool, planId: "" };
  const { message } = blockDecision(call, { reason: "not_in_plan", stage: "plan", detail });
  return blockedVerdict({ id, tool, stage: "policy", denialCode: "not_in_plan", reason: message }, 0);
}

function denied(verdict: Exclude<ToolVerdict, { outcome: "allowed" }>, denyAs: CallDenial): Reply {
  return denyAs === "error" ? { error: verdict.response.error } : failed(verdict.reason);
}

function failed(text: string): Reply {
  return { result: { content: [{ type: "text", text }], isError: true } };
}
