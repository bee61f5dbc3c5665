import { freezeArgs } from "../core/json.ts";
import type { PendingCall, SessionCall } from "./call-decider.ts";
import { describeThrown } from "./describe-thrown.ts";

/** Reads a call once: what an attacker's getter answers later does not matter. @param inFlight the calls under way, by their ids */
export function readCall(call: SessionCall, inFlight: ReadonlyMap<string, unknown>): PendingCall {
  const { callId, tool, args, isParsed, fingerprint, signal, replayKey, refusal } = readParts(call);
  const rest = { callId, tool, isParsed, clashes: inFlight.has(callId), fingerprint, signal, replayKey, refusal };
  try {
    return { ...rest, args: freezeArgs(args) };
  } catch (error) {
    return { ...rest, args: undefined, problem: describeThrown(error) };
  }
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
