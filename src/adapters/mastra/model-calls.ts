import type { Session } from "../../session/index.ts";

const modelCalls = new WeakMap<Session, Map<string, number>>();

/** A model has just made a call of this id. Until its tool runs, the next call of the id is this one, and no resumed one. */
export function noteModelCall(session: Session, callId: string): void {
  const counts = modelCalls.get(session) ?? new Map<string, number>();
  modelCalls.set(session, counts);
  counts.set(callId, (counts.get(callId) ?? 0) + 1);
}

/** Whether a model has just made the call. Its tool runs now, and may suspend it and go on with it later. */
export function takeModelCall(session: Session, callId: string): boolean {
  const counts = modelCalls.get(session);
  const count = counts?.get(callId) ?? 0;
  if (count === 0) return false;
  if (count === 1) counts?.delete(callId);
  else counts?.set(callId, count - 1);
  return true;
}
