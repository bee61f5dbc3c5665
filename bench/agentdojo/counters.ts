import type { Decision } from "intentlock/core";

/** So many of so many. */
export interface Share {
  readonly count: number;
  readonly of: number;
}

/** Shares by suite, and their sum as `total`. */
export type Shares = Readonly<Record<string, Share>>;

/** Counts by suite what holds, of what was looked at. */
export class SuiteCounter {
  readonly #suites: Map<string, Share>;

  constructor(suites: readonly string[]) {
    this.#suites = new Map(suites.map((name) => [name, { count: 0, of: 0 }]));
  }

  add(suite: string, holds: boolean): void {
    const { count, of } = this.#suites.get(suite) ?? { count: 0, of: 0 };
    this.#suites.set(suite, { count: count + (holds ? 1 : 0), of: of + 1 });
  }

  shares(): Shares {
    const all = [...this.#suites.values()];
    const total = { count: sum(all.map(({ count }) => count)), of: sum(all.map(({ of }) => of)) };
    return { ...Object.fromEntries(this.#suites), total };
  }
}

/** Blocked calls by the reason that the gate gave, of all calls in `what`. */
export interface BlockedCalls {
  readonly what: string;
  readonly calls: number;
  readonly reasons: Readonly<Record<string, number>>;
}

export class ReasonCounter {
  readonly #reasons = new Map<string, number>();
  #calls = 0;

  add(decisions: readonly Decision[]): void {
    this.#calls += decisions.length;
    for (const decision of decisions) {
      if (decision.verdict !== "block") continue;
      this.#reasons.set(decision.reason, (this.#reasons.get(decision.reason) ?? 0) + 1);
    }
  }

  result(what: string): BlockedCalls {
    return { what, calls: this.#calls, reasons: Object.fromEntries(this.#reasons) };
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}
