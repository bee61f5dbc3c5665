import { AsyncLocalStorage } from "node:async_hooks";
import { isJsonObject, type JsonObject } from "../../core/index.ts";
import { jsonEqual } from "../../core/json.ts";
import { unwrapResult } from "../../session/blocked-error.ts";
import type { Session } from "../../session/index.ts";
import { nameNested, type RunningCall } from "../../session/nested-call.ts";
import { type AnyTool, parseArgs } from "./describe-tool.ts";
import { forgetHeld, isDeclined, isHeld, suspendHeld, takeAnswer } from "./held-calls.ts";
import { takeModelCall } from "./model-calls.ts";
import { findSuspended, forgetSuspended, keepSuspended } from "./suspended-calls.ts";
import { isSuspension, runSuspendable, saysItResumes, type ToolContext } from "./tool-context.ts";
import { readSaid } from "./tool-said.ts";

/** A call on its way to a tool, as the layer that sees it knows it. */
export interface ToolCall {
  readonly session: Session;
  readonly name: string;
  readonly tool: AnyTool;
  readonly args: unknown;
  readonly context: ToolContext | undefined;
  readonly fingerprint?: string | undefined;
  /** Whether the tool may have a lock of its own inside of this layer. */
  readonly isOuter?: boolean;
}

/** A call that was allowed, while its tool runs. */
interface Admitted extends RunningCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly outer: Admitted | undefined;
  /** Whether the lock inside of the one that admitted the call has run the tool, or there is none. */
  isTaken: boolean;
  /** Whether the hook between the two has seen it. */
  isHooked: boolean;
}

const admitted = new AsyncLocalStorage<Admitted>();

/**
 * Checks a call, and runs the tool with what was checked.
 *
 * @throws BlockedError, or what the tool throws
 */
export async function runCall(call: ToolCall, execute: (args: JsonObject) => unknown): Promise<unknown> {
  const { session, name, tool, context, isOuter = false } = call;
  const admission = isOuter ? undefined : takeAdmission(call);
  if (admission) return await execute(admission.args);
  const parsed = await parseArgs(tool, call.args);
  const args = parsed.refusal ? call.args : parsed.args;
  const given = context?.agent?.toolCallId || context?.toolCallId;
  const callId = given ? nameNested(admitted.getStore(), session, given) : undefined;
  const origin = { name, callId, runId: context?.workflow?.runId, args: parsed.args };
  const isResumed = saysItResumes(context);
  const earlier = isResumed ? findSuspended(session, origin) : undefined;
  const sessionCall = {
    callId: callId ?? earlier?.callId ?? crypto.randomUUID(),
    tool: name,
    args,
    isParsed: true,
    fingerprint: call.fingerprint,
    signal: context?.abortSignal,
    replayKey: earlier?.replayKey ?? crypto.randomUUID(),
    refusal: parsed.refusal,
  };
  // A model can write resumeData into the arguments of a call that it makes, and Mastra takes it for a person's.
  const isFresh = callId !== undefined && takeModelCall(session, callId);
  const goesOn = isResumed && !isFresh && session.hasSuspended(sessionCall);
  const isWaiting = isResumed && !isFresh && !goesOn && (await isHeld(session, origin, sessionCall));
  const refusal =
    isResumed && refuseResumed({ isKnown: goesOn || isWaiting, isDeclined: isWaiting && isDeclined(context) });
  if (isWaiting) takeAnswer(context);
  const outer = admitted.getStore();
  const admit = { session, callId: sessionCall.callId, name, isTaken: !isOuter, isHooked: false, outer, nested: 0 };
  const result = await session.run(
    refusal ? { ...sessionCall, refusal } : sessionCall,
    async (checked) =>
      await runSuspendable(context, () => admitted.run({ ...admit, args: checked }, () => execute(checked))),
    { isSuspension, keepsResults: false, resultOf: (content) => readSaid(name, content) },
  );
  if (result.isError && isSuspension(result.error)) {
    keepSuspended(session, origin, sessionCall);
    return result.error.finish();
  }
  if (result.isError && result.hold) {
    const suspended = suspendHeld(call, origin, result.hold);
    if (suspended) return await suspended.ending;
  }
  forgetHeld(session, origin);
  const isBlocked = result.isError && !("error" in result);
  if (earlier && !isBlocked) forgetSuspended(session, origin);
  return unwrapResult(result);
}

/** Whether a hook sees a call that its outer layer has checked. Once: what the tool itself calls is another call. */
export function passHook(name: string, args: unknown, owns: (session: Session) => boolean): boolean {
  const outer = findAdmission(name, args);
  if (!outer || outer.isHooked || !owns(outer.session)) return false;
  outer.isHooked = true;
  return true;
}

const FORGED = { reason: "invalid_args", detail: "they resume a call that nobody has suspended" } as const;
const DECLINED = { reason: "hold_rejected", detail: "the application has declined it" } as const;

function refuseResumed({ isKnown, isDeclined }: { readonly isKnown: boolean; readonly isDeclined: boolean }) {
  if (!isKnown) return FORGED;
  return isDeclined ? DECLINED : undefined;
}

/** A tool that two layers have locked is checked once, by the outer: what it calls itself is another call. */
function takeAdmission({ session, name, args }: ToolCall): Admitted | undefined {
  const outer = findAdmission(name, args);
  if (outer?.session !== session) return undefined;
  outer.isTaken = true;
  return outer;
}

function findAdmission(name: string, args: unknown): Admitted | undefined {
  const outer = admitted.getStore();
  if (!outer || outer.isTaken || outer.name !== name) return undefined;
  return isJsonObject(args) && jsonEqual(args, outer.args) ? outer : undefined;
}
