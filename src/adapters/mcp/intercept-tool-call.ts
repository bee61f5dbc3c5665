import { BLOCK_REASONS, type BlockDecision, type BlockReason, type RuleId, type Stage } from "../../core/index.ts";
import type { AdmittedCall, ErrorResult, Session } from "../../session/index.ts";
import { headroomOf } from "./budget-headroom.ts";
import { rememberAdmitted } from "./claim-tool-call.ts";
import { type BadRequest, parseRequest, type ToolCallRequest } from "./parse-request.ts";
import {
  type AllowedToolVerdict,
  blockedVerdict,
  type Denial,
  type DenialCode,
  type DenialStage,
  type JsonRpcId,
  type ToolVerdict,
} from "./tool-verdict.ts";
import { validateArgs } from "./validate-args.ts";

export interface InterceptOptions {
  readonly session: Session;
  /** Ends the wait for a person, and keeps the call from being claimed. */
  readonly signal?: AbortSignal | undefined;
}

/** What a proxy knows of a call that the request does not say. */
export interface CallContext extends InterceptOptions {
  /** Of the tool as its server describes it now. */
  readonly fingerprint?: string | undefined;
  /** The request's id unless told: ids of two clients may be the same. */
  readonly callId?: string | undefined;
}

/**
 * Decides about one raw `tools/call` request of JSON-RPC: strict parse, the tool's input schema, policy, budget, the
 * cheapest first. The decision is the session's, as for every other call, and on record once; so are requests that are not
 * well-formed, where they name a tool. A call that a person has to approve is answered when they have. Never rejects.
 *
 * @example
 * import { claimToolCall, interceptToolCall, isAllowed } from "intentlock/mcp";
 *
 * const answer = async (payload: Uint8Array) => {
 *   const verdict = await interceptToolCall(payload, { session });
 *   if (!isAllowed(verdict)) return verdict.response;
 *   const call = await claimToolCall(verdict);
 *   return call && { tool: call.tool, args: call.args };
 * };
 */
export async function interceptToolCall(payload: string | Uint8Array, options: InterceptOptions): Promise<ToolVerdict> {
  const started = performance.now();
  return await interceptRequest(parseRequest(payload), options, started);
}

/** {@link interceptToolCall} of a request that has been read. @param started on the clock of `performance` */
export async function interceptRequest(
  request: ToolCallRequest | BadRequest,
  context: CallContext,
  started: number = performance.now(),
): Promise<ToolVerdict> {
  const denial = request.problem ? await refuse(request, context) : undefined;
  if (denial) return blockedVerdict(denial, since(started));
  const { session, signal, fingerprint } = context;
  const { id, tool: name, args } = request as ToolCallRequest;
  const tool = session.tool(name);
  const fault = tool && validateArgs(tool, args);
  const admitted = await session.admit({
    callId: context.callId ?? String(id),
    tool: name,
    args,
    signal,
    fingerprint,
    ...(fault !== undefined && { refusal: { reason: "invalid_args", detail: fault } }),
  });
  return admitted.isError
    ? blockedVerdict(describeBlock(admitted, id), since(started))
    : allowedVerdict(admitted, since(started));
}

/** A request that is not well-formed is on record if it says which tool it is about. */
async function refuse({ id, tool, args, problem }: BadRequest, context: CallContext): Promise<Denial> {
  const denial = { id, tool: tool ?? "<unparsed>", stage: "parse", denialCode: problem.code } as const;
  const reason = `Blocked by Intentlock (${problem.code}): ${problem.detail}`;
  if (tool === undefined) return { ...denial, reason };
  const callId = context.callId ?? (id === null ? "" : String(id));
  const refusal = { reason: "invalid_call", detail: problem.detail } as const;
  const admitted = await context.session.admit({ callId, tool, args: args ?? {}, refusal });
  // No gate allows what was refused; should one, nothing has run.
  if (!admitted.isError) await admitted.release();
  return { ...denial, tool: admitted.decision.tool, reason };
}

function allowedVerdict(admitted: AdmittedCall, elapsedUs: number): AllowedToolVerdict {
  const { decision } = admitted;
  const { principalId } = decision;
  const verdict: AllowedToolVerdict = Object.freeze({
    outcome: "allowed",
    tool: decision.tool,
    budgetRemaining: headroomOf(decision),
    elapsedUs,
    payoutMicros: decision.payoutMicros ?? 0,
    ...(principalId !== undefined && { principalId }),
  });
  return rememberAdmitted(verdict, admitted);
}

function describeBlock({ decision, content }: ErrorResult, id: JsonRpcId): Denial {
  const { tool } = decision;
  if (decision.verdict !== "block") {
    return { id, tool, stage: "policy", denialCode: "hold_pending", reason: content };
  }
  return { id, tool, ...explainBlock(decision), reason: decision.message };
}

function explainBlock({ reason, stage }: BlockDecision): Pick<Denial, "stage" | "policy" | "denialCode"> {
  if (!isBlockReason(reason)) return { stage: "policy", policy: reason, denialCode: "rule_denied" };
  return { stage: stageOf(reason, stage), denialCode: reason };
}

function stageOf(reason: DenialCode, stage: Stage): DenialStage {
  if (reason === "unknown_tool") return "schema";
  return stage === "parse" || stage === "schema" || stage === "budget" ? stage : "policy";
}

function isBlockReason(reason: BlockReason | RuleId): reason is BlockReason {
  return BLOCK_REASONS.includes(reason as BlockReason);
}

function since(started: number): number {
  return Math.round((performance.now() - started) * 1000);
}
