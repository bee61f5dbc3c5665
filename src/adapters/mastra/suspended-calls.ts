import type { Session } from "../../session/index.ts";

/** How the session knows a call that its tool has suspended. */
interface SuspendedCall {
  readonly callId: string;
  readonly replayKey: string;
}

/** Calls as Mastra tells them from others: those of a model by its id for them, those of a workflow by its run. */
export interface CallOrigin {
  readonly name: string;
  readonly callId: string | undefined;
  readonly runId: string | undefined;
  readonly args: unknown;
}

const suspendedCalls = new WeakMap<Session, Map<string, SuspendedCall>>();

/** The call that was suspended, if this one can be the same. Only a tool that suspends its call puts one here. */
export function findSuspended(session: Session, origin: CallOrigin): SuspendedCall | undefined {
  const key = nameOrigin(origin);
  return key === undefined ? undefined : suspendedCalls.get(session)?.get(key);
}

export function keepSuspended(session: Session, origin: CallOrigin, { callId, replayKey }: SuspendedCall): void {
  const key = nameOrigin(origin);
  if (key === undefined) return;
  const calls = suspendedCalls.get(session) ?? new Map<string, SuspendedCall>();
  suspendedCalls.set(session, calls);
  calls.set(key, { callId, replayKey });
}

export function forgetSuspended(session: Session, origin: CallOrigin): void {
  suspendedCalls.get(session)?.delete(nameOrigin(origin) ?? "");
}

/** A workflow has no ids for its calls: there, the same arguments in the same run are the same call. */
export function nameOrigin({ name, callId, runId, args }: CallOrigin): string | undefined {
  if (callId !== undefined) return JSON.stringify([name, callId]);
  try {
    return JSON.stringify([name, runId ?? null, args]);
  } catch {
    return undefined;
  }
}
