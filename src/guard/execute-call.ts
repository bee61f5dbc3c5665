import { parseJson } from "../core/index.ts";
import { describeThrown } from "../session/describe-thrown.ts";
import type { Session, SessionCall } from "../session/index.ts";
import type { Implementation } from "./define-tool.ts";

/** A call as a model has made it. Everything in it may be an attacker's. */
export interface GuardCall {
  readonly callId: string;
  readonly tool: string;
  /** Parsed, or the JSON that the model wrote. */
  readonly args: unknown;
}

/** What the model is to be told of a call. */
export interface CallResult {
  readonly callId: string;
  readonly content: string;
  /** The call was blocked, or its tool has failed. */
  readonly isError: boolean;
}

/** Never rejects: whatever is wrong with a call, its result says. */
export async function executeCall(
  session: Session,
  call: GuardCall,
  { impls, signal }: { readonly impls: ReadonlyMap<string, Implementation>; readonly signal: AbortSignal | undefined },
): Promise<CallResult> {
  const read = readCall(call);
  const { callId, tool } = read;
  // A session that knows the tool has it from the same toolset. No other call gets this far.
  const run = async (args: unknown): Promise<unknown> => await impls.get(tool)?.(args, { callId, signal });
  const result = await session.run({ ...read, signal }, run);
  const content = typeof result.content === "string" ? result.content : JSON.stringify(result.content);
  return { callId: result.callId, content, isError: result.isError };
}

/** Reads a call once. What cannot be read has no name, and no session allows it. */
function readCall(call: GuardCall): SessionCall {
  try {
    const { callId, tool, args } = call;
    return { callId, tool: typeof tool === "string" ? tool : "", ...readArgs(args) };
  } catch {
    return { callId: "", tool: "", args: undefined };
  }
}

function readArgs(args: unknown): Pick<SessionCall, "args" | "refusal"> {
  if (typeof args !== "string") return { args };
  if (args.trim() === "") return { args: {} };
  try {
    return { args: parseJson(args) };
  } catch (error) {
    return { args, refusal: { reason: "invalid_args", detail: describeThrown(error) } };
  }
}
