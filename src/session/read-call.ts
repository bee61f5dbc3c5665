import { freezeArgs } from "../core/json.ts";
import type { PendingCall, SessionCall } from "./call-decider.ts";
import { describeThrown } from "./describe-thrown.ts";

/** Reads a call once: what an attacker's getter answers later does not matter. @param inFlight the calls under way, by their ids */
export function readCall(call: SessionCall, inFlight: ReadonlyMap<string, unknown>): PendingCall {
  const { callId, tool, args, isParsed, fingerprint, signal, replayKey, refusal } = readParts(call);
  return {
    callId,
    tool,
    ...readArgs(args),
    ...(isParsed && { isParsed }),
    clashes: inFlight.has(callId),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(signal && { signal }),
    ...(replayKey !== undefined && { replayKey }),
    ...(refusal && { refusal }),
  };
}

/** A call that cannot be read has no name, and no gate allows it. */
function readParts(call: SessionCall): SessionCall {
  try {
    const { callId, tool, args, isParsed, fingerprint, signal, replayKey, refusal } = call;
    return { callId, tool, args, isParsed, fingerprint, signal, replayKey, refusal };
  } catch {
    return { callId: "", tool: "", args: undefined };
  }
}

function readArgs(args: unknown): Pick<PendingCall, "args" | "problem"> {
  try {
    return { args: freezeArgs(args) };
  } catch (error) {
    return { args: undefined, problem: describeThrown(error) };
  }
}
