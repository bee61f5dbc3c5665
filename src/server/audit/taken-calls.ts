import { countAllButReserved } from "../../core/budget.ts";
import {
  type AuditEvent,
  type DecisionRecord,
  type OpenedToken,
  recomputeDecision,
  type SourceMatch,
  type Spent,
} from "../../core/index.ts";
import { TASK } from "../../core/sources/source.ts";
import type { KnownPlan } from "../plans/plan-changes.ts";
import type { OpenCall } from "../store/index.ts";
import type { StepsOfCalls } from "./given-calls.ts";

/** What a client's decisions have taken, by its own entries. */
export class TakenCalls {
  readonly #used: number[];
  #calls: number;
  #payoutMicros: number;
  readonly #open: Map<string, OpenCall>;
  /** The steps of calls that these entries say have run, by the number of the decision. */
  readonly #given = new Map<number, number>();

  constructor({ used, spent, openCalls }: Pick<KnownPlan, "used" | "spent" | "openCalls">) {
    this.#used = [...used];
    this.#calls = spent.calls;
    this.#payoutMicros = spent.payoutMicros;
    this.#open = new Map(Object.entries(openCalls));
  }

  get used(): readonly number[] {
    return this.#used;
  }

  get spent(): Spent {
    return { calls: this.#calls, payoutMicros: this.#payoutMicros };
  }

  get openCalls(): Readonly<Record<string, OpenCall>> {
    return Object.fromEntries(this.#open);
  }

  /** Counts a call that was allowed and not blocked otherwise, also if it should not have been. */
  add(seq: number, event: DecisionRecord, token: OpenedToken | undefined): void {
    const { verdict, answer, step } = event;
    if (verdict !== "allow" || answer !== undefined || step === undefined || step >= this.#used.length) return;
    const payoutMicros = token ? payoutOf(event, token) : 0;
    this.#used[step] = (this.#used[step] ?? 0) + 1;
    this.#calls += 1;
    this.#payoutMicros += payoutMicros;
    this.#open.set(String(seq), { step, payoutMicros, at: Math.floor(event.now * 1000) });
  }

  /** False unless the outcome is the first of a call that was allowed. */
  settle({ decisionSeq, status }: Extract<AuditEvent, { type: "outcome" }>): boolean {
    const call = this.#open.get(String(decisionSeq));
    if (!call) return false;
    this.#open.delete(String(decisionSeq));
    if (status === "ok") this.#given.set(decisionSeq, call.step);
    if (status !== "aborted") return true;
    this.#used[call.step] = Math.max(0, (this.#used[call.step] ?? 0) - 1);
    this.#calls = Math.max(0, this.#calls - 1);
    this.#payoutMicros = Math.max(0, this.#payoutMicros - call.payoutMicros);
    return true;
  }

  /** Counts of a decision may be higher than these: of calls whose entry was not written. Lower ones hide some. */
  areIn({ used, evidence }: DecisionRecord): boolean {
    const session = evidence?.ledger?.session;
    const isSpent = !session || (session.calls >= this.#calls && session.payoutMicros >= this.#payoutMicros);
    return isSpent && this.#used.every((count, step) => (used[step] ?? 0) >= count);
  }

  /**
   * Whether the calls whose results are named as sources have run before, under the steps that are named.
   *
   * @param earlier of the entries before these
   */
  haveGiven(sources: readonly SourceMatch[], { plan }: Pick<KnownPlan, "plan">, earlier: StepsOfCalls): boolean {
    return sources.every(({ from, seq }) => {
      if (from === TASK) return seq === undefined;
      const step = seq === undefined ? undefined : (this.#given.get(seq) ?? earlier.get(seq));
      return step !== undefined && plan.steps[step]?.id === from;
    });
  }
}

/**
 * Whether an allow kept to what is reserved of the person's budget: it counted everything as taken that is not. Reserved is
 * never less than it was at the decision.
 */
export function isReserved(
  { verdict, answer, evidence }: DecisionRecord,
  { token, reserved, taken }: { token: OpenedToken; reserved: Spent; taken: Spent },
): boolean {
  const limit = token.valid ? token.claims.budget?.principal : undefined;
  if (!limit || verdict !== "allow" || answer !== undefined) return true;
  const counted = evidence?.ledger?.principal ?? { calls: 0, payoutMicros: 0 };
  const least = countAllButReserved(limit, reserved, taken);
  return counted.calls >= least.calls && counted.payoutMicros >= least.payoutMicros;
}

/** Only the decision itself knows what a call pays out. */
function payoutOf(event: DecisionRecord, token: OpenedToken): number {
  if (!token.valid || !token.claims.budget) return 0;
  const decision = recomputeDecision(event, token);
  return decision?.verdict === "allow" ? (decision.payoutMicros ?? 0) : 0;
}
