import { setTimeout as sleep } from "node:timers/promises";
import { type AuditEntry, type AuditEvent, type ChainHead, chainEntry, type Spent } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import type {
  IssuedToken,
  LedgerChange,
  OpenCall,
  PlanAppend,
  PlanStatus,
  Reserved,
  Store,
  StoredPlan,
  VerdictCheck,
} from "../store/index.ts";
import { type PrincipalTurn, PrincipalTurns } from "./principal-turns.ts";

/** A plan as it is remembered between calls: without what the user wrote, which may be long. */
export type KnownPlan = Omit<StoredPlan, "task">;

/** What a plan becomes; what is not given stays as it is. */
export interface PlanChange<T> {
  readonly result: T;
  /** Undefined: nothing changes. */
  readonly events?: readonly AuditEvent[];
  /** Instead of events: entries that a client has chained. */
  readonly entries?: readonly AuditEntry[];
  readonly head?: string;
  readonly verdictChecks?: readonly (VerdictCheck | null)[];
  readonly used?: readonly number[];
  readonly spent?: Spent;
  readonly openCalls?: Readonly<Record<string, OpenCall>>;
  readonly status?: PlanStatus;
  readonly whileStatus?: readonly PlanStatus[];
  readonly token?: IssuedToken;
  readonly claimHoldId?: string;
  /** The key with which it was asked for: nothing changes if it is not in use any more. */
  readonly apiKeyId?: string;
  /** What the ledger of the plan's person becomes: both change, or neither. */
  readonly ledger?: LedgerChange;
  /** What is reserved there for a client that decides itself. */
  readonly reserved?: Reserved;
}

export interface Attempt {
  /** Counts from 0: of those before, another server's change came first, or a condition did not hold. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** For the ledger of the plan's person. */
  readonly principal: PrincipalTurn;
}

/** Gets undefined if there is no such plan. */
type Decide<T> = (plan: KnownPlan | undefined, attempt: Attempt) => PlanChange<T> | Promise<PlanChange<T>>;

interface Work<T> {
  readonly decide: Decide<T>;
  readonly principal: PrincipalTurn;
}

const MAX_REMEMBERED = 1000;
/** Each of those that were first has changed something: only a crowd of servers on one plan gets there. */
const MAX_ATTEMPTS = 200;

/**
 * Changes plans: one change of a plan at a time in this process, and between processes by the number of the next entry.
 * What is remembered of a plan is never the last word: a change under another number than the store's does not happen.
 */
export class PlanChanges {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #known = new Map<string, KnownPlan>();
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #principals: PrincipalTurns;

  constructor({ store, clock }: { readonly store: Store; readonly clock: () => number }) {
    this.#store = store;
    this.#clock = clock;
    this.#principals = new PrincipalTurns(store);
  }

  /**
   * Changes a plan. `decide` is asked again with the plan as it has become whenever somebody else was first.
   *
   * @param decide gets undefined if there is no such plan; what it throws is thrown
   * @throws ProblemError `unavailable` if others are first again and again
   */
  async change<T>(planId: string, decide: Decide<T>): Promise<T> {
    return await this.#inTurn(planId, async () => {
      const principal = this.#principals.begin();
      try {
        return await this.#tryToChange(planId, { decide, principal });
      } finally {
        principal.end();
      }
    });
  }

  async #tryToChange<T>(planId: string, { decide, principal }: Work<T>): Promise<T> {
    for (let number = 0; number < MAX_ATTEMPTS; number++) {
      const remembered = this.#known.get(planId);
      const plan = remembered ?? (await this.#load(planId));
      const now = this.#clock();
      let change: PlanChange<T>;
      try {
        change = await decide(plan, { number, now, principal });
      } catch (error) {
        // What is remembered may be old: only the store says that something is not there, or does not follow.
        if (!remembered || !(error instanceof ProblemError)) throw error;
        this.#known.delete(planId);
        continue;
      }
      const append = plan && toAppend(plan, change, now);
      if (!append) return change.result;
      if (await this.#store.plans.append(planId, append)) {
        this.#remember(applyAppend(plan, append));
        return change.result;
      }
      this.#known.delete(planId);
      // Two servers in step would meet again and again.
      if (number > 2) await sleep(Math.random() * 10);
    }
    throw new ProblemError("unavailable", { detail: "others change this plan all the time" });
  }

  /** What is remembered of a plan is read again when it is next needed. */
  forget(planId: string): void {
    this.#known.delete(planId);
  }

  async #load(planId: string): Promise<KnownPlan | undefined> {
    const plan = await this.#store.plans.get(planId);
    if (!plan) return undefined;
    const { task: _, ...known } = plan;
    this.#remember(known);
    return known;
  }

  #remember(plan: KnownPlan): void {
    // To the end: what is not used for long is forgotten.
    this.#known.delete(plan.id);
    this.#known.set(plan.id, plan);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }

  async #inTurn<T>(planId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(planId);
    const mine = before ? before.then(work, work) : work();
    const tail = mine.then(ignore, ignore);
    this.#tails.set(planId, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(planId) === tail) this.#tails.delete(planId);
    }
  }
}

function ignore(): void {}

function toAppend<T>(plan: KnownPlan, change: PlanChange<T>, now: number): PlanAppend | undefined {
  const { result: _, events = [], entries: given, head: givenHead, ...over } = change;
  if (events.length === 0 && !given && Object.keys(over).length === 0) return undefined;
  const entries: AuditEntry[] = [...(given ?? [])];
  let head: ChainHead = { planId: plan.id, seq: plan.seq, prev: plan.head };
  for (const event of events) {
    const next = chainEntry(head, event, { at: now, hash: nodeSha256 });
    entries.push(next.entry);
    head = next.head;
  }
  return {
    expectSeq: plan.seq,
    entries,
    head: givenHead ?? head.prev,
    used: plan.used,
    spent: plan.spent,
    openCalls: plan.openCalls,
    now,
    ...over,
  };
}

function applyAppend(plan: KnownPlan, append: PlanAppend): KnownPlan {
  const { entries, head, used, spent, openCalls, status = plan.status, token, now, reserved = plan.reserved } = append;
  const issued = token && { token: token.token, tokenJti: token.jti, tokenExpiresAt: token.expiresAt };
  return {
    ...plan,
    seq: plan.seq + entries.length,
    head,
    used,
    spent,
    openCalls,
    reserved,
    status,
    updatedAt: now,
    ...issued,
  };
}
