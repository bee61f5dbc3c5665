import type { Selectable } from "kysely";
import type { Plan, PublicKey, Spent } from "../../core/index.ts";
import { readJson } from "./json-text.ts";
import type { PlanRow } from "./schema.ts";

/** `pending`: a person has to approve the plan before it is signed. */
export type PlanStatus = "pending" | "open" | "closed" | "revoked" | "rejected";

/** A call that was allowed and has no outcome yet: what is given back if it never started. */
export interface OpenCall {
  readonly step: number;
  readonly payoutMicros: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of the slot of the person's ledger that it was taken from too; absent if the budget has no limit per person. */
  readonly slotEnd?: number;
}

/** What a client that decides itself may take from the ledger of the plan's person, and what is debited there for it. */
export interface Reserved extends Spent {
  /** Of the slot that it is in. */
  readonly slotEnd: number;
  readonly windowSeconds: number;
}

/** What changes with every call under a plan. */
export interface PlanState {
  readonly id: string;
  readonly agentId: string;
  readonly apiKeyId: string;
  readonly userEmail: string;
  readonly status: PlanStatus;
  /** The client decides and signs its entries with this key; null: the server decides. */
  readonly clientKey: PublicKey | null;
  readonly createdAt: number;
  readonly tokenJti: string | null;
  /** Milliseconds since the epoch. */
  readonly tokenExpiresAt: number | null;
  /** The number of the next entry. */
  readonly seq: number;
  /** Digest of the last entry; null before the first. */
  readonly head: string | null;
  /** Calls taken, per step. */
  readonly used: readonly number[];
  readonly spent: Spent;
  /** By the `seq` of the decision. */
  readonly openCalls: Readonly<Record<string, OpenCall>>;
  /** Null: nothing, as for every plan that the server decides. */
  readonly reserved: Reserved | null;
  readonly leaseHolder: string | null;
  readonly leaseUntil: number | null;
}

/** What the user asked for. */
export interface StoredTask {
  readonly instruction: string;
  readonly material?: string;
  readonly earlier?: readonly string[];
}

/** What a person reads of a plan: the user's task and the steps. */
export interface PlanText {
  readonly id: string;
  readonly userEmail: string;
  readonly task: StoredTask;
  readonly plan: Plan;
}

/** A plan with everything that is known of it. */
export interface StoredPlan extends PlanState, PlanText {
  readonly taskDigest: string;
  readonly tools: Readonly<Record<string, string>>;
  /** The newest. */
  readonly token: string | null;
  readonly holdsCount: number;
  /** Why somebody should look at it; null if nobody has to. */
  readonly flagged: unknown;
  readonly updatedAt: number;
}

/** The columns of {@link PlanState}: without the texts that may be long. */
export const STATE_COLUMNS = [
  "id",
  "agent_id",
  "api_key_id",
  "user_email",
  "status",
  "client_key",
  "created_at",
  "token_jti",
  "token_expires_at",
  "seq",
  "head",
  "used",
  "spent",
  "open_calls",
  "reserved",
  "lease_holder",
  "lease_until",
] as const;

type StateRow = Pick<Selectable<PlanRow>, (typeof STATE_COLUMNS)[number]>;

export function toPlanState(row: StateRow): PlanState {
  return {
    id: row.id,
    agentId: row.agent_id,
    apiKeyId: row.api_key_id,
    userEmail: row.user_email,
    status: row.status as PlanStatus,
    clientKey: readJson<PublicKey>(row.client_key),
    createdAt: row.created_at,
    tokenJti: row.token_jti,
    tokenExpiresAt: row.token_expires_at,
    seq: row.seq,
    head: row.head,
    used: readJson<readonly number[]>(row.used),
    spent: readJson<Spent>(row.spent),
    openCalls: readJson<Readonly<Record<string, OpenCall>>>(row.open_calls),
    reserved: readJson<Reserved>(row.reserved),
    leaseHolder: row.lease_holder,
    leaseUntil: row.lease_until,
  };
}

export function toStoredPlan(row: Selectable<PlanRow>): StoredPlan {
  return {
    ...toPlanState(row),
    task: readJson<StoredTask>(row.task),
    taskDigest: row.task_digest,
    plan: readJson<Plan>(row.plan),
    tools: readJson<Readonly<Record<string, string>>>(row.tools),
    token: row.token,
    holdsCount: row.holds_count,
    flagged: readJson<unknown>(row.flagged),
    updatedAt: row.updated_at,
  };
}
