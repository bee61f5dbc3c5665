import type { Session } from "./session.ts";

/** A call whose tool runs, and around it the calls whose tools have made it. */
export interface RunningCall {
  readonly session: Session;
  readonly callId: string;
  readonly outer: RunningCall | undefined;
  /** How many calls the tool has made under the same id. */
  nested: number;
}

/**
 * The id of a call. A tool that hands what it was called with on to another hands on its call's id too: what comes of that
 * is another call, which would wait for itself under the same id. It gets the same name when a framework runs the tool again.
 */
export function nameNested(running: RunningCall | undefined, session: Session, callId: string): string {
  for (let call = running; call; call = call.outer) {
    if (call.session === session && call.callId === callId) return `${callId}:${++call.nested}`;
  }
  return callId;
}
