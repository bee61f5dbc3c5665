import {
  type AllowDecision,
  type BlockDecision,
  type Call,
  check,
  type Decision,
  type DecisionRecord,
  digestCall,
  type Evidence,
  MAX_ARGS_BYTES,
  type OpenedToken,
  type Plan,
} from "../core/index.ts";
import { freezeJson } from "../core/json.ts";
import { type Block, blockDecision } from "../core/verdict.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { GateCall, SignedPlan, UserInput } from "./gate.ts";
import type { Account, LocalLedger } from "./local-ledger.ts";
import { nodeSha256 } from "./node-sha256.ts";

/** What a gate without a server knows of a plan. */
export interface PlanState {
  readonly planId: string;
  readonly plan: Plan;
  readonly user: UserInput;
  readonly tools: Readonly<Record<string, string>>;
  readonly task: string;
  /** Seconds since the epoch. */
  readonly signedAt: number;
  readonly trail: AuditTrail;
  /** How many calls each step has taken. */
  readonly used: number[];
  readonly spent: Account;
  /** The allowed calls whose outcome is not known yet, by the number of their decision. */
  readonly open: Map<number, Reservation>;
  /** The newest token, and the last of the plan's tokens that a caller came with. */
  signed: SignedPlan;
  opened: OpenedToken;
  accepted: string;
  renewal: Promise<SignedPlan> | undefined;
}

/** What an allowed call has taken. */
export interface Reservation {
  readonly giveBack: () => void;
}

interface DecideOptions {
  /** Take what the call takes, and record the decision. */
  readonly reserve: boolean;
  /** Seconds since the epoch. */
  readonly now: number;
  readonly ledger: LocalLedger;
  readonly redact: boolean;
  readonly elapsedUs: () => number;
}

/** Decides about a call of a plan; between the look at the counts and the reservation nothing else runs. */
export async function decideLocally(state: PlanState, given: GateCall, options: DecideOptions): Promise<Decision> {
  const { now, ledger, reserve, elapsedUs } = options;
  const { opened } = state;
  const call = snapshotCall(given);
  const email = opened.valid ? opened.claims.sub : "";
  const evidence = ledger.budget && { ledger: ledger.read(state.spent, email, now) };
  const used = [...state.used];
  const checked = check({ token: opened, call, used, now, ...(evidence && { evidence }) });
  const answer = overrule(checked, call, given.refusal);
  const decision = answer ?? checked;
  const named = call.digest === undefined ? {} : { digest: call.digest };
  if (!reserve) return Object.freeze({ ...decision, ...named, elapsedUs: elapsedUs() });

  const reservation = decision.verdict === "allow" ? take(state, decision, { ledger, email, now }) : undefined;
  const record = describeDecision(opened, call, { used, now, evidence, checked, answer, redact: options.redact });
  try {
    const seq = await state.trail.write(record);
    if (reservation) state.open.set(seq, reservation);
    return Object.freeze({ ...decision, ...named, seq, elapsedUs: elapsedUs() });
  } catch {
    reservation?.giveBack();
    const failed = blockDecision(decision, {
      reason: "audit_write_failed",
      stage: "gate",
      detail: "the audit entry could not be written",
    });
    return Object.freeze({ ...failed, ...named, elapsedUs: elapsedUs() });
  }
}

/** The call with its arguments read once and frozen. Without a digest they were not JSON, and `check()` says what is wrong. */
interface Snapshot extends Call {
  readonly digest?: string;
}

function snapshotCall({ callId, tool, args, fingerprint }: GateCall): Snapshot {
  const named = { callId, tool, ...(fingerprint === undefined ? {} : { fingerprint }) };
  try {
    const frozen = freezeJson(args, MAX_ARGS_BYTES);
    return { ...named, args: frozen, digest: digestCall({ tool, args: frozen }, nodeSha256) };
  } catch {
    return { ...named, args };
  }
}

/** The block that a call gets whatever `check()` said: it only ever turns an allow or a hold into a block. */
function overrule(checked: Decision, call: Snapshot, refusal: GateCall["refusal"]): BlockDecision | undefined {
  if (refusal) return blockDecision(checked, refusal);
  if (checked.verdict === "block") return undefined;
  if (call.digest === undefined) {
    // Arguments that were not JSON at the first reading and are at the second.
    return blockDecision(checked, { reason: "invalid_call", stage: "parse", detail: "the arguments cannot be read" });
  }
  if (checked.verdict === "hold") {
    const detail = "a rule of the policy wants a person to approve it";
    return blockDecision(checked, { reason: "hold_requires_server", stage: "gate", detail, step: checked.step });
  }
  return undefined;
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
    giveBack: () => {
      used[step] = (used[step] ?? 0) - 1;
      credit();
    },
  };
}

function describeDecision(
  opened: OpenedToken,
  call: Snapshot,
  rest: {
    readonly used: readonly number[];
    readonly now: number;
    readonly evidence: Evidence | undefined;
    readonly checked: Decision;
    readonly answer: BlockDecision | undefined;
    readonly redact: boolean;
  },
): DecisionRecord {
  const { used, now, evidence, checked, answer, redact } = rest;
  return {
    type: "decision",
    jti: opened.valid ? opened.claims.jti : "",
    // As the decision names them: those of the call may be anything.
    callId: checked.callId,
    tool: checked.tool,
    ...(call.fingerprint !== undefined && { fingerprint: call.fingerprint }),
    ...(call.digest !== undefined && { digest: call.digest, ...(!redact && { args: call.args }) }),
    used,
    now,
    ...(evidence && { evidence }),
    verdict: checked.verdict,
    ...(checked.verdict === "block" && { reason: checked.reason }),
    ...(checked.step !== undefined && { step: checked.step }),
    ...(checked.rule !== undefined && { rule: checked.rule }),
    ...(answer && { answer: answer.reason }),
  };
}

/** A block of a call that was not decided. */
export function refuseCall(call: GateCall, block: Block): BlockDecision {
  const callId = typeof call.callId === "string" ? call.callId : "";
  return Object.freeze(
    blockDecision({ callId, tool: typeof call.tool === "string" ? call.tool : "", planId: "" }, block),
  );
}
