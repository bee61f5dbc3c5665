import { countAllButReserved } from "../core/budget.ts";
import { type CallSnapshot, describeDecision, overruleDecision, snapshotCall } from "../core/decided-call.ts";
import {
  type AllowDecision,
  type Approval,
  type BlockDecision,
  type Budget,
  check,
  type Decision,
  type Evidence,
  IntentlockError,
  type Ledger,
  type OpenedToken,
  type Spent,
} from "../core/index.ts";
import { type Block, blockDecision, nameCall } from "../core/verdict.ts";
import type { GateCall } from "./gate.ts";
import type { LocalLedger } from "./local-ledger.ts";
import { nodeSha256 } from "./node-sha256.ts";
import type { PlanState, Reservation } from "./plan-state.ts";

export interface DecideOptions {
  /** The token to decide under. */
  readonly opened: OpenedToken;
  /** Take what the call takes, and record the decision. */
  readonly reserve: boolean;
  /** Seconds since the epoch. */
  readonly now: number;
  readonly ledger: LocalLedger;
  /** What a server has reserved for the plan of the person's budget, where a server keeps that. */
  readonly reserved: Spent | undefined;
  readonly redact: boolean;
  readonly elapsedUs: () => number;
  /** There are people to ask about a held call. */
  readonly holds: boolean;
  /** Of a person, claimed for this call. */
  readonly approval: Approval | undefined;
  /** The call is refused, whatever `check()` says. */
  readonly refusal: GateCall["refusal"];
}

/** Decides about a call of a plan; between the look at the counts and the reservation nothing else runs. */
export function decideLocally(state: PlanState, given: GateCall, options: DecideOptions): Decision | Promise<Decision> {
  const { opened, now, ledger, reserve, elapsedUs } = options;
  const call = snapshotCall(given, nodeSha256);
  const email = opened.valid ? opened.claims.sub : "";
  const budget = opened.valid ? opened.claims.budget : undefined;
  const read = budget && {
    ledger: readLedger(state.spent, budget, { ledger, email, now, reserved: options.reserved }),
  };
  const approved = options.approval && { approval: options.approval };
  const { sources } = state;
  const evidence: Evidence | undefined = read || approved || sources ? { ...approved, ...read, ...sources } : undefined;
  const used = [...state.used];
  const checked = check({ token: opened, call, used, now, ...(evidence && { evidence }) });
  const answer = overrule(checked, call, options);
  const decision = answer ?? checked;
  const named = call.digest === undefined ? {} : { digest: call.digest };
  if (!reserve) return Object.freeze({ ...decision, ...named, elapsedUs: elapsedUs() });

  const reservation = decision.verdict === "allow" ? take(state, decision, { ledger, email, now }) : undefined;
  const record = describeDecision(opened, call, { used, now, evidence, checked, answer, redact: options.redact });
  const stored = (seq: number): Decision => {
    if (reservation) state.open.set(seq, reservation);
    return Object.freeze({ ...decision, ...named, seq, elapsedUs: elapsedUs() });
  };
  const failed = (error: unknown): Decision => {
    reservation?.giveBack();
    const blocked = blockDecision(decision, describeFailedWrite(error));
    return Object.freeze({ ...blocked, ...named, elapsedUs: elapsedUs() });
  };
  const written = state.trail.write(record, call.argsText);
  return typeof written === "number" ? stored(written) : written.then(stored, failed);
}

function readLedger(
  spent: Spent,
  { principal: limit }: Budget,
  { ledger, email, now, reserved }: Pick<DecideOptions, "ledger" | "now" | "reserved"> & { readonly email: string },
): Ledger {
  const read = ledger.read(spent, email, now);
  return limit && reserved ? { ...read, principal: countAllButReserved(limit, reserved, spent) } : read;
}

/** The block that a call gets whatever `check()` said, also where there is nobody to ask about a hold. */
function overrule(
  checked: Decision,
  call: CallSnapshot,
  { refusal, holds }: Pick<DecideOptions, "refusal" | "holds">,
): BlockDecision | undefined {
  const overruled = overruleDecision(checked, call, refusal);
  if (overruled || checked.verdict !== "hold" || holds) return overruled;
  const detail = "a rule of the policy wants a person to approve it";
  return blockDecision(checked, { reason: "hold_requires_server", stage: "gate", detail, step: checked.step });
}

function describeFailedWrite(error: unknown): Block {
  const isBacklog = error instanceof IntentlockError && error.code === "ERR_AUDIT_BACKLOG";
  if (isBacklog) {
    const detail = "the server does not take the audit entries that wait for it";
    return { reason: "audit_backlog", stage: "gate", detail };
  }
  return { reason: "audit_write_failed", stage: "gate", detail: "the audit entry could not be written" };
}

function take(
  state: PlanState,
  { step, payoutMicros = 0 }: AllowDecision,
  { ledger, email, now }: { readonly ledger: LocalLedger; readonly email: string; readonly now: number },
): Reservation {
  const { used } = state;
  used[step] = (used[step] ?? 0) + 1;
  const credit = ledger.debit(state.spent, email, { now, payoutMicros });
  return {
    step,
    giveBack: () => {
      used[step] = (used[step] ?? 0) - 1;
      credit();
    },
  };
}

/** A block of a call that was not decided. Never throws. */
export function refuseCall(call: GateCall, block: Block): BlockDecision {
  return Object.freeze(blockDecision(nameCall(call, ""), block));
}
