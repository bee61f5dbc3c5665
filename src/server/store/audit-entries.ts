import type { AuditEntry } from "../../core/index.ts";
import type { VerdictCheck } from "./append.ts";
import type { Database } from "./database.ts";
import { readJson } from "./json-text.ts";
import { checkLimit } from "./page.ts";
import type { JsonText } from "./schema.ts";

/** An entry with what the server knows of it. */
export interface StoredEntry {
  readonly entry: AuditEntry;
  /** Milliseconds since the epoch, by the server's clock. */
  readonly receivedAt: number;
  /** Null if the server decided itself, or if it is no decision. */
  readonly verdictCheck: VerdictCheck | null;
}

/** A decision with the signed token that it was made under, so that it can be made again. */
export interface StoredDecision extends StoredEntry {
  readonly token: string;
}

/** The audit entries that were appended to plans. They are only read here: {@link PlanStore.append} writes them. */
export class AuditEntryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A plan's entries in their order, from a number on; at most `limit`, 1000 by default. */
  async ofPlan(
    planId: string,
    { fromSeq = 0, limit = 1000 }: { readonly fromSeq?: number; readonly limit?: number } = {},
  ): Promise<readonly StoredEntry[]> {
    const rows = await this.#database.query
      .selectFrom("audit_entries")
      .select(["entry", "received_at", "verdict_check"])
      .where("plan_id", "=", planId)
      .where("seq", ">=", fromSeq)
      .orderBy("seq")
      .limit(checkLimit(limit))
      .execute();
    return rows.map(toStoredEntry);
  }

  /** The last decisions of an agent, newest first, over all of its plans. Those under a token of another plan are left out. */
  async lastDecisions(agentId: string, count: number): Promise<readonly StoredDecision[]> {
    const rows = await this.#database.query
      .selectFrom("audit_entries as e")
      .innerJoin("plan_tokens as t", (join) =>
        join.onRef("t.jti", "=", "e.decision_jti").onRef("t.plan_id", "=", "e.plan_id"),
      )
      .select(["e.entry", "e.received_at", "e.verdict_check", "t.token"])
      .where("e.agent_id", "=", agentId)
      .where("e.decision_jti", "is not", null)
      .orderBy("e.received_at", "desc")
      .orderBy("e.plan_id", "desc")
      .orderBy("e.seq", "desc")
      .limit(checkLimit(count))
      .execute();
    return rows.map((row) => ({ ...toStoredEntry(row), token: row.token }));
  }
}

function toStoredEntry(row: {
  readonly entry: JsonText;
  readonly received_at: number;
  readonly verdict_check: string | null;
}): StoredEntry {
  return {
    entry: readJson<AuditEntry>(row.entry),
    receivedAt: row.received_at,
    verdictCheck: row.verdict_check as VerdictCheck | null,
  };
}
