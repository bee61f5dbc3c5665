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
/** As many names as one statement gives: what is rarer than so many others is not among the most frequent. */
const MAX_COUNTED = 1000;

/** Counts by walking once through an index. However much there is, the result is small. */
export async function countDecisions({ kind, query }: Database, request: CountRequest): Promise<DecisionCounts> {
  const { from, partMs, parts } = request;
  const counted = new Counted();
  const run = async (some: CountRequest): Promise<void> => {
    const { rows } = await sql<CountRow>`${selectCounts(some)}`.execute(query);
    for (const row of rows) counted.add(row, (some.from - from) / partMs);
  };
  if (kind === "postgres") {
    await run(request);
    return counted.result();
  }
  // SQLite sorts to count, which takes less for many short lists, and meanwhile nobody else has their turn.
  for (let part = 0; part < parts; part++) {
    await run({ ...request, from: from + part * partMs, parts: 1 });
    await new Promise(setImmediate);
  }
  return counted.result();
}

/** The sum of what several statements have counted. */
class Counted {
  readonly #parts = new Map<number, VerdictCounts>();
  readonly #reasons = new Map<string, VerdictCounts>();
  readonly #tools = new Map<string, VerdictCounts>();

  add({ kind, part, name, ...row }: CountRow, firstPart: number): void {
    if (kind === "part") addTo(this.#parts, firstPart + part, row);
    else addTo(kind === "reason" ? this.#reasons : this.#tools, name, row);
  }

  result(): DecisionCounts {
    return {
      parts: this.#parts,
      reasons: listFrequent(this.#reasons).map(([reason, counts]) => ({ reason, count: sum(counts) })),
      tools: listFrequent(this.#tools).map(([tool, counts]) => ({ tool, ...counts })),
    };
  }
}

function addTo<Key>(counts: Map<Key, VerdictCounts>, key: Key, { allow, hold, block }: VerdictCounts): void {
  const before = counts.get(key) ?? { allow: 0, hold: 0, block: 0 };
  counts.set(key, { allow: before.allow + allow, hold: before.hold + hold, block: before.block + block });
}

function listFrequent(counts: ReadonlyMap<string, VerdictCounts>): [string, VerdictCounts][] {
  const byName = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return byName.sort(([, one], [, other]) => sum(other) - sum(one)).slice(0, MAX_NAMES);
}

function sum({ allow, hold, block }: VerdictCounts): number {
  return allow + hold + block;
}

interface CountRow extends VerdictCounts {
  readonly kind: "part" | "reason" | "tool";
  readonly part: number;
  readonly name: string;
}

/** The statement of {@link countDecisions}, for those who want to see how it is run. */
export function selectCounts({ from, partMs, parts, agentId }: CountRequest): RawBuilder<unknown> {
  const to = from + parts * partMs;
  const ofAgent = agentId === undefined ? sql`` : sql`AND agent_id = ${agentId}`;
  // Cast, because numbers come to SQLite as fractions, and PostgreSQL makes a `numeric` of a sum.
  const count = (verdict: string) =>
    sql`CAST(sum(CASE WHEN verdict = ${sql.lit(verdict)} THEN n ELSE 0 END) AS BIGINT)`;
  const sums = sql`${count("allow")} AS allow, ${count("hold")} AS hold, ${count("block")} AS block, CAST(sum(n) AS BIGINT) AS n`;
  const part = parts === 1 ? sql`0` : sql`CAST((received_at - ${from}) / ${partMs} AS BIGINT)`;
  return sql`WITH counted AS MATERIALIZED (
  SELECT tool, verdict, reason, ${part} AS part, count(*) AS n FROM audit_entries
  WHERE verdict IS NOT NULL AND received_at >= ${from} AND received_at < ${to} ${ofAgent}
  GROUP BY 1, 2, 3, 4
), by_reason AS (
  SELECT reason AS name, ${sums} FROM counted WHERE reason IS NOT NULL
  GROUP BY reason ORDER BY n DESC, name LIMIT ${sql.lit(MAX_COUNTED)}
), by_tool AS (
  SELECT tool AS name, ${sums} FROM counted WHERE tool IS NOT NULL
  GROUP BY tool ORDER BY n DESC, name LIMIT ${sql.lit(MAX_COUNTED)}
)
SELECT 'part' AS kind, part, '' AS name, ${sums} FROM counted GROUP BY part
UNION ALL SELECT 'reason', 0, name, allow, hold, block, n FROM by_reason
UNION ALL SELECT 'tool', 0, name, allow, hold, block, n FROM by_tool`;
}
