import { type AuditEntry, IntentlockError, type Plan, type PublicKey, type Spent } from "../../core/index.ts";
import { type AppendToPlan, type IssuedToken, type PlanAppend, toEntryValues } from "./append.ts";
import { createPostgresAppend } from "./append-postgres.ts";
import { createSqliteAppend } from "./append-sqlite.ts";
import { type Database, transact } from "./database.ts";
import { countFlagged, type FlaggedFilter, type FlaggedPlan, listFlagged } from "./flagged-plans.ts";
import { readJson, writeJson, writeJsonOrNull } from "./json-text.ts";
import { type PageRequest, takePage } from "./page.ts";
import { checkNames } from "./parameters.ts";
import {
  type PlanState,
  type PlanStatus,
  type PlanText,
  STATE_COLUMNS,
  type StoredPlan,
  type StoredTask,
  toPlanState,
  toStoredPlan,
} from "./plan-record.ts";

/** A plan as it begins: `pending` without a token, or `open` with one and the first entries of its chain. */
export interface NewPlan {
  readonly id: string;
  readonly agentId: string;
  readonly apiKeyId: string;
  /** Normalised. */
  readonly userEmail: string;
  readonly task: StoredTask;
  readonly taskDigest: string;
  readonly plan: Plan;
  readonly tools: Readonly<Record<string, string>>;
  readonly clientKey: PublicKey | null;
  readonly createdAt: number;
  readonly status: "pending" | "open";
  readonly token?: IssuedToken;
  readonly entries?: readonly AuditEntry[];
  readonly head?: string;
}

export interface PlanFilter extends PageRequest {
  readonly agentId?: string;
  readonly userEmail?: string;
  readonly status?: PlanStatus;
  /** Milliseconds since the epoch: only plans in which nothing has happened since. */
  readonly idleSince?: number;
  readonly flagged?: boolean;
}

const NOTHING_SPENT: Spent = { calls: 0, payoutMicros: 0 };

/** Plans: their state, which only moves by {@link append}, their tokens and who works on them. */
export class PlanStore {
  readonly #database: Database;
  /** Adds entries to a plan's chain and changes its counts with them, atomically: see {@link PlanAppend}. */
  readonly append: AppendToPlan;

  constructor(database: Database) {
    this.#database = database;
    this.append = database.kind === "postgres" ? createPostgresAppend(database) : createSqliteAppend(database);
  }

