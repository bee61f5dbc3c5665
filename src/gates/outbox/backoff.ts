interface Failing {
  readonly failures: number;
  readonly since: number;
  readonly until: number;
}

const NEVER: Failing = { failures: 0, since: 0, until: 0 };

/** While somebody waits for a flush, no wait is longer than this. */
const MOST_IN_A_HURRY_MS = 1000;

/**
 * How long to wait after failures. A plan that failed waits; and while nothing succeeds, as when the server is down,
 * everything does, so that a thousand plans do not knock one by one.
 */
export class Backoff {
  readonly #first: number;
  readonly #most: number;
  readonly #plans = new Map<string, Failing>();
  #all = NEVER;

  constructor({ first, most }: { readonly first: number; readonly most: number }) {
    this.#first = first;
    this.#most = most;
  }

  succeeded(planId: string): void {
    this.forget(planId);
    this.#all = NEVER;
  }

  /** The plan is nobody's concern any more. */
  forget(planId: string): void {
    this.#plans.delete(planId);
  }

  /** @returns how long the plan waits now */
  failed(planId: string, atLeastMs = 0): number {
    const plan = this.#next(this.#plans.get(planId)?.failures ?? 0, atLeastMs);
    this.#plans.set(planId, plan);
    this.#all = this.#next(this.#all.failures, atLeastMs);
    return Math.round(plan.until - performance.now());
  }

  /** Nobody waits any longer than this moment. */
  hurry(): void {
    this.#all = { ...this.#all, until: 0 };
    for (const [planId, plan] of this.#plans) this.#plans.set(planId, { ...plan, until: 0 });
  }

  /** For how long nothing is sent at all. */
  pauseMs(inAHurry: boolean): number {
    return remaining(this.#all, inAHurry);
  }

  /** The plans that wait. */
  waitingPlans(inAHurry: boolean): string[] {
    return [...this.#plans].filter(([, plan]) => remaining(plan, inAHurry) > 0).map(([planId]) => planId);
  }

  /** When the next plan's wait ends; undefined if none waits. */
  nextMs(inAHurry: boolean): number | undefined {
    const waits = [...this.#plans.values()].map((plan) => remaining(plan, inAHurry)).filter((wait) => wait > 0);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  #next(before: number, atLeastMs: number): Failing {
    const delay = Math.min(this.#most, this.#first * 2 ** Math.min(before, 30));
    // Jitter, so that processes that lost the same server do not come back at once.
    const wait = Math.max(delay * (0.5 + Math.random() / 2), Math.min(atLeastMs, this.#most));
    const since = performance.now();
    return { failures: before + 1, since, until: since + wait };
  }
}

function remaining({ since, until }: Failing, inAHurry: boolean): number {
  const end = inAHurry ? Math.min(until, since + MOST_IN_A_HURRY_MS) : until;
  return Math.max(0, end - performance.now());
}
