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
  /** By step, the one that was longest without a call first. */
  readonly #steps = new Map<string, Repeatable[]>();
  #size = 0;

  find(call: PendingCall): Repeatable | undefined {
    const step = stepOf(call);
    if (step === undefined) return undefined;
    return this.#steps.get(step)?.find((earlier) => isNamed(earlier.call, call) && isTwin(earlier.call, call));
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
    const step = stepOf(call);
    if (step === undefined) return;
    const calls = this.#steps.get(step) ?? [];
    const others = calls.filter((earlier) => !isNamed(earlier.call, call));
    this.#size -= calls.length - others.length;
    if (others.length > 0) this.#steps.set(step, others);
    else this.#steps.delete(step);
  }

  /** The calls that nobody has gone on with, none of which can go on after this. */
  takeSuspended(): SuspendedCall[] {
    const taken = [...this.#steps.values()].flat().flatMap(({ suspended }) => suspended ?? []);
    this.#steps.clear();
    this.#size = 0;
    return taken;
  }

  #add(repeatable: Repeatable): boolean {
    const step = stepOf(repeatable.call);
    if (step === undefined) return false;
    this.forget(repeatable.call);
    const calls = this.#steps.get(step) ?? [];
    this.#steps.delete(step);
    this.#steps.set(step, [...calls, repeatable]);
    this.#size++;
    if (this.#size > MAX_REPEATABLE) this.#removeOldest();
    return true;
  }

  #removeOldest(): void {
    const [oldest] = this.#steps.values().next().value ?? [];
    if (oldest) this.forget(oldest.call);
  }
}

/** The step of a call; none for a refused one: what it was refused for may not hold any more. */
function stepOf({ replayKey, clashes, refusal }: PendingCall): string | undefined {
  return clashes || refusal ? undefined : replayKey;
}

function isNamed(earlier: PendingCall, { callId, tool }: PendingCall): boolean {
  return earlier.callId === callId && earlier.tool === tool;
}

/** Whether two calls of one id are the same call, made twice. */
export function isTwin(earlier: PendingCall, call: PendingCall): boolean {
  if (earlier.tool !== call.tool || earlier.fingerprint !== call.fingerprint || call.refusal) return false;
  return earlier.args !== undefined && call.args !== undefined && jsonEqual(call.args, earlier.args);
}
