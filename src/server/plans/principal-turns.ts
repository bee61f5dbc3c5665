import type { LedgerChange, Principal, PrincipalLedger, Store } from "../store/index.ts";
import { Turns } from "./turns.ts";

const MAX_REMEMBERED = 1000;

/**
 * The ledgers of people, as they are remembered between calls. What is remembered is never the last word: a change under
 * another version than the store's does not happen. Whoever changes a plan takes a turn at the ledger of its person after
 * the one at the plan, never before: so nobody waits in a circle.
 */
export class PrincipalTurns {
  readonly #store: Store;
  readonly #known = new Map<string, PrincipalLedger>();
  readonly #turns = new Turns();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The turn of one change of a plan. */
  begin(): PrincipalTurn {
    return new PrincipalTurn({ store: this.#store, known: this.#known, turns: this.#turns });
  }
}

interface Shared {
  readonly store: Store;
  readonly known: Map<string, PrincipalLedger>;
  readonly turns: Turns;
}

/** Reads one person's ledger, and keeps others of this process from it until the change is over. */
export class PrincipalTurn {
  readonly #all: Shared;
  #key: string | undefined;
  #leave: (() => void) | undefined;

  constructor(all: Shared) {
    this.#all = all;
  }

  /** To change it. */
  async open(principal: Principal, now: number): Promise<PrincipalLedger> {
    const { store, known, turns } = this.#all;
    const key = JSON.stringify([principal.agentId, principal.userEmail]);
    if (this.#key !== undefined && this.#key !== key) throw new Error("a plan has one person");
    this.#key = key;
    this.#leave ??= await turns.enter(key);
    const ledger = known.get(key) ?? (await store.principalLedgers.open(principal, Math.floor(now)));
    this.#remember(ledger);
    return ledger;
  }

  /** To look at it as it is in the store. */
  async look(principal: Principal): Promise<PrincipalLedger> {
    return await this.#all.store.principalLedgers.get(principal);
  }

  /** It has become what a change made of it. */
  changed({ expectVersion, window }: LedgerChange): void {
    this.#remember({ version: expectVersion + 1, window });
  }

  /** What is remembered is read again when it is next needed. */
  forget(): void {
    if (this.#key !== undefined) this.#all.known.delete(this.#key);
  }

  end(): void {
    this.#leave?.();
  }

  #remember(ledger: PrincipalLedger): void {
    const { known } = this.#all;
    if (this.#key === undefined) return;
    // To the end: what is not used for long is forgotten.
    known.delete(this.#key);
    known.set(this.#key, ledger);
    const [oldest] = known.keys();
    if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
  }
}
