import { endpoints } from "../../core/api/index.ts";
import { payoutOf } from "../../core/budget.ts";
import { type Budget, isJsonObject, type OpenedToken, type Spent } from "../../core/index.ts";
import type { GateCall } from "../gate.ts";
import type { PlanState } from "../plan-state.ts";
import type { ServerClient } from "./server-client.ts";
import { toRefusal } from "./server-error.ts";

/** A portion is a twentieth of the limit, and at most so many calls. */
const PORTIONS = 20;
const MOST_CALLS = 50;

const NOTHING: Spent = Object.freeze({ calls: 0, payoutMicros: 0 });

/**
 * What a server has reserved of the budgets of people for the plans of this gate, in portions: calls that fit into one are
 * decided without waiting for the server. What a plan does not take the server gives back once it has the plan's last entry.
 */
export class Portions {
  readonly #client: ServerClient;
  readonly #reserved = new Map<string, Spent>();
  readonly #asking = new Map<string, Promise<void>>();
  /** What was asked for last: a plan that has got less gets nothing more for now. */
  readonly #asked = new Map<string, Spent>();

  constructor(client: ServerClient) {
    this.#client = client;
  }

  /** What is reserved for a plan in all, since it began. */
  of(planId: string): Spent {
    return this.#reserved.get(planId) ?? NOTHING;
  }

  /**
   * Sees to it that a call finds what there is: undefined if nothing has to be waited for. After what it gives is settled it
   * has to be asked again, since calls at once share a portion. The refusal is for a server that could not be asked.
   *
   * @param options.isOut the budget is all that is in the call's way
   */
  prepare(
    state: PlanState,
    opened: OpenedToken,
    { call, isOut }: { readonly call: GateCall; readonly isOut: () => boolean },
  ): Promise<GateCall["refusal"] | "ask again"> | undefined {
    const budget = opened.valid ? opened.claims.budget : undefined;
    if (!budget?.principal) return undefined;
    const need = {
      calls: 1,
      payoutMicros: (isJsonObject(call.args) && payoutOf(budget, { ...call, args: call.args })) || 0,
    };
    const portion = portionOf(budget.principal);
    if (isEnough(budget.principal, this.#left(state), need)) {
      // Of a portion of one call nothing: others may want the next one.
      const half = { calls: Math.floor(portion.calls / 2), payoutMicros: Math.floor(portion.payoutMicros / 2) };
      if (this.#hasGot(state.planId, budget.principal) && !isEnough(budget.principal, this.#left(state), half)) {
        this.#ask(state, budget, portion).catch(() => undefined);
      }
      return undefined;
    }
    return isOut() ? this.#wait(state, budget, need) : undefined;
  }

  forget(planId: string): void {
    this.#reserved.delete(planId);
    this.#asked.delete(planId);
  }

  async #wait(state: PlanState, budget: Budget, need: Spent): Promise<GateCall["refusal"] | "ask again"> {
    const { planId } = state;
    const asking = this.#asking.get(planId);
    if (asking) {
      // Of another call. If it fails this one asks by itself; if it brings too little there is no more.
      const isAnswered = await asking.then(
        () => true,
        () => false,
      );
      return isAnswered && this.#isOut(state, budget.principal ?? {}, need) ? undefined : "ask again";
    }
    try {
      const { calls, payoutMicros } = portionOf(budget.principal ?? {});
      const more = { calls: Math.max(need.calls, calls), payoutMicros: need.payoutMicros + payoutMicros };
      await this.#ask(state, budget, more);
    } catch (error) {
      return toRefusal(error);
    }
    return isEnough(budget.principal ?? {}, this.#left(state), need) ? "ask again" : undefined;
  }

  #ask(state: PlanState, budget: Budget, more: Spent): Promise<void> {
    const { planId } = state;
    const known = this.#asking.get(planId);
    if (known) return known;
    const asking = this.#reserve(state, budget, more).finally(() => this.#asking.delete(planId));
    this.#asking.set(planId, asking);
    return asking;
  }

  async #reserve({ planId, spent }: PlanState, { session }: Budget, more: Spent): Promise<void> {
    const total = {
      // The plan itself will not take more.
      calls: Math.min(spent.calls + more.calls, session?.calls ?? Number.MAX_SAFE_INTEGER),
      payoutMicros: Math.min(spent.payoutMicros + more.payoutMicros, session?.payoutMicros ?? Number.MAX_SAFE_INTEGER),
    };
    const ask = { params: { planId }, body: { total }, isRepeatable: true };
    const { reserved } = await this.#client.ask(endpoints.reserveBudget, ask);
    this.#reserved.set(planId, reserved);
    this.#asked.set(planId, total);
  }

  #hasGot(planId: string, limit: Limit): boolean {
    return isEnough(limit, this.of(planId), this.#asked.get(planId) ?? NOTHING);
  }

  /** Whether what a call lacks is what the server had no more of. */
  #isOut(state: PlanState, limit: Limit, need: Spent): boolean {
    const [left, reserved, asked] = [
      this.#left(state),
      this.of(state.planId),
      this.#asked.get(state.planId) ?? NOTHING,
    ];
    return (["calls", "payoutMicros"] as const).some(
      (what) => limit[what] !== undefined && left[what] < need[what] && reserved[what] < asked[what],
    );
  }

  #left({ planId, spent }: PlanState): Spent {
    const { calls, payoutMicros } = this.of(planId);
    return { calls: calls - spent.calls, payoutMicros: payoutMicros - spent.payoutMicros };
  }
}

type Limit = NonNullable<Budget["session"]>;

function portionOf({ calls = 0, payoutMicros = 0 }: Limit): Spent {
  return { calls: Math.min(Math.ceil(calls / PORTIONS), MOST_CALLS), payoutMicros: Math.ceil(payoutMicros / PORTIONS) };
}

/** As far as there are limits. */
function isEnough(limit: Limit, there: Spent, need: Spent): boolean {
  return (
    (limit.calls === undefined || there.calls >= need.calls) &&
    (limit.payoutMicros === undefined || there.payoutMicros >= need.payoutMicros)
  );
}
