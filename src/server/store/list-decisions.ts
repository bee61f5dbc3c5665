import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Decision } from "../../core/index.ts";
import type { Database } from "./database.ts";
import { type StoredEntry, toStoredEntry } from "./entry-record.ts";
import { checkLimit } from "./page.ts";

/** What decisions are wanted; all that is given must hold. */
export interface DecisionFilter {
  readonly agentId?: string;
  /** Normalised. */
  readonly userEmail?: string;
  readonly tool?: string;
  /** As the call was answered, and so is the reason. */
  readonly verdict?: Decision["verdict"];
  readonly reason?: string;
  /** Received from here on, in milliseconds since the epoch. */
  readonly from?: number;
  /** Received before. */
  readonly to?: number;
}

/** The place of a decision in the history of all plans. */
export interface DecisionPlace {
  readonly receivedAt: number;
  readonly planId: string;
  readonly seq: number;
}

export interface DecisionsRequest extends DecisionFilter {
  /** The last of the part before. */
  readonly before?: DecisionPlace;
  /** 1 to 1000. */
  readonly limit: number;
  /** As long as the entries of a part are together: it ends with the one that goes beyond. */
  readonly maxBytes: number;
}

/** A decision with whose it is. */
export interface ListedDecision extends StoredEntry {
  readonly agentId: string;
  readonly userEmail: string;
}

export interface DecisionsPart {
  /** The last received first. */
  readonly decisions: readonly ListedDecision[];
  readonly hasMore: boolean;
}

/**
 * One part of the history. What is in it is found in an index, by the values of the last decision of the part before: the
 * last part costs what the first does. Only then are entries read, and no more bytes of them than may be.
 */
export async function listDecisions({ query }: Database, request: DecisionsRequest): Promise<DecisionsPart> {
  const limit = checkLimit(request.limit);
  const { rows } = await sql<DecisionRow>`${selectDecisions(request, limit)}`.execute(query);
  return {
    decisions: rows.map((row) => ({ ...toStoredEntry(row), agentId: row.agent_id, userEmail: row.user_email })),
    hasMore: Number(rows[0]?.found ?? 0) > rows.length,
  };
}

interface DecisionRow {
  readonly entry: string;
  readonly received_at: number;
  readonly verdict_check: string | null;
  readonly agent_id: string;
  readonly user_email: string;
  readonly found: number;
}

/** The statement of {@link listDecisions}, for those who want to see how it is run. */
export function selectDecisions(request: DecisionsRequest, limit: number): RawBuilder<unknown> {
  const newestFirst = sql`received_at DESC, plan_id DESC, seq DESC`;
  return sql`WITH found AS MATERIALIZED (
  SELECT received_at, plan_id, seq FROM audit_entries
  WHERE ${sql.join(toConditions(request), sql` AND `)} ORDER BY ${newestFirst} LIMIT ${limit + 1}
), sized AS MATERIALIZED (
  SELECT e.received_at, e.plan_id, e.seq, octet_length(e.entry) AS bytes
  FROM found AS f JOIN audit_entries AS e ON e.plan_id = f.plan_id AND e.seq = f.seq
), placed AS MATERIALIZED (
  SELECT *, row_number() OVER newest AS place, sum(bytes) OVER newest - bytes AS bytes_before
  FROM sized WINDOW newest AS (ORDER BY ${newestFirst})
)
SELECT e.entry, e.received_at, e.verdict_check, e.agent_id, e.user_email, (SELECT count(*) FROM found) AS found
FROM placed AS p JOIN audit_entries AS e ON e.plan_id = p.plan_id AND e.seq = p.seq
WHERE p.place <= ${limit} AND p.bytes_before < ${request.maxBytes}
ORDER BY p.place`;
}

function toConditions({ before, ...filter }: DecisionFilter & Pick<DecisionsRequest, "before">): RawBuilder<SqlBool>[] {
  const { agentId, userEmail, tool, verdict, reason, from, to } = filter;
  const conditions = [sql<SqlBool>`verdict IS NOT NULL`];
  if (userEmail !== undefined) conditions.push(sql`user_email = ${userEmail}`);
  // Of both, the person's index is read: it has the agent in it, and an agent acts for many.
  if (agentId !== undefined)
    conditions.push(userEmail === undefined ? sql`agent_id = ${agentId}` : sql`agent_id || '' = ${agentId}`);
  if (tool !== undefined) conditions.push(sql`tool = ${tool}`);
  if (verdict !== undefined) conditions.push(sql`verdict = ${verdict}`);
  if (reason !== undefined) conditions.push(sql`reason = ${reason}`);
  if (from !== undefined) conditions.push(sql`received_at >= ${from}`);
  if (to !== undefined) conditions.push(sql`received_at < ${to}`);
  if (before) {
    conditions.push(sql`(received_at, plan_id, seq) < (${before.receivedAt}, ${before.planId}, ${before.seq})`);
  }
  return conditions;
}
