import { type Approval, digestCall, type RecordedEvidence } from "./call.ts";
import { canonicalJson } from "./canonical-json.ts";
import { check } from "./check.ts";
import { digestText, type Sha256 } from "./digest.ts";
import type { OpenedToken } from "./plan-token.ts";
import type { SourceMatch } from "./sources/find-source.ts";
import type { TaskText } from "./sources/task-text.ts";
import type { Decision } from "./verdict.ts";

/** One record of what happened under a plan. `seq` counts from 0; `prev` is the digest of the entry before, or null. */
export interface AuditEntry {
  readonly v: 1;
  readonly planId: string;
  readonly seq: number;
  readonly prev: string | null;
  /** Milliseconds since the epoch, by the clock of whoever wrote it. */
  readonly at: number;
  readonly event: AuditEvent;
}

/** What happened. */
export type AuditEvent =
  | { readonly type: "plan_signed"; readonly token: string }
  | { readonly type: "refresh"; readonly token: string }
  | DecisionRecord
  | { readonly type: "hold"; readonly decisionSeq: number; readonly holdId: string }
  | { readonly type: "approval"; readonly decisionSeq: number; readonly approval: Approval }
  | {
      readonly type: "outcome";
      readonly decisionSeq: number;
      readonly status: OutcomeStatus;
      readonly durationMs?: number;
    }
  | { readonly type: "closed" };

/** `aborted`: the tool never started. `unknown`: it started, and nobody saw it end. */
export type OutcomeStatus = "ok" | "failed" | "aborted" | "unknown";

/** A decision with everything it rested on, so that {@link recomputeDecision} can make it again. */
export interface DecisionRecord {
  readonly type: "decision";
  /** Of the token that it was decided under. */
  readonly jti: string;
  readonly callId: string;
  readonly tool: string;
  readonly fingerprint?: string;
  /** Digest of the tool and the arguments; absent if the call was not well-formed. */
  readonly digest?: string;
  /** Absent if they were redacted, or if the call was not well-formed: the decision cannot be recomputed then. */
  readonly args?: unknown;
  readonly used: readonly number[];
  /** Seconds since the epoch. */
  readonly now: number;
  readonly evidence?: RecordedEvidence;
  /** What `check()` said; the call was answered so unless there is an `answer`. */
  readonly verdict: Decision["verdict"];
  readonly reason?: string;
  readonly step?: number;
  readonly rule?: string;
  /** Where the values were found that the step wants from somewhere. The results themselves are not on record. */
  readonly sources?: readonly SourceMatch[];
  /** The arguments for which a rule with `unpinned` decided. */
  readonly unpinned?: readonly string[];
  /** The reason for which the call was blocked all the same, outside `check()`. */
  readonly answer?: string;
}

/** How a call was answered: blocked also where `check()` said otherwise and the call was blocked outside of it. */
export function answerOf({ verdict, reason, answer }: DecisionRecord): Pick<DecisionRecord, "verdict" | "reason"> {
  if (answer !== undefined) return { verdict: "block", reason: answer };
  return { verdict, ...(reason !== undefined && { reason }) };
}

/** The end of a chain of entries: what the next one needs. */
export interface ChainHead {
  readonly planId: string;
  readonly seq: number;
  readonly prev: string | null;
}

export function startChain(planId: string): ChainHead {
  return { planId, seq: 0, prev: null };
}

/** An entry that was just added to a chain. */
export interface ChainedEntry {
  readonly entry: AuditEntry;
  /** The text that was hashed: its canonical JSON, without the arguments of a call. */
  readonly hashed: string;
  /** The end of the chain with it. */
  readonly head: ChainHead;
}

/** Adds an event to a chain. @throws IntentlockError `ERR_INVALID_JSON` if the event is not JSON */
export function chainEntry(
  head: ChainHead,
  event: AuditEvent,
  options: { readonly at: number; readonly hash?: Sha256 },
): ChainedEntry {
  const { planId, seq, prev } = head;
  // The keys are in canonical order, and those of decisions too: then the text to hash needs no sorting.
  const entry: AuditEntry = { at: options.at, event, planId, prev, seq, v: 1 };
  const hashed = textToHash(entry);
  return { entry, hashed, head: { planId, seq: seq + 1, prev: digestText(hashed, "audit", options.hash) } };
}

/**
 * The JSON text of an entry that was just chained, from the text that was hashed.
 *
 * @param args the canonical JSON of the arguments, from whoever has it
 */
