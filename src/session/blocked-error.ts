import { type Decision, IntentlockError } from "../core/index.ts";
import type { PendingHold } from "./call-decider.ts";
import type { ErrorResult, RunResult } from "./session.ts";

/** Thrown in place of a tool that may not run. The model reads its message, the application its decision. */
export class BlockedError extends IntentlockError {
  readonly decision: Decision;
  /** The person who was asked about the call has not answered yet. */
  readonly hold: PendingHold | undefined;

  constructor(decision: Decision, held?: Pick<ErrorResult, "content" | "hold">) {
    super("ERR_BLOCKED", decision.verdict === "block" ? decision.message : (held?.content ?? "Blocked by Intentlock"));
    this.decision = decision;
    this.hold = held?.hold;
  }

  /** The message alone: the SDK gives the model this text of an error. */
  override toString(): string {
    return this.message;
  }
}

/** The content of a result. @throws BlockedError, or what the tool threw: the very object that it was */
export function unwrapResult<T>(result: RunResult<T>): T {
  if (!result.isError) return result.content;
  throw "error" in result ? result.error : new BlockedError(result.decision, result);
}
