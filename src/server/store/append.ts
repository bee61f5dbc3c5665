import type { VerdictCheckAnswer } from "../../core/api/index.ts";
import { answerOf } from "../../core/audit.ts";
import { type AuditEntry, IntentlockError, type Spent } from "../../core/index.ts";
import { TOOL_NAME } from "../../core/names.ts";
import type { SlidingWindow } from "../../core/sliding-window.ts";
import { writeJson } from "./json-text.ts";
import { checkNames } from "./parameters.ts";
import type { OpenCall, PlanStatus, Reserved } from "./plan-record.ts";

/** Whether a decision that a client made could be made again, and was the same. */
export type VerdictCheck = VerdictCheckAnswer;

/** A token that was signed for a plan. */
export interface IssuedToken {
  readonly jti: string;
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The next entries of a plan, and what the plan becomes with them. */
export interface PlanAppend {
  /** The plan's `seq` as the caller read it: if it is another by now, nothing happens. */
  readonly expectSeq: number;
  /** May be none: then only the rest changes. */
  readonly entries: readonly AuditEntry[];
  /** For decisions that a client made, one for each entry. */
  readonly verdictChecks?: readonly (VerdictCheck | null)[];
  /** Digest of the last entry. */
  readonly head: string | null;
  readonly used: readonly number[];
  readonly spent: Spent;
  readonly openCalls: Readonly<Record<string, OpenCall>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What the plan's status must be: `open` unless told otherwise. */
  readonly whileStatus?: readonly PlanStatus[];
  /** What it becomes. */
  readonly status?: PlanStatus;
  readonly token?: IssuedToken;
  /** A hold of this plan that is approved, not expired and not claimed yet: it is claimed, or nothing happens at all. */
  readonly claimHoldId?: string;
  /** The key with which it was asked for: it is in use, and so is its agent, or nothing happens. */
  readonly apiKeyId?: string;
  /** What the ledger of the plan's person becomes with it. */
  readonly ledger?: LedgerChange;
  /** What is reserved for the plan from then on. */
  readonly reserved?: Reserved;
}

/** A change of a person's ledger. */
export interface LedgerChange {
  /** The ledger's version as the caller read it: if it is another by now, nothing happens at all. */
  readonly expectVersion: number;
  readonly window: SlidingWindow;
}

/** Writes an append: true if it happened, false if somebody else was first or a condition does not hold. */
export type AppendToPlan = (planId: string, append: PlanAppend) => Promise<boolean>;

/** An append as the values that a database is given. */
export interface AppendValues {
  readonly planId: string;
  readonly expectSeq: number;
  readonly nextSeq: number;
  readonly head: string | null;
  readonly used: string;
  readonly spent: string;
  readonly openCalls: string;
  readonly now: number;
  readonly whileStatus: readonly string[];
  readonly status: string | null;
  readonly token: IssuedToken | undefined;
  readonly claimHoldId: string | undefined;
  readonly apiKeyId: string | null;
  readonly ledger: { readonly expectVersion: number; readonly text: string } | undefined;
  readonly reserved: string | null;
  readonly entries: readonly EntryValues[];
}

export interface EntryValues {
  readonly seq: number;
  readonly entry: string;
  readonly verdictCheck: string | null;
  readonly decisionJti: string | null;
  /** Of a decision, what lists are filtered by; null for other entries. The verdict and the reason are as it was answered. */
  readonly tool: string | null;
  readonly verdict: string | null;
  readonly reason: string | null;
}

/**
 * @throws IntentlockError `ERR_AUDIT_WRITE` for entries of another plan or with other numbers than the next, and for a
 * token together with a claim or a ledger: no event has both
 */
export function toAppendValues(planId: string, append: PlanAppend): AppendValues {
  const { expectSeq, entries, verdictChecks, token } = append;
  checkNames({ "token.jti": token?.jti });
  const isNext = entries.every((entry, index) => entry.planId === planId && entry.seq === expectSeq + index);
  if (!isNext) throw new IntentlockError("ERR_AUDIT_WRITE", "The entries are not the next ones of the plan");
  const { claimHoldId, ledger } = append;
  if (token && (claimHoldId !== undefined || ledger)) {
    throw new IntentlockError("ERR_AUDIT_WRITE", "An append that brings a token takes nothing");
  }
  return {
    planId,
    expectSeq,
    nextSeq: expectSeq + entries.length,
    head: append.head,
    used: writeJson(append.used),
    spent: writeJson(append.spent),
    openCalls: writeJson(append.openCalls),
    now: append.now,
    whileStatus: append.whileStatus ?? ["open"],
    status: append.status ?? null,
    token,
    claimHoldId,
    apiKeyId: append.apiKeyId ?? null,
    ledger: ledger && { expectVersion: ledger.expectVersion, text: writeJson(ledger.window) },
    reserved: append.reserved ? writeJson(append.reserved) : null,
    entries: entries.map((entry, index) => toEntryValues(entry, verdictChecks?.[index])),
  };
}

export function toEntryValues(entry: AuditEntry, verdictCheck: VerdictCheck | null = null): EntryValues {
  const { event, seq } = entry;
  const values = { seq, entry: writeJson(entry), verdictCheck };
  if (event.type !== "decision") return { ...values, decisionJti: null, tool: null, verdict: null, reason: null };
  const { verdict, reason } = answerOf(event);
  // A call may name any tool. What is no name of one cannot be stored everywhere, and nobody looks for it.
  const tool = TOOL_NAME.test(event.tool) ? event.tool : null;
  return { ...values, decisionJti: event.jti, tool, verdict, reason: reason ?? null };
}
