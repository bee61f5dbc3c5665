import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Database } from "./database.ts";
import { readJson } from "./json-text.ts";
import { type PageRequest, takePage } from "./page.ts";
import type { PlanStatus, StoredPlan } from "./plan-record.ts";
import type { Tables } from "./schema.ts";

/** Which of the plans that somebody should look at; of one that was revoked, somebody has. */
export interface FlaggedFilter {
  readonly agentId?: string;
  /** Made from here on, in milliseconds since the epoch. */
  readonly from?: number;
}

export type FlaggedPlan = Pick<
  StoredPlan,
  "id" | "agentId" | "userEmail" | "status" | "createdAt" | "tokenExpiresAt" | "flagged"
>;

const COLUMNS = ["id", "agent_id", "user_email", "status", "created_at", "token_expires_at", "flagged"] as const;

export async function countFlagged(database: Database, filter: FlaggedFilter): Promise<number> {
  const query = selectFlagged(database, filter).select(({ fn }) => fn.countAll<number>().as("count"));
  return (await query.executeTakeFirstOrThrow()).count;
}

/** The newest first, without the texts that may be long. */
export async function listFlagged(
  database: Database,
  filter: FlaggedFilter & PageRequest,
): Promise<readonly FlaggedPlan[]> {
  const rows = await takePage(selectFlagged(database, filter).select(COLUMNS), filter).execute();
  return rows.map((row) => ({
    id: row.id,
    agentId: row.agent_id,
    userEmail: row.user_email,
    status: row.status as PlanStatus,
    createdAt: row.created_at,
    tokenExpiresAt: row.token_expires_at,
    flagged: readJson<unknown>(row.flagged),
  }));
}

/** In the index of those that are flagged: they are few, and the plans of an agent are many. */
export function selectFlagged(
  { query }: Pick<Database, "query">,
  { agentId, from }: FlaggedFilter,
): SelectQueryBuilder<Tables, "plans", unknown> {
  let select = query.selectFrom("plans").where("flagged", "is not", null).where("status", "!=", "revoked");
  if (from !== undefined) select = select.where("created_at", ">=", from);
  if (agentId !== undefined) select = select.where(sql`agent_id || ''` as RawBuilder<string>, "=", agentId);
  return select;
}
