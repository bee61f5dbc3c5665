import { AsyncLocalStorage } from "node:async_hooks";

/** What locked tools tell callback handlers of themselves: nobody else can put an object in here. */
const announcements = new WeakSet<object>();
const running = new AsyncLocalStorage<true>();

/** Marks what a locked tool gives to `handleToolStart` as its own description. */
export function announceLocked<T extends object>(serialized: T): T {
  announcements.add(serialized);
  return serialized;
}

/** Whether a tool that starts is a locked one, which makes its own check. */
export function isAnnounced(serialized: unknown): boolean {
  return typeof serialized === "object" && serialized !== null && announcements.has(serialized);
}

/** Runs a tool that was allowed: the tools that it calls itself are its implementation. */
export function runInsideTool<T>(work: () => T): T {
  return running.run(true, work);
}

export function isInsideTool(): boolean {
  return running.getStore() === true;
}
