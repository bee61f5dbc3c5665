import type { Budget, Ledger, Spent } from "../core/index.ts";

/** What each person has taken from the budget in the current window, in this process. */
export class LocalLedger {
  readonly budget: Budget | undefined;
  readonly #people = new Map<string, Account & { readonly since: number }>();

  constructor(budget: Budget | undefined) {
    this.budget = budget;
  }

  /** @param now seconds since the epoch */
  read(session: Spent, principal: string, now: number): Ledger {
    const { calls, payoutMicros } = this.#account(principal, now);
    return {
      session: { calls: session.calls, payoutMicros: session.payoutMicros },
      principal: { calls, payoutMicros },
    };
  }

  /** Takes one call from session and principal, and gives the function that puts exactly that back, once. */
  debit(session: Account, principal: string, { now, payoutMicros }: { now: number; payoutMicros: number }): () => void {
    const accounts: Account[] = [session, this.#account(principal, now)];
    for (const account of accounts) add(account, 1, payoutMicros);
    return () => {
      for (const account of accounts.splice(0)) add(account, -1, -payoutMicros);
    };
  }

  /** A window begins with the first look into it and is followed by a new account. */
  #account(principal: string, now: number): Account {
    const windowSeconds = this.budget?.principal?.windowSeconds ?? Number.POSITIVE_INFINITY;
    const known = this.#people.get(principal);
    if (known && now < known.since + windowSeconds) return known;
    const fresh: Account & { readonly since: number } = { calls: 0, payoutMicros: 0, since: now };
    if (this.budget) this.#people.set(principal, fresh);
    return fresh;
  }
}

/** What has been taken, and can change. */
export interface Account {
  calls: number;
  payoutMicros: number;
}

function add(account: Account, calls: number, payoutMicros: number): void {
  account.calls += calls;
  account.payoutMicros += payoutMicros;
}