export function printEntry({ entry: { event }, hashed }: ChainedEntry, args?: string): string {
  if (event.type !== "decision" || event.args === undefined) return hashed;
  // The first: only a number stands before it.
  const start = hashed.indexOf(EVENT) + EVENT.length;
  return `${hashed.slice(0, start)}"args":${args ?? canonicalJson(event.args)},${hashed.slice(start)}`;
}

const EVENT = '"event":{';

/**
 * The digest that the next entry names. The arguments of a call are in it by the call's digest, so that they can be
 * removed later and the chain still verifies.
 */
export function digestEntry(entry: AuditEntry, hash?: Sha256): string {
  return digestText(textToHash(entry), "audit", hash);
}

function textToHash(entry: AuditEntry): string {
  if (entry.event.type !== "decision") return canonicalJson(entry);
  const { args: _, ...event } = entry.event;
  return canonicalJson({ ...entry, event });
}

/** What is wrong with a chain of entries, and at which. */
export interface ChainProblem {
  readonly seq: number;
  readonly problem: string;
}

/**
 * Checks a plan's entries from the first: no gap, no fork, nothing changed, arguments that belong to their digest. The
 * entries may come from anybody.
 *
 * @returns the chain's head, or the first problem. Nothing follows on the last entry: that it is the last and unchanged
 * shows only when the head is compared with one that was kept elsewhere.
 */
export function verifyChain(entries: readonly AuditEntry[], planId: string, hash?: Sha256): ChainResult {
  return continueChain(startChain(planId), entries, hash);
}

/** The head of a chain that is in order, or the first thing that is wrong with it. */
export type ChainResult =
  | { readonly head: ChainHead; readonly problem?: undefined }
  | { readonly head?: undefined; readonly problem: ChainProblem };

/** {@link verifyChain} of the entries that follow on a head that is known: of a receipt, or of the entries before. */
export function continueChain(from: ChainHead, entries: readonly AuditEntry[], hash?: Sha256): ChainResult {
  let head = from;
  for (const entry of entries) {
    const { seq } = head;
    try {
      const problem = findProblem(entry, head, hash);
      if (problem !== undefined) return { problem: { seq, problem } };
      head = { planId: head.planId, seq: seq + 1, prev: digestEntry(entry, hash) };
    } catch {
      return { problem: { seq, problem: "it is not an audit entry" } };
    }
  }
  return { head };
}

function findProblem(entry: AuditEntry, head: ChainHead, hash: Sha256 | undefined): string | undefined {
  const { event } = entry;
  if (entry.v !== 1 || entry.planId !== head.planId) return "another version or plan";
  if (entry.seq !== head.seq) return `entry ${entry.seq} stands where ${head.seq} should`;
  if (entry.prev !== head.prev) return "it does not follow from the entry before";
  if (event.type !== "decision" || event.args === undefined) return undefined;
  const isTheirs = digestCall({ tool: event.tool, args: event.args }, hash) === event.digest;
  return isTheirs ? undefined : "its arguments are not those of its digest";
}

/**
 * Decides again what a record says was decided. What the results of earlier calls said is taken on trust, as the record
 * has it in `sources`, and that a value was not found there; and what the user said, without the task.
 *
 * @param token the signed token with the record's `jti`, opened
 * @param options.task what the user asked for, from `indexTask()`
 * @returns undefined if the record lacks the arguments or the token is another
 */
export function recomputeDecision(
  record: DecisionRecord,
  token: OpenedToken,
  { task }: { readonly task?: TaskText | undefined } = {},
): Decision | undefined {
  if (record.args === undefined || !token.valid || token.claims.jti !== record.jti) return undefined;
  const { callId, tool, args, fingerprint, used, now, evidence } = record;
  const call = { callId, tool, args, ...(fingerprint === undefined ? {} : { fingerprint }) };
  return check({ token, call, used, now, evidence: { ...evidence, recorded: record, ...(task && { task }) } });
}

/** Whether a decision is what a record says, as far as both go: verdict, reason, step, rule and which arguments are open. */
export function agreesWithRecord(record: DecisionRecord, decision: Decision): boolean {
  const reason = decision.verdict === "block" ? decision.reason : undefined;
  return (
    record.verdict === decision.verdict &&
    record.reason === reason &&
    record.step === decision.step &&
    record.rule === decision.rule &&
    JSON.stringify(record.unpinned ?? []) === JSON.stringify(decision.unpinned ?? [])
  );
}
