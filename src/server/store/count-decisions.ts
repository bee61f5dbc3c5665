import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";

/** A time that is cut into parts of the same length, in milliseconds since the epoch. */
export interface CountRequest {
  readonly from: number;
  readonly partMs: number;
  readonly parts: number;
  readonly agentId?: string;
}

/** How many calls were answered how. */
export interface VerdictCounts {
  readonly allow: number;
  readonly hold: number;
  readonly block: number;
}

export interface DecisionCounts {
  /** By the number of the part, from 0; without those in which nothing was decided. */
  readonly parts: ReadonlyMap<number, VerdictCounts>;
  /** The most frequent first, at most 20. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** The most frequent first, at most 20. Tools whose names are none are not among them. */
  readonly tools: readonly ({ readonly tool: string } & VerdictCounts)[];
}

const MAX_NAMES = 20;

/** Counts in one walk through an index, with few numbers as its result however much there is. */
export async function countDecisions({ query }: Database, request: CountRequest): Promise<DecisionCounts> {
  const { rows } = await sql<CountRow>`${selectCounts(request)}`.execute(query);
  const of = (kind: CountRow["kind"]): CountRow[] => rows.filter((row) => row.kind === kind);
  return {
    parts: new Map(of("part").map(({ part, ...row }) => [part, toCounts(row)])),
    reasons: of("reason").map(({ name, block }) => ({ reason: name, count: block })),
    tools: of("tool").map(({ name, ...row }) => ({ tool: name, ...toCounts(row) })),
  };
}

interface CountRow extends VerdictCounts {
  readonly kind: "part" | "reason" | "tool";
  readonly part: number;
  readonly name: string;
}

function toCounts({ allow, hold, block }: VerdictCounts): VerdictCounts {
  return { allow, hold, block };
}

/** The statement of {@link countDecisions}, for those who want to see how it is run. */
export function selectCounts({ from, partMs, parts, agentId }: CountRequest): RawBuilder<unknown> {
  const to = from + parts * partMs;
  const ofAgent = agentId === undefined ? sql`` : sql`AND agent_id = ${agentId}`;
  // Cast, because numbers come to SQLite as fractions, and PostgreSQL makes a `numeric` of a sum.
  const sum = (verdict: string) => sql`CAST(sum(CASE WHEN verdict = ${sql.lit(verdict)} THEN n ELSE 0 END) AS BIGINT)`;
  const sums = sql`${sum("allow")} AS allow, ${sum("hold")} AS hold, ${sum("block")} AS block, CAST(sum(n) AS BIGINT) AS n`;
  return sql`WITH counted AS MATERIALIZED (
  SELECT CAST((received_at - ${from}) / ${partMs} AS BIGINT) AS part, verdict, reason, tool, count(*) AS n FROM audit_entries
  WHERE verdict IS NOT NULL AND received_at >= ${from} AND received_at < ${to} ${ofAgent}
  GROUP BY 1, 2, 3, 4
), by_reason AS (
  SELECT reason AS name, ${sums} FROM counted WHERE reason IS NOT NULL
  GROUP BY reason ORDER BY n DESC, name LIMIT ${sql.lit(MAX_NAMES)}
), by_tool AS (
  SELECT tool AS name, ${sums} FROM counted WHERE tool IS NOT NULL
  GROUP BY tool ORDER BY n DESC, name LIMIT ${sql.lit(MAX_NAMES)}
)
SELECT 'part' AS kind, part, '' AS name, ${sums} FROM counted GROUP BY part
UNION ALL SELECT 'reason', 0, name, allow, hold, block, n FROM by_reason
UNION ALL SELECT 'tool', 0, name, allow, hold, block, n FROM by_tool
ORDER BY n DESC, name`;
}
