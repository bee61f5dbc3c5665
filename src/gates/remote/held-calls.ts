import type { OpenHold } from "../../core/api/index.ts";
import { type HoldDecision, IntentlockError } from "../../core/index.ts";
import type { HoldResolution, OpenedHold } from "../gate.ts";
import { awaitHold, lookAtHold, openHold, type WaitOptions } from "./await-hold.ts";
import type { ServerClient } from "./server-client.ts";

/** What a person was asked about before. */
type EarlierHold = Pick<OpenHold, "holdId" | "expiresAt" | "digest" | "tool">;

/** The calls of a gate that wait for people. */
export class HeldCalls {
  readonly #client: ServerClient;
  /** What a person is asked about, by the decision. */
  readonly #args = new WeakMap<HoldDecision, unknown>();
  /** The holds of plans that go on: the same action, asked again, is the one that a person was asked about. */
  readonly #earlier = new Map<string, EarlierHold[]>();

  constructor(client: ServerClient) {
    this.#client = client;
  }

  add(hold: HoldDecision, args: unknown): void {
    this.#args.set(hold, args);
  }

  /** Goes on with the holds of a plan. */
  resume(planId: string, holds: readonly OpenHold[]): void {
    this.#earlier.set(planId, [...holds]);
  }

  /** Whether a call of the plan was suspended, and waits for a person or for its run to go on. */
  waits(planId: string): boolean {
    return (this.#earlier.get(planId)?.length ?? 0) > 0;
  }

  forget(planId: string): void {
    this.#earlier.delete(planId);
  }

  /**
   * Asks a person, or goes on with what they were asked before: then it says what has become of that.
   *
   * @param prepare makes sure that the server has the decision; gives why not, if it has not
   * @throws IntentlockError `ERR_HOLD` for a decision that this gate has not given
   */
  async open(hold: HoldDecision, prepare: Prepare): Promise<OpenedHold> {
    const earlier = this.#takeEarlier(hold);
    if (!earlier) {
      const asked = await this.#ask(hold, prepare);
      if (asked.status === "pending") this.#remember(hold, asked);
      return asked;
    }
    const { opened, isOver } = await lookAtHold(this.#client, earlier.holdId);
    if (!isOver) this.#remember(hold, earlier);
    return opened;
  }

  /** Asks a person, or goes on with what they were asked before, and waits. @throws as {@link open}; the signal's reason */
  async await(hold: HoldDecision, prepare: Prepare, options: WaitOptions): Promise<HoldResolution> {
    const deadline = performance.now() + options.timeoutMs;
    const left = (): WaitOptions => ({ ...options, timeoutMs: Math.max(0, deadline - performance.now()) });
    const opened = this.#takeEarlier(hold) ?? (await this.#ask(hold, prepare, left));
    if (opened.status !== "pending") return opened;
    return await awaitHold(this.#client, opened.holdId, left());
  }

  async #ask(hold: HoldDecision, prepare: Prepare, left?: () => WaitOptions): Promise<OpenedHold> {
    const { planId, seq: decisionSeq } = hold;
    if (decisionSeq === undefined || !this.#args.has(hold)) {
      throw new IntentlockError("ERR_HOLD", "Expected the very decision that check gave");
    }
    const problem = await prepare();
    return problem ?? (await openHold(this.#client, { planId, decisionSeq, args: this.#args.get(hold) }, left?.()));
  }

  #takeEarlier({ planId, digest, tool }: HoldDecision): PendingHold | undefined {
    const holds = this.#earlier.get(planId) ?? [];
    const index = holds.findIndex((hold) => hold.digest === digest && hold.tool === tool);
    const [earlier] = index < 0 ? [] : holds.splice(index, 1);
    return earlier && { status: "pending", holdId: earlier.holdId, expiresAt: earlier.expiresAt };
  }

  #remember({ planId, digest = "", tool }: HoldDecision, { holdId, expiresAt }: PendingHold): void {
    const holds = this.#earlier.get(planId) ?? [];
    this.#earlier.set(planId, holds);
    holds.push({ holdId, expiresAt, digest, tool });
  }
}

type PendingHold = Extract<OpenedHold, { status: "pending" }>;
type Prepare = () => Promise<Extract<OpenedHold, { status: "blocked" }> | undefined>;
