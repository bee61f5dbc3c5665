import { AsyncLocalStorage } from "node:async_hooks";
import { isJsonObject, type JsonObject } from "../../core/index.ts";
import { jsonEqual } from "../../core/json.ts";
import { BlockedError, type Session, type SessionCall } from "../../session/index.ts";
import { type AnyTool, parseArgs } from "./describe-tool.ts";

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

/** What Mastra hands to `execute` beside the arguments, in one of its shapes. */
export interface ToolContext extends Suspendable {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal;
  readonly requestContext?: unknown;
  agent?: Suspendable & { readonly toolCallId?: string };
  workflow?: Suspendable;
}

interface Suspendable {
  suspend?: (...parts: unknown[]) => unknown;
  readonly resumeData?: unknown;
}

/** Thrown in place of what a tool gives that has suspended its call. */
class Suspension {
  readonly finish: () => unknown;

  constructor(finish: () => unknown) {
    this.finish = finish;
  }
}

/** A call that was allowed, while its tool runs. */
interface Admitted {
  readonly session: Session;
  readonly name: string;
  readonly args: JsonObject;
  /** Whether the lock inside of the one that admitted the call has run the tool, or there is none. */
  isTaken: boolean;
}

const admitted = new AsyncLocalStorage<Admitted>();

/** The names under which suspended calls go on: only a tool that suspends puts one here. */
const replayKeys = new WeakMap<Session, Map<string, string>>();

/**
 * Checks a call, and runs the tool with what was checked.
 *
 * @throws BlockedError, or what the tool throws
 */
export async function runCall(call: ToolCall, execute: (args: JsonObject) => unknown): Promise<unknown> {
  const { session, name, tool, context } = call;
  const { isOuter = false } = call;
  const admission = isOuter ? undefined : takeAdmission(call);
  if (admission) return await execute(admission.args);
  const parsed = await parseArgs(tool, call.args);
  const callId = context?.agent?.toolCallId ?? context?.toolCallId ?? crypto.randomUUID();
  const keys = keysOf(session);
  const id = JSON.stringify([callId, name]);
  const sessionCall: SessionCall = {
    callId,
    tool: name,
    args: parsed.refusal ? call.args : parsed.args,
    isParsed: true,
    fingerprint: call.fingerprint,
    signal: context?.abortSignal,
    replayKey: keys.get(id) ?? crypto.randomUUID(),
    refusal: parsed.refusal,
  };
  // A model can write resumeData into its arguments, and Mastra takes it for a person's.
  const isForged = isResumed(context) && !session.hasSuspended(sessionCall);
  const result = await session.run(
    isForged ? { ...sessionCall, refusal: FORGED } : sessionCall,
    async (args) =>
      await runSuspendable(context, () =>
        admitted.run({ session, name, args, isTaken: !isOuter }, () => execute(args)),
      ),
    { isSuspension, keepsResults: false },
  );
  if (!result.isError) {
    keys.delete(id);
    return result.content;
  }
  if (!("error" in result)) throw new BlockedError(result.decision);
  if (!isSuspension(result.error)) throw result.error;
  keys.set(id, sessionCall.replayKey ?? "");
  return result.error.finish();
}

/** Whether a tool of this name runs inside of a check of this session. */
export function isAdmitted(session: Session, name: string): boolean {
  const outer = admitted.getStore();
  return outer?.session === session && outer.name === name;
}

const FORGED = { reason: "invalid_args", detail: "they resume a call that nobody has suspended" } as const;

/** A tool that two layers have locked is checked once, by the outer: what it calls itself is another call. */
function takeAdmission({ session, name, args }: ToolCall): Admitted | undefined {
  const outer = admitted.getStore();
  if (outer?.session !== session || outer.name !== name || outer.isTaken) return undefined;
  if (!isJsonObject(args) || !jsonEqual(args, outer.args)) return undefined;
  outer.isTaken = true;
  return outer;
}

function keysOf(session: Session): Map<string, string> {
  const keys = replayKeys.get(session) ?? new Map<string, string>();
  replayKeys.set(session, keys);
  return keys;
}

function isResumed(context: ToolContext | undefined): boolean {
  return [context, context?.agent, context?.workflow].some((holder) => holder?.resumeData != null);
}

function isSuspension(thrown: unknown): thrown is Suspension {
  return thrown instanceof Suspension;
}

/** Runs a tool, and tells by what it calls whether it has suspended its call. */
async function runSuspendable(context: ToolContext | undefined, run: () => unknown): Promise<unknown> {
  let isSuspended = false;
  // In place: a copy of the context would lose what Mastra knows it by.
  for (const holder of [context, context?.agent, context?.workflow]) {
    const suspend = holder?.suspend;
    if (!holder || typeof suspend !== "function") continue;
    holder.suspend = (...parts) => {
      isSuspended = true;
      return Reflect.apply(suspend, holder, parts);
    };
  }
  try {
    const content = await run();
    if (!isSuspended) return content;
    throw new Suspension(() => content);
  } catch (error) {
    if (!isSuspended || isSuspension(error)) throw error;
    throw new Suspension(() => {
      throw error;
    });
  }
}
