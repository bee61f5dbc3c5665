import { isNamed } from "../core/call.ts";
import {
  type AllowDecision,
  type Approval,
  type BlockDecision,
  type Call,
  check,
  type Decision,
  type DecisionRecord,
  digestCall,
  type Evidence,
  IntentlockError,
  MAX_ARGS_BYTES,
  type OpenedToken,
} from "../core/index.ts";
import { freezeJson } from "../core/json.ts";
import { type Block, blockDecision, nameCall } from "../core/verdict.ts";
import type { GateCall } from "./gate.ts";
import type { LocalLedger } from "./local-ledger.ts";
import { nodeSha256 } from "./node-sha256.ts";
import type { PlanState, Reservation } from "./plan-state.ts";

interface DecideOptions {
  /** The token to decide under. */
  readonly opened: OpenedToken;
  /** Take what the call takes, and record the decision. */
  readonly reserve: boolean;
  /** Seconds since the epoch. */
  readonly now: number;
  readonly ledger: LocalLedger;
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
export async function decideLocally(state: PlanState, given: GateCall, options: DecideOptions): Promise<Decision> {
  const { opened, now, ledger, reserve, elapsedUs } = options;
  const call = snapshotCall(given);
  const email = opened.valid ? opened.claims.sub : "";
  const budget = opened.valid ? opened.claims.budget : undefined;
  const read = budget && { ledger: ledger.read(state.spent, email, now) };
  const approved = options.approval && { approval: options.approval };
  const evidence: Evidence | undefined = read || approved ? { ...approved, ...read } : undefined;
  const used = [...state.used];
  const checked = check({ token: opened, call, used, now, ...(evidence && { evidence }) });
  const answer = overrule(checked, call, options);
  const decision = answer ?? checked;
  const named = call.digest === undefined ? {} : { digest: call.digest };
  if (!reserve) return Object.freeze({ ...decision, ...named, elapsedUs: elapsedUs() });

  const reservation = decision.verdict === "allow" ? take(state, decision, { ledger, email, now }) : undefined;
  const record = describeDecision(opened, call, { used, now, evidence, checked, answer, redact: options.redact });
  try {
    const seq = await state.trail.write(record);
    if (reservation) state.open.set(seq, reservation);
    return Object.freeze({ ...decision, ...named, seq, elapsedUs: elapsedUs() });
  } catch (error) {
    reservation?.giveBack();
    const failed = blockDecision(decision, describeFailedWrite(error));
    return Object.freeze({ ...failed, ...named, elapsedUs: elapsedUs() });
  }
}

/** The call, read once, its arguments frozen. Without a digest it is not well-formed, and `check()` says what is wrong. */
export interface Snapshot extends Call {
  readonly digest?: string;
}

export function snapshotCall(given: GateCall): Snapshot {
  let call: Snapshot = { callId: "", tool: "", args: undefined };
  try {
    const { callId, tool, args, fingerprint } = given;
    call = { callId, tool, args, ...(fingerprint !== undefined && { fingerprint }) };
    // What is recorded of it would be another call.
    if (!isNamed({ callId, tool, fingerprint })) return call;
    const frozen = freezeJson(args, MAX_ARGS_BYTES);
    return { ...call, args: frozen, digest: digestCall({ tool, args: frozen }, nodeSha256) };
  } catch {
    return call;
  }
}

/** The block that a call gets whatever `check()` said: it only ever turns an allow or a hold into a block. */
function overrule(
  checked: Decision,
  { digest }: Snapshot,
  { refusal, holds }: Pick<DecideOptions, "refusal" | "holds">,
): BlockDecision | undefined {
  if (refusal) return blockDecision(checked, refusal);
  if (checked.verdict === "block") return undefined;
  if (digest === undefined) {
    // Arguments that were not JSON at the first reading and are at the second.
    return blockDecision(checked, { reason: "invalid_call", stage: "parse", detail: "the arguments cannot be read" });
  }
  if (checked.verdict === "hold" && !holds) {
    const detail = "a rule of the policy wants a person to approve it";
    return blockDecision(checked, { reason: "hold_requires_server", stage: "gate", detail, step: checked.step });
  }
  return undefined;
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
    // In the order of canonical JSON, see chainEntry().
    ...(answer && { answer: answer.reason }),
    ...(call.digest !== undefined && !redact && { args: call.args }),
    // As the decision names them: those of the call may be anything.
    callId: checked.callId,
    ...(call.digest !== undefined && { digest: call.digest }),
    ...(evidence && { evidence }),
    ...(call.digest !== undefined && call.fingerprint !== undefined && { fingerprint: call.fingerprint }),
    jti: opened.valid ? opened.claims.jti : "",
    now,
    ...(checked.verdict === "block" && { reason: checked.reason }),
    ...(checked.rule !== undefined && { rule: checked.rule }),
    ...(checked.step !== undefined && { step: checked.step }),
    tool: checked.tool,
    type: "decision",
    used,
    verdict: checked.verdict,
  };
}

/** A block of a call that was not decided. Never throws. */
export function refuseCall(call: GateCall, block: Block): BlockDecision {
  return Object.freeze(blockDecision(nameCall(call, ""), block));
}
