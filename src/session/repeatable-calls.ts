import type { AllowDecision, JsonObject } from "../core/index.ts";
import { jsonEqual } from "../core/json.ts";
import type { PendingCall } from "./call-decider.ts";
import type { RunResult } from "./session.ts";

/** A call that was allowed and has begun, and that its tool has suspended. */
export interface SuspendedCall {
  readonly call: PendingCall;
  readonly decision: AllowDecision;
  readonly args: JsonObject;
}

type Repeatable =
  | { readonly call: PendingCall; readonly result: RunResult<unknown>; readonly suspended?: undefined }
  | { readonly call: PendingCall; readonly suspended: SuspendedCall; readonly result?: undefined };

/** Results are kept for steps that a framework runs again soon: more than these are none of the same step. */
const MAX_REPEATABLE = 256;

/**
 * The calls of a session that a framework may run again, by the step that it runs again: those that gave a result, and
 * those that their tools suspended. A call that failed is not among them, since running it again is a retry, and counts.
 */
export class RepeatableCalls {
  readonly #calls = new Map<string, Repeatable>();

  find(call: PendingCall): Repeatable | undefined {
    const key = keyOf(call);
    const earlier = key === undefined ? undefined : this.#calls.get(key);
    return earlier && isTwin(earlier.call, call) ? earlier : undefined;
  }

  /** The same call gets the result when it comes again. */
  keep(call: PendingCall, result: RunResult<unknown>): void {
    this.#add({ call, result });
  }

  /** Whether the call can go on later. */
  suspend(suspended: SuspendedCall): boolean {
    return this.#add({ call: suspended.call, suspended });
  }

  /** Run again, it is a call like any other. */
  forget(call: PendingCall): void {
    const key = keyOf(call);
    if (key !== undefined) this.#calls.delete(key);
  }

  /** The calls that nobody has gone on with, none of which can go on after this. */
  takeSuspended(): SuspendedCall[] {
    const taken = [...this.#calls.values()].flatMap(({ suspended }) => suspended ?? []);
    this.#calls.clear();
    return taken;
  }

  #add(repeatable: Repeatable): boolean {
    const key = keyOf(repeatable.call);
    if (key === undefined) return false;
    this.#calls.delete(key);
    this.#calls.set(key, repeatable);
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= MAX_REPEATABLE) break;
      this.#calls.delete(oldest);
    }
    return true;
  }
}

/** A refused call has no step: what it was refused for may not hold any more. */
function keyOf({ replayKey, callId, tool, clashes, refusal }: PendingCall): string | undefined {
  if (replayKey === undefined || clashes || refusal) return undefined;
  // With the lengths, no other three texts give the same one.
  return `${replayKey.length},${callId.length},${replayKey}${callId}${tool}`;
}

/** Whether two calls of one id are the same call, made twice. */
export function isTwin(earlier: PendingCall, call: PendingCall): boolean {
  if (earlier.tool !== call.tool || earlier.fingerprint !== call.fingerprint || call.refusal) return false;
  return earlier.args !== undefined && call.args !== undefined && jsonEqual(call.args, earlier.args);
}
