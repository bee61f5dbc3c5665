import type { Principal, PrincipalLedger, Store } from "../store/index.ts";
import { Turns } from "./turns.ts";

/**
 * Turns at the ledgers of people. Whoever changes a plan takes the one at its person's ledger after the one at the plan,
 * never before: so nobody waits in a circle.
 */
export class PrincipalTurns {
  readonly #store: Store;
  readonly #turns = new Turns();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The turn of one change of a plan. */
  begin(): PrincipalTurn {
    return new PrincipalTurn(this.#store, this.#turns);
  }
}

/**
 * Reads one person's ledger, and keeps others of this process from it until the change is over. It is read from the store
 * each time: a block changes nothing, so that no version would show that another server has given something back.
 */
export class PrincipalTurn {
  readonly #store: Store;
  readonly #turns: Turns;
  #key: string | undefined;
  #leave: (() => void) | undefined;

  constructor(store: Store, turns: Turns) {
    this.#store = store;
    this.#turns = turns;
  }

  /** To change it. */
  async open(principal: Principal, now: number): Promise<PrincipalLedger> {
    const key = JSON.stringify([principal.agentId, principal.userEmail]);
    if (this.#key !== undefined && this.#key !== key) throw new Error("a plan has one person");
    this.#key = key;
    this.#leave ??= await this.#turns.enter(key);
    return await this.#store.principalLedgers.open(principal, Math.floor(now));
  }

  /** To look at it. */
  async look(principal: Principal): Promise<PrincipalLedger> {
    return await this.#store.principalLedgers.get(principal);
  }

  end(): void {
    this.#leave?.();
  }
}
