import { LEEWAY_SECONDS } from "../../core/index.ts";
import type { GateListener } from "../gate.ts";
import { tell } from "./tell.ts";

/** Less is forgiven anyway. */
const TELL_MS = LEEWAY_SECONDS * 1000;

/**
 * The server's time, by this machine's clock and what that is off by. It is learnt whenever a plan is signed, and exact to
 * half the duration of that request.
 */
export class ServerClock {
  readonly #local: () => number;
  #offsetMs = 0;
  #toldMs = 0;

  /** @param local milliseconds since the epoch */
  constructor(local: () => number) {
    this.#local = local;
  }

  /** Milliseconds since the epoch, by the server's clock as far as it is known. */
  now(): number {
    return this.#local() + this.#offsetMs;
  }

  /** How far the server's clock is ahead of this machine's, in milliseconds. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Runs a request whose answer has the server's time, learns from it, and tells of a clock that is off, once. */
  async learn<Answer extends { readonly serverTime: number }>(
    ask: () => Promise<Answer>,
    listener: GateListener | undefined,
  ): Promise<Answer> {
    const asked = this.#local();
    const started = performance.now();
    const answer = await ask();
    const tookMs = performance.now() - started;
    const most = answer.serverTime - asked;
    // Where the two clocks may agree, they do: half of the request's duration is no difference.
    this.#offsetMs = most >= 0 && most <= tookMs ? 0 : Math.round(most - tookMs / 2);
    if (Math.abs(this.#offsetMs) >= TELL_MS && Math.abs(this.#offsetMs - this.#toldMs) >= TELL_MS) {
      this.#toldMs = this.#offsetMs;
      const seconds = Math.round(Math.abs(this.#offsetMs) / 1000);
      const where = this.#offsetMs > 0 ? "behind" : "ahead of";
      tell(listener, {
        code: "clock_skew",
        message: `This machine's clock is ${seconds} s ${where} the server's. Decisions go by the server's; set the clock.`,
      });
    }
    return answer;
  }
}
