import { z } from "zod";
import { IntentlockError } from "../../core/index.ts";
import { EMPTY_WINDOW, type SlidingWindow } from "../../core/sliding-window.ts";
import type { Database } from "./database.ts";
import { writeJson } from "./json-text.ts";
import { checkNames } from "./parameters.ts";

/** Whose ledger: of one person, with one agent. */
export interface Principal {
  readonly agentId: string;
  /** Normalised. */
  readonly userEmail: string;
}

/** A ledger as it was read. */
export interface PrincipalLedger {
  /** Counts its changes: a change under another number than the newest does not happen. */
  readonly version: number;
  readonly window: SlidingWindow;
}

const count = z.int().min(0);
const slot = z.strictObject({ end: count, calls: count, payoutMicros: count });
const windowSchema = z.strictObject({ slots: z.array(slot), keepSeconds: count, keepUntil: count });

/**
 * What people have taken from their budgets, over all plans and instances. A ledger changes only together with the plan
 * whose call takes or gives back: see `PlanAppend`. None is ever deleted: its number would begin again, and what an
 * instance remembers of the old one would count.
 */
export class PrincipalLedgerStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The ledger; the empty one if there is none. @throws IntentlockError `ERR_STORE` for one that cannot be read */
  async get({ agentId, userEmail }: Principal): Promise<PrincipalLedger> {
    return (await this.#find({ agentId, userEmail })) ?? { version: 0, window: EMPTY_WINDOW };
  }

  /** {@link get}, and from then on there is one that can be changed. */
  async open({ agentId, userEmail }: Principal, now: number): Promise<PrincipalLedger> {
    const found = await this.#find({ agentId, userEmail });
    if (found) return found;
    checkNames({ agentId, userEmail });
    const empty = { agent_id: agentId, user_email: userEmail, version: 0, ledger: writeJson(EMPTY_WINDOW) };
    await this.#database.query
      .insertInto("principal_ledgers")
      .values({ ...empty, updated_at: now })
      .onConflict((conflict) => conflict.columns(["agent_id", "user_email"]).doNothing())
      .execute();
    return await this.get({ agentId, userEmail });
  }

  async #find({ agentId, userEmail }: Principal): Promise<PrincipalLedger | undefined> {
    const row = await this.#database.query
      .selectFrom("principal_ledgers")
      .select(["version", "ledger"])
      .where("agent_id", "=", agentId)
      .where("user_email", "=", userEmail)
      .executeTakeFirst();
    return row && { version: row.version, window: readWindow(row.ledger) };
  }
}

/** Fail closed: what is not a ledger counts as nothing that is known, and not as nothing that was spent. */
function readWindow(text: string): SlidingWindow {
  try {
    return windowSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new IntentlockError("ERR_STORE", "A person's ledger cannot be read", { cause });
  }
}
