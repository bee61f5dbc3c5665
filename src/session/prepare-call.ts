import type { BlockReason } from "../core/index.ts";
import { freezeArgs } from "../core/json.ts";
import type { Block } from "../core/verdict.ts";
import type { GateCall } from "../gates/gate.ts";
import type { PendingCall, SessionParts } from "./call-decider.ts";
import { describeThrown } from "./describe-thrown.ts";
import type { SessionTool } from "./session-tool.ts";

export const ABORTED: Block & { readonly reason: "aborted" } = {
  reason: "aborted",
  stage: "gate",
  detail: "the run was aborted",
};

/** The call as the gate gets it: arguments parsed with the tool's own schema, or the reason why they were not. */
export function prepareCall(
  pending: PendingCall,
  { tools, fingerprints }: Pick<SessionParts, "tools" | "fingerprints">,
  isAborted: boolean,
): GateCall | Promise<GateCall> {
  const { callId, tool: name, args, problem, clashes } = pending;
  const signed = Object.hasOwn(fingerprints, name) ? fingerprints[name] : undefined;
  const fingerprint = pending.fingerprint ?? signed;
  const call: GateCall =
    fingerprint === undefined ? { callId, tool: name, args } : { callId, tool: name, args, fingerprint };
  if (pending.refusal) return refuse(call, pending.refusal.reason, pending.refusal.detail);
  if (isAborted) return { ...call, refusal: ABORTED };
  if (clashes) return refuse(call, "invalid_call", "another call is in flight under the same id");
  const tool = tools.get(name);
  if (!tool) return refuse(call, "unknown_tool", "the session has no such tool");
  if (args === undefined) return refuse(call, "invalid_call", `the arguments are ${problem}`);
  return tool.parse && !pending.isParsed ? parseArgs(call, tool) : call;
}

async function parseArgs(call: GateCall, tool: SessionTool): Promise<GateCall> {
  let parsed: unknown;
  try {
    parsed = await tool.parse?.(call.args);
  } catch (error) {
    return refuse(call, "invalid_args", describeThrown(error).slice(0, 1000));
  }
  try {
    return { ...call, args: freezeArgs(parsed) };
  } catch (error) {
    return refuse(call, "invalid_args", `what the tool's schema makes of them is ${describeThrown(error)}`);
  }
}

function refuse(call: GateCall, reason: BlockReason, detail: string): GateCall {
  return { ...call, refusal: { reason, stage: reason === "invalid_args" ? "schema" : "parse", detail } };
}
