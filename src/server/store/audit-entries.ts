import { sql } from "kysely";
import { type CountRequest, countDecisions, type DecisionCounts } from "./count-decisions.ts";
import type { Database } from "./database.ts";
import { type StoredEntry, toStoredEntry } from "./entry-record.ts";
import { type DecisionsPart, type DecisionsRequest, listDecisions } from "./list-decisions.ts";
import { checkLimit } from "./page.ts";

/** A decision with the signed token that it was made under, so that it can be made again. */
export interface StoredDecision extends StoredEntry {
  readonly token: string;
}

interface EntryRange {
  readonly fromSeq: number;
  readonly limit: number;
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

  /** How long each of a plan's entries is in bytes, in their order, from a number on. */
  async sizesOfPlan(planId: string, { fromSeq, limit }: EntryRange): Promise<readonly number[]> {
    const rows = await this.#database.query
      .selectFrom("audit_entries")
      // Neither database reads a long text to tell its length.
      .select(sql<number>`octet_length(entry)`.as("bytes"))
      .where("plan_id", "=", planId)
      .where("seq", ">=", fromSeq)
      .orderBy("seq")
      .limit(checkLimit(limit))
      .execute();
    return rows.map(({ bytes }) => bytes);
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
      .where("e.verdict", "is not", null)
      .orderBy("e.received_at", "desc")
      .orderBy("e.plan_id", "desc")
      .orderBy("e.seq", "desc")
      .limit(checkLimit(count))
      .execute();
    return rows.map((row) => ({ ...toStoredEntry(row), token: row.token }));
  }

  /** Decisions of all plans, newest first: see {@link listDecisions}. */
  decisions(request: DecisionsRequest): Promise<DecisionsPart> {
    return listDecisions(this.#database, request);
  }

  /** How many decisions there were, over time: see {@link countDecisions}. */
  counts(request: CountRequest): Promise<DecisionCounts> {
    return countDecisions(this.#database, request);
  }
}
