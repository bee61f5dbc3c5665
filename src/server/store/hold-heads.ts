import { type Selectable, sql } from "kysely";
import type { Approvers } from "../../core/index.ts";
import type { Database } from "./database.ts";
import type { Hold, HoldStatus } from "./hold-record.ts";
import { readJson } from "./json-text.ts";
import { checkLimit } from "./page.ts";
import type { PlanState, PlanStatus } from "./plan-record.ts";
import type { HoldRow } from "./schema.ts";

type HeadField = "id" | "kind" | "planId" | "agentId" | "approvers" | "status" | "createdAt" | "expiresAt";

/** What says who may see a hold and where it stands in a list, without the texts that may be long. */
export interface HoldHead extends Pick<Hold, HeadField | "decidedAt" | "decidedBy"> {
  readonly plan: Pick<PlanState, "userEmail" | "apiKeyId" | "status" | "createdAt">;
  /** Of the texts that were left out. */
  readonly bytes: number;
}

/** A place in a list of holds: when the one that was last ends or was decided, and its id. */
export interface HoldPlace {
  readonly at: number;
  readonly id: string;
}

export type HeadsRequest = { readonly after?: HoldPlace; readonly limit: number } & (
  | { readonly status: "pending"; readonly now: number }
  | { readonly status: Exclude<HoldStatus, "pending"> }
);

/** Those that wait and have time left, what ends first first; or those of another status, the last decided first. */
export async function listHeads(database: Database, request: HeadsRequest): Promise<readonly HoldHead[]> {
  const { after } = request;
  const isPending = request.status === "pending";
  let query = selectHeads(database).limit(checkLimit(request.limit));
  if (request.status === "pending") {
    query = query
      // As it stands in the index, not as a parameter: otherwise it is not the index that is read.
      .where("holds.status", "=", sql.lit("pending"))
      .where("holds.expires_at", ">", request.now)
      .orderBy("holds.expires_at")
      .orderBy("holds.id");
  } else {
    query = query
      .where("holds.status", "=", request.status)
      .where("holds.decided_at", "is not", null)
      .orderBy("holds.decided_at", "desc")
      .orderBy("holds.id", "desc");
  }
  if (after && isPending) query = query.where(sql<boolean>`(holds.expires_at, holds.id) > (${after.at}, ${after.id})`);
  else if (after) query = query.where(sql<boolean>`(holds.decided_at, holds.id) < (${after.at}, ${after.id})`);
  return (await query.execute()).map(toHead);
}

export async function findHead(database: Database, id: string): Promise<HoldHead | undefined> {
  const row = await selectHeads(database).where("holds.id", "=", id).executeTakeFirst();
  return row && toHead(row);
}

/** All of a plan: of the plan itself, then of its calls in their order. */
export async function listHeadsOfPlan(database: Database, planId: string): Promise<readonly HoldHead[]> {
  const rows = await selectHeads(database)
    .where("holds.plan_id", "=", planId)
    .orderBy(sql`CASE holds.kind WHEN 'plan' THEN 0 ELSE 1 END`)
    .orderBy("holds.decision_seq")
    .execute();
  return rows.map(toHead);
}

/** As many as wait now, of all agents or of one. */
export async function countPending(
  { query }: Database,
  { now, agentId }: { readonly now: number; readonly agentId?: string },
): Promise<number> {
  let pending = query
    .selectFrom("holds")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("status", "=", sql.lit("pending"))
    .where("expires_at", ">", now);
  if (agentId !== undefined) pending = pending.where("agent_id", "=", agentId);
  return (await pending.executeTakeFirstOrThrow()).count;
}

/** Holds of calls of an agent with one tool that were approved, the last first. */
export async function listApproved(
  database: Database,
  { agentId, tool, before, limit }: { agentId: string; tool: string; before: number; limit: number },
): Promise<readonly HoldHead[]> {
  const rows = await selectHeads(database)
    .where("holds.agent_id", "=", agentId)
    .where("holds.tool", "=", tool)
    .where("holds.status", "=", sql.lit("approved"))
    .where("holds.created_at", "<", before)
    .orderBy("holds.created_at", "desc")
    .orderBy("holds.id", "desc")
    .limit(checkLimit(limit))
    .execute();
  return rows.map(toHead);
}

function selectHeads({ query }: Database) {
  return (
    query
      .selectFrom("holds")
      .innerJoin("plans", "plans.id", "holds.plan_id")
      .select(["holds.id", "holds.kind", "holds.plan_id", "holds.agent_id", "holds.approvers", "holds.status"])
      .select(["holds.created_at", "holds.expires_at", "holds.decided_at", "holds.decided_by"])
      .select(["plans.user_email", "plans.api_key_id", "plans.status as plan_status"])
      .select("plans.created_at as plan_created_at")
      // Neither database reads a long text to tell its length.
      .select(
        sql<number>`coalesce(octet_length(holds.args), 0) + octet_length(plans.task)
      + octet_length(plans.plan)`.as("bytes"),
      )
  );
}

type HeadRow = Pick<
  Selectable<HoldRow>,
  | "id"
  | "kind"
  | "plan_id"
  | "agent_id"
  | "approvers"
  | "status"
  | "created_at"
  | "expires_at"
  | "decided_at"
  | "decided_by"
> & {
  readonly user_email: string;
  readonly api_key_id: string;
  readonly plan_status: string;
  readonly plan_created_at: number;
  readonly bytes: number;
};

function toHead(row: HeadRow): HoldHead {
  return {
    id: row.id,
    kind: row.kind as Hold["kind"],
    planId: row.plan_id,
    agentId: row.agent_id,
    approvers: readJson<Approvers>(row.approvers),
    status: row.status as HoldStatus,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    plan: {
      userEmail: row.user_email,
      apiKeyId: row.api_key_id,
      status: row.plan_status as PlanStatus,
      createdAt: row.plan_created_at,
    },
    bytes: Number(row.bytes),
  };
}
