import { AsyncLocalStorage } from "node:async_hooks";
import type { Session } from "../../session/index.ts";
import { nameNested, type RunningCall } from "../../session/nested-call.ts";

/** What locked tools tell callback handlers of themselves: nobody else can put an object in here. */
const announcements = new WeakSet<object>();
const running = new AsyncLocalStorage<RunningCall | undefined>();

/** Marks what a locked tool gives to `handleToolStart` as its own description. */
export function announceLocked<T extends object>(serialized: T): T {
  announcements.add(serialized);
  return serialized;
}

/** Whether a tool that starts makes its own check, or is called by one that did and is its implementation. */
export function isGated(serialized?: unknown): boolean {
  if (running.getStore() !== undefined) return true;
  return typeof serialized === "object" && serialized !== null && announcements.has(serialized);
}

/** Runs a tool that was allowed: the tools that it calls itself are its implementation. */
export function runInsideTool<T>(call: { readonly session: Session; readonly callId: string }, work: () => T): T {
  return running.run({ ...call, outer: running.getStore(), nested: 0 }, work);
}

/** Runs what calls tools for a model, be it inside of a tool: an agent in an agent has tools of its own to lock. */
export function runOutsideTools<T>(work: () => T): T {
  return running.getStore() === undefined ? work() : running.run(undefined, work);
}

/** The id of a call, be it made by a tool that runs under the same. */
export function nameCall(session: Session, callId: string): string {
  return nameNested(running.getStore(), session, callId);
}
