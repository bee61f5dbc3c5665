import { readPart } from "../history/read-part.ts";
import type { KnownPlan } from "../plans/plan-changes.ts";
import { sourcesOf } from "../plans/plan-sources.ts";
import { RecentlyUsed } from "../recently-used.ts";
import type { Store } from "../store/index.ts";

/** The steps of calls, by the numbers of the decisions that allowed them. */
export type StepsOfCalls = ReadonlyMap<number, number>;

interface Told {
  /** Of the first entry that was not read. */
  seq: number;
  readonly waiting: Map<number, number>;
  readonly given: Map<number, number>;
}

const MAX_PLANS = 1000;
/** Calls, of all plans together: those of more are read again each time. */
const MAX_CALLS = 1_000_000;
const PAGE = 500;

/**
 * Which calls of a plan ran and gave a result, by the entries that the store has of it: of the steps that some `from` names.
 * Only an entry that says where a value came from has them read, and only those that came since the last time.
 */
export class GivenCalls {
  readonly #store: Pick<Store, "auditEntries">;
  readonly #told = new RecentlyUsed<Told>({ maxEntries: MAX_PLANS, maxWeight: MAX_CALLS });

  constructor(store: Pick<Store, "auditEntries">) {
    this.#store = store;
  }

  /** In a turn of the plan's: nobody else reads or adds entries of it meanwhile. */
  async before({ id, plan, seq: end }: Pick<KnownPlan, "id" | "plan" | "seq">): Promise<StepsOfCalls> {
    const { steps } = sourcesOf(plan);
    const told = this.#told.get(id) ?? { seq: 0, waiting: new Map(), given: new Map() };
    while (told.seq < end) {
      const limit = Math.min(PAGE, end - told.seq);
      const part = await readPart(this.#store, id, { fromSeq: told.seq, limit });
      if (part.length === 0) break;
      for (const { entry } of part) {
        const { event, seq } = entry;
        if (event.type === "decision" && event.verdict === "allow" && event.answer === undefined) {
          if (event.step !== undefined && steps.has(event.step)) told.waiting.set(seq, event.step);
        } else if (event.type === "outcome") {
          const step = told.waiting.get(event.decisionSeq);
          if (step !== undefined && event.status === "ok") told.given.set(event.decisionSeq, step);
          told.waiting.delete(event.decisionSeq);
        }
      }
      told.seq += part.length;
    }
    this.#told.set(id, told, 1 + told.waiting.size + told.given.size);
    return told.given;
  }
}
