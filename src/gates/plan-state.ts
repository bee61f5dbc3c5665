import { type AuditEvent, IntentlockError, type OpenedToken } from "../core/index.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { GateCall, GateListener, Outcome, SignedPlan } from "./gate.ts";
import type { Account } from "./local-ledger.ts";
import type { PlanSources } from "./plan-sources.ts";
import type { PlanFacts } from "./token-issuer.ts";

/** What a gate that decides by itself knows of a plan. */
export interface PlanState extends PlanFacts {
  /** Seconds since the epoch. */
  readonly signedAt: number;
  readonly listener: GateListener | undefined;
  readonly trail: AuditTrail;
  /** How many calls each step has taken. */
  readonly used: number[];
  readonly spent: Account;
  /** The allowed calls whose outcome is not known yet, by the number of their decision. */
  readonly open: Map<number, Reservation>;
  /** What values may have been copied from, while calls are decided; undefined if the plan names no source. */
  sources: PlanSources | undefined;
  /** Calls are allowed while it is open; it is closed once that is on record. */
  phase: "open" | "closing" | "closed";
  /** The newest token, and the last of the plan's tokens that a caller came with. */
  signed: SignedPlan;
  opened: OpenedToken;
  accepted: string;
  renewal: Promise<SignedPlan> | undefined;
  closing: Promise<void> | undefined;
  /** Why every call is refused from here on: whoever signs the plan has said so. */
  refusal: GateCall["refusal"];
}

/** What an allowed call has taken. */
export interface Reservation {
  readonly step: number;
  readonly giveBack: () => void;
}

/** Records what became of an allowed call, once. If that cannot be written it can be tried again. */
export async function recordOutcome(state: PlanState, outcome: Extract<Outcome, { type: "outcome" }>): Promise<void> {
  const { decisionSeq, status, durationMs, result } = outcome;
  const reservation = state.open.get(decisionSeq);
  if (!reservation) throw new IntentlockError("ERR_INVALID_OUTCOME", "No allowed call waits for this outcome");
  // Taken away first, so that only one of two outcomes of a call is recorded.
  state.open.delete(decisionSeq);
  try {
    const duration = durationMs === undefined ? {} : { durationMs };
    // In the order of canonical JSON, see chainEntry().
    await writeEvent(state.trail, { decisionSeq, ...duration, status, type: "outcome" });
  } catch (error) {
    state.open.set(decisionSeq, reservation);
    throw error;
  }
  // Not before it is on record: counts that are rebuilt from the records must never be lower than these.
  if (status === "aborted") reservation.giveBack();
  // Nor may a decision rest on a result of which they do not say that there was one.
  if (status === "ok") state.sources?.results.add(reservation.step, decisionSeq, result);
}

/**
 * Records that a plan is closed, once. From here on none of its calls is allowed, even if that cannot be written yet and
 * has to be tried again.
 */
export async function recordClosed(state: PlanState): Promise<void> {
  if (state.phase === "closed") throw unknownPlan();
  state.phase = "closing";
  state.sources = undefined;
  state.closing ??= writeClosed(state);
  await state.closing;
}

async function writeClosed(state: PlanState): Promise<void> {
  try {
    await writeEvent(state.trail, { type: "closed" });
    state.phase = "closed";
  } finally {
    state.closing = undefined;
  }
}

/** @throws IntentlockError `ERR_AUDIT_WRITE` */
export async function writeEvent(trail: AuditTrail, event: AuditEvent): Promise<void> {
  try {
    await trail.write(event);
  } catch (cause) {
    throw new IntentlockError("ERR_AUDIT_WRITE", "The audit entry could not be written", { cause });
  }
}

export function unknownPlan(): IntentlockError {
  return new IntentlockError("ERR_UNKNOWN_PLAN", "This gate did not sign the plan, or it is closed");
}
