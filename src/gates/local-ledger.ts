import type { Budget, Ledger, Spent } from "../core/index.ts";

/** What has been taken, and can change. */
export interface Account {
  calls: number;
  payoutMicros: number;
}

/** What each person has taken from the budget in the current window, in this process. */
export class LocalLedger {
  readonly budget: Budget | undefined;
  /** By the person, in the order in which their windows began. Kept only while a window lasts. */
  readonly #people = new Map<string, Account & { readonly since: number }>();

  constructor(budget: Budget | undefined) {
    this.budget = budget;
  }

  /** How many people have an account now. */
  get size(): number {
    return this.#people.size;
  }

  /** @param now seconds since the epoch */
  read(session: Spent, principal: string, now: number): Ledger {
    const known = this.#find(principal, now);
    return {
      session: { calls: session.calls, payoutMicros: session.payoutMicros },
      principal: { calls: known?.calls ?? 0, payoutMicros: known?.payoutMicros ?? 0 },
    };
  }

  /** Takes one call from session and principal, and gives the function that puts exactly that back, once. */
  debit(session: Account, principal: string, { now, payoutMicros }: { now: number; payoutMicros: number }): () => void {
    const accounts: Account[] = [session];
    if (this.budget?.principal) accounts.push(this.#find(principal, now) ?? this.#begin(principal, now));
    for (const account of accounts) add(account, 1, payoutMicros);
    return () => {
      for (const account of accounts.splice(0)) add(account, -1, -payoutMicros);
    };
  }

  #find(principal: string, now: number): Account | undefined {
    const known = this.#people.get(principal);
    return known && this.#lasts(known.since, now) ? known : undefined;
  }

  /** A window begins with the first call in it. */
  #begin(principal: string, now: number): Account {
    for (const [other, { since }] of this.#people) {
      if (this.#lasts(since, now)) break;
      this.#people.delete(other);
    }
    const account = { calls: 0, payoutMicros: 0, since: now };
    // To the end of the map, also for somebody who was in it.
    this.#people.delete(principal);
    this.#people.set(principal, account);
    return account;
  }

  #lasts(since: number, now: number): boolean {
    return now < since + (this.budget?.principal?.windowSeconds ?? 0);
  }
}

function add(account: Account, calls: number, payoutMicros: number): void {
  account.calls += calls;
  account.payoutMicros += payoutMicros;
}
