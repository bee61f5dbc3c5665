import type { AllowDecision, JsonObject, OutcomeStatus } from "../core/index.ts";
import type { CallEnd } from "./call-decider.ts";

/** What an admitted call needs of its session. */
export interface AdmittedParts {
  readonly decision: AllowDecision;
  readonly args: JsonObject;
  /** Nothing may start any more. */
  readonly isOver: () => boolean;
  /** Called once. */
  readonly settle: (status: OutcomeStatus, end: CallEnd) => Promise<void>;
}

export interface SettleOptions {
  /** What the tool gave, and nothing of what the call came with. Only looked at with `ok`. */
  readonly result?: unknown;
  /** What of the result the tool itself has said. Default: all of it. Asked for only if the plan has such sources. */
  readonly resultOf?: (result: unknown) => unknown;
}

/**
 * A call that was allowed, and that somebody else runs: a proxy, a queue, another process. The verdict is claimed once
 * before the tool starts, and settled once. Call ids are not unique; this object is.
 */
export class AdmittedCall {
  readonly isError = false;
  readonly decision: AllowDecision;
  /** What was checked, frozen. Run the tool with this and not with what the call came with. */
  readonly args: JsonObject;
  readonly #parts: AdmittedParts;
  #state: "open" | "claimed" | "settled" = "open";
  #started = 0;

  constructor(parts: AdmittedParts) {
    this.decision = parts.decision;
    this.args = parts.args;
    this.#parts = parts;
  }

  get callId(): string {
    return this.decision.callId;
  }

  /**
   * Whether the tool may start now: true once. A call whose session is closed or was aborted in the meantime is not run,
   * and what it took is given back.
   */
  async claim(): Promise<boolean> {
    if (this.#state !== "open") return false;
    if (this.#parts.isOver()) {
      await this.release();
      return false;
    }
    this.#state = "claimed";
    this.#started = performance.now();
    return true;
  }

  /** Gives back what the call took, if nobody has claimed it. */
  async release(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "settled";
    await this.#parts.settle("aborted", {});
  }

  /**
   * Says what became of the claimed call. The first word counts, and there is none without a claim.
   *
   * @param status `aborted` only if the tool was never reached: what the call took is given back. `unknown` if it was, and
   * what it did is not known.
   * @param options.result with `ok`: what later calls may have copied values from, if the plan says so
   */
  async settle(status: OutcomeStatus, options: SettleOptions = {}): Promise<void> {
    if (this.#state !== "claimed") return;
    this.#state = "settled";
    if (status === "aborted") return await this.#parts.settle(status, {});
    const { result, resultOf = (given) => given } = options;
    await this.#parts.settle(status, { durationMs: performance.now() - this.#started, result: () => resultOf(result) });
  }
}
