import { type Decision, IntentlockError } from "../core/index.ts";

/** Thrown in place of a tool that may not run. The model reads its message, the application its decision. */
export class BlockedError extends IntentlockError {
  readonly decision: Decision;

  constructor(decision: Decision) {
    super("ERR_BLOCKED", decision.verdict === "block" ? decision.message : "Blocked by Intentlock");
    this.decision = decision;
  }

  /** The message alone: the SDK gives the model this text of an error. */
  override toString(): string {
    return this.message;
  }
}
