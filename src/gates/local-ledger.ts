import { addCall, takeBack } from "../core/budget.ts";
import type { Budget, Ledger, Spent } from "../core/index.ts";
import { addToWindow, EMPTY_WINDOW, type SlidingWindow, sumWindow, takeFromWindow } from "../core/sliding-window.ts";

/** What has been taken, and can change. */
export interface Account {
  calls: number;
  payoutMicros: number;
}

/** What each person has taken from the budget within its window, in this process. */
export class LocalLedger {
  readonly budget: Budget | undefined;
  /** By the person, in the order of their last calls. Kept only while a call counts. */
  readonly #people = new Map<string, SlidingWindow>();

  constructor(budget: Budget | undefined) {
    this.budget = budget;
  }

  /** How many people have taken something that counts. */
  get size(): number {
    return this.#people.size;
  }

  /** @param now seconds since the epoch */
  read(session: Spent, principal: string, now: number): Ledger {
    const { calls, payoutMicros } = session;
    const windowSeconds = this.budget?.principal?.windowSeconds ?? 0;
    const window = this.#people.get(principal) ?? EMPTY_WINDOW;
    return { session: { calls, payoutMicros }, principal: sumWindow(window, windowSeconds, now) };
  }

  /** Takes one call from session and principal, and gives the function that puts exactly that back, once. */
  debit(session: Account, principal: string, { now, payoutMicros }: { now: number; payoutMicros: number }): () => void {
    const slotEnd = this.#debitPerson(principal, { now, payoutMicros });
    Object.assign(session, addCall(session, payoutMicros));
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      Object.assign(session, takeBack(session, payoutMicros));
      const window = slotEnd === undefined ? undefined : this.#people.get(principal);
      if (window && slotEnd !== undefined)
        this.#people.set(principal, takeFromWindow(window, { slotEnd, payoutMicros }));
    };
  }

  #debitPerson(principal: string, { now, payoutMicros }: { now: number; payoutMicros: number }): number | undefined {
    const windowSeconds = this.budget?.principal?.windowSeconds;
    if (windowSeconds === undefined) return undefined;
    for (const [other, { slots }] of this.#people) {
      if (slots.some(({ end }) => end + windowSeconds > now)) break;
      this.#people.delete(other);
    }
    const before = this.#people.get(principal) ?? EMPTY_WINDOW;
    const { window, slotEnd } = addToWindow(before, { windowSeconds, now, payoutMicros });
    // To the end of the map, also for somebody who was in it.
    this.#people.delete(principal);
    this.#people.set(principal, window);
    return slotEnd;
  }
}
