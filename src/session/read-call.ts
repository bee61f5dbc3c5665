import type { Json } from "../core/index.ts";
import { freezeArgs } from "../core/json.ts";
import type { PendingCall, SessionCall } from "./call-decider.ts";
import { describeThrown } from "./describe-thrown.ts";

/** Reads a call once: what an attacker's getter answers later does not matter. @param inFlight the calls under way, by their ids */
export function readCall(call: SessionCall, inFlight: ReadonlyMap<string, unknown>): PendingCall {
  const { callId, tool, args: given, isParsed, fingerprint, signal, replayKey, refusal } = readParts(call);
  let args: Json | undefined;
  let problem: string | undefined;
  try {
    args = freezeArgs(given);
  } catch (error) {
    problem = describeThrown(error);
  }
  const clashes = inFlight.has(callId);
  return { callId, tool, args, problem, isParsed, clashes, fingerprint, signal, replayKey, refusal };
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
