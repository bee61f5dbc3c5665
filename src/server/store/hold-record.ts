import type { Selectable } from "kysely";
import type { Approvers, Json } from "../../core/index.ts";
import { readJson, writeJson } from "./json-text.ts";
import type { HoldRow } from "./schema.ts";

export type HoldStatus = "pending" | "approved" | "rejected" | "expired" | "cancelled";

/** A call that waits for a person, or a plan that does. What is of a call is null for a plan. */
export interface NewHold {
  readonly id: string;
  readonly kind: "call" | "plan";
  readonly planId: string;
  readonly agentId: string;
  /** `seq` of the decision that held the call. */
  readonly decisionSeq: number | null;
  readonly callId: string | null;
  readonly tool: string | null;
  readonly fingerprint: string | null;
  /** Exactly what will run. */
  readonly args: Json | undefined;
  /** Of the action; of a plan: of the plan. */
  readonly digest: string;
  readonly step: number | null;
  readonly rule: string | null;
  readonly ruleReason: string | null;
  readonly approvers: Approvers;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A hold and what became of it. */
export interface Hold extends NewHold {
  readonly status: HoldStatus;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
  readonly comment: string | null;
  /** The signed approval token. */
  readonly approval: string | null;
  /** Milliseconds since the epoch. */
  readonly approvalExpiresAt: number | null;
  readonly claimedAt: number | null;
}

export function toHold(row: Selectable<HoldRow>): Hold {
  return {
    id: row.id,
    kind: row.kind as Hold["kind"],
    planId: row.plan_id,
    agentId: row.agent_id,
    decisionSeq: row.decision_seq,
    callId: row.call_id,
    tool: row.tool,
    fingerprint: row.fingerprint,
    args: row.args === null ? undefined : readJson<Json>(row.args),
    digest: row.digest,
    step: row.step,
    rule: row.rule,
    ruleReason: row.rule_reason,
    approvers: readJson<Approvers>(row.approvers),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    status: row.status as HoldStatus,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    comment: row.comment,
    approval: row.approval,
    approvalExpiresAt: row.approval_expires_at,
    claimedAt: row.claimed_at,
  };
}

/** The row of a hold that nobody has decided yet. */
export function toHoldRow(hold: NewHold): HoldRow {
  return {
    id: hold.id,
    kind: hold.kind,
    plan_id: hold.planId,
    agent_id: hold.agentId,
    decision_seq: hold.decisionSeq,
    call_id: hold.callId,
    tool: hold.tool,
    fingerprint: hold.fingerprint,
    args: hold.args === undefined ? null : writeJson(hold.args),
    digest: hold.digest,
    step: hold.step,
    rule: hold.rule,
    rule_reason: hold.ruleReason,
    approvers: writeJson(hold.approvers),
    status: "pending",
    created_at: hold.createdAt,
    expires_at: hold.expiresAt,
    decided_at: null,
    decided_by: null,
    comment: null,
    approval: null,
    approval_expires_at: null,
    claimed_at: null,
  };
}