  async create(plan: NewPlan): Promise<void> {
    const { token, entries = [] } = plan;
    checkNames({ id: plan.id, userEmail: plan.userEmail, "token.jti": token?.jti });
    await transact(this.#database, async (query) => {
      await query.insertInto("plans").values(toRow(plan)).execute();
      if (token) {
        const row = { jti: token.jti, plan_id: plan.id, token: token.token, created_at: plan.createdAt };
        await query.insertInto("plan_tokens").values(row).execute();
      }
      for (const entry of entries) {
        const { verdictCheck, decisionJti, ...values } = toEntryValues(entry);
        const row = { ...values, verdict_check: verdictCheck, decision_jti: decisionJti, received_at: plan.createdAt };
        await query
          .insertInto("audit_entries")
          .values({ ...row, plan_id: plan.id, agent_id: plan.agentId, user_email: plan.userEmail })
          .execute();
      }
    });
  }

  /** What is needed to decide about a call, without the texts that may be long. */
  async state(planId: string): Promise<PlanState | undefined> {
    const query = this.#database.query.selectFrom("plans").select(STATE_COLUMNS).where("id", "=", planId);
    const row = await query.executeTakeFirst();
    return row && toPlanState(row);
  }

  /** {@link state} of several, in any order; of those that there are. */
  async states(planIds: readonly string[]): Promise<readonly PlanState[]> {
    if (planIds.length === 0) return [];
    const query = this.#database.query.selectFrom("plans").select(STATE_COLUMNS).where("id", "in", planIds);
    return (await query.execute()).map(toPlanState);
  }

  /** What people read of several, in any order; of those that there are. */
  async texts(planIds: readonly string[]): Promise<readonly PlanText[]> {
    if (planIds.length === 0) return [];
    const query = this.#database.query.selectFrom("plans").select(["id", "user_email", "task", "plan"]);
    const rows = await query.where("id", "in", planIds).execute();
    return rows.map(({ id, user_email, task, plan }) => {
      return { id, userEmail: user_email, task: readJson<StoredTask>(task), plan: readJson<Plan>(plan) };
    });
  }

  async get(planId: string): Promise<StoredPlan | undefined> {
    const row = await this.#database.query.selectFrom("plans").selectAll().where("id", "=", planId).executeTakeFirst();
    return row && toStoredPlan(row);
  }

  /** Newest first. */
  async list(filter: PlanFilter = {}): Promise<readonly StoredPlan[]> {
    let query = this.#database.query.selectFrom("plans").selectAll();
    if (filter.agentId !== undefined) query = query.where("agent_id", "=", filter.agentId);
    if (filter.userEmail !== undefined) query = query.where("user_email", "=", filter.userEmail);
    if (filter.status !== undefined) query = query.where("status", "=", filter.status);
    if (filter.idleSince !== undefined) query = query.where("updated_at", "<", filter.idleSince);
    if (filter.flagged !== undefined) query = query.where("flagged", filter.flagged ? "is not" : "is", null);
    const rows = await takePage(query, filter).execute();
    return rows.map(toStoredPlan);
  }

  countFlagged(filter: FlaggedFilter): Promise<number> {
    return countFlagged(this.#database, filter);
  }

  listFlagged(filter: FlaggedFilter & PageRequest): Promise<readonly FlaggedPlan[]> {
    return listFlagged(this.#database, filter);
  }

  /** A token that was signed for a plan, by its `jti`. */
  async token(jti: string): Promise<{ readonly planId: string; readonly token: string } | undefined> {
    const row = await this.#database.query
      .selectFrom("plan_tokens")
      .select(["plan_id", "token"])
      .where("jti", "=", jti)
      .executeTakeFirst();
    return row && { planId: row.plan_id, token: row.token };
  }

  /** Changes the status, if it is one of `from`: to revoke, to reject. @returns false if it was another */
  async setStatus(
    planId: string,
    status: PlanStatus,
    { from, now }: { readonly from: readonly PlanStatus[]; readonly now: number },
  ): Promise<boolean> {
    if (from.length === 0) throw new IntentlockError("ERR_INVALID_OPTIONS", "from: expected at least one status");
    const rows = await this.#database.query
      .updateTable("plans")
      .set({ status, updated_at: now })
      .where("id", "=", planId)
      .where("status", "in", from)
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  /** Marks a plan that somebody should look at; `null` takes the mark away. @returns false if there is no such plan */
  async flag(planId: string, flagged: unknown): Promise<boolean> {
    const rows = await this.#database.query
      .updateTable("plans")
      .set({ flagged: writeJsonOrNull(flagged) })
      .where("id", "=", planId)
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  /** Takes a plan for one holder, or makes their lease longer. @returns false if another has it */
  async takeLease(
    planId: string,
    { holder, until, now }: { readonly holder: string; readonly until: number; readonly now: number },
  ): Promise<boolean> {
    checkNames({ holder });
    const rows = await this.#database.query
      .updateTable("plans")
      .set({ lease_holder: holder, lease_until: until })
      .where("id", "=", planId)
      .where(({ eb, or }) =>
        or([eb("lease_holder", "is", null), eb("lease_holder", "=", holder), eb("lease_until", "<=", now)]),
      )
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  /** Gives a lease back. @returns false if the holder does not have it */
  async releaseLease(planId: string, holder: string): Promise<boolean> {
    const rows = await this.#database.query
      .updateTable("plans")
      .set({ lease_holder: null, lease_until: null })
      .where("id", "=", planId)
      .where("lease_holder", "=", holder)
      .returning("id")
      .execute();
    return rows.length === 1;
  }
}

function toRow(plan: NewPlan) {
  return {
    id: plan.id,
    agent_id: plan.agentId,
    api_key_id: plan.apiKeyId,
    user_email: plan.userEmail,
    task: writeJson(plan.task),
    task_digest: plan.taskDigest,
    plan: writeJson(plan.plan),
    tools: writeJson(plan.tools),
    client_key: writeJsonOrNull(plan.clientKey),
    created_at: plan.createdAt,
    updated_at: plan.createdAt,
    status: plan.status,
    token: plan.token?.token ?? null,
    token_jti: plan.token?.jti ?? null,
    token_expires_at: plan.token?.expiresAt ?? null,
    used: writeJson(plan.plan.steps.map(() => 0)),
    spent: writeJson(NOTHING_SPENT),
    open_calls: "{}",
    reserved: null,
    seq: plan.entries?.length ?? 0,
    head: plan.head ?? null,
    holds_count: 0,
    lease_holder: null,
    lease_until: null,
    flagged: null,
  };
}
