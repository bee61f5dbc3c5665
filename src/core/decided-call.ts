import type { GateCall } from "./api/calls.ts";
import type { DecisionRecord } from "./audit.ts";
import { type Call, digestPrinted, type Evidence, isNamed } from "./call.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { Sha256 } from "./digest.ts";
import { freezeJson, MAX_ARGS_BYTES } from "./json.ts";
import type { OpenedToken } from "./plan-token.ts";
import type { SourceMatch } from "./sources/find-source.ts";
import { type BlockDecision, blockDecision, type Decision } from "./verdict.ts";

/** A call, read once, its arguments frozen. Without a digest it is not well-formed, and `check()` says what is wrong. */
export interface CallSnapshot extends Call {
  readonly digest?: string;
  /** The arguments' canonical JSON: printed once, for the digest and for the record. */
  readonly argsText?: string;
}

/** Copies a call before anything is decided about it. Never throws. */
export function snapshotCall(given: Omit<GateCall, "args"> & { readonly args?: unknown }, hash?: Sha256): CallSnapshot {
  let call: CallSnapshot = { callId: "", tool: "", args: undefined };
  try {
    const { callId, tool, args, fingerprint } = given;
    call = { callId, tool, args, ...(fingerprint !== undefined && { fingerprint }) };
    // What is recorded of it would be another call.
    if (!isNamed({ callId, tool, fingerprint })) return call;
    const frozen = freezeJson(args, MAX_ARGS_BYTES);
    const argsText = canonicalJson(frozen);
    return { ...call, args: frozen, digest: digestPrinted(tool, argsText, hash), argsText };
  } catch {
    return call;
  }
}

/** The block that a call gets whatever `check()` said: it only ever turns an allow or a hold into a block. */
export function overruleDecision(
  checked: Decision,
  { digest }: CallSnapshot,
  refusal: GateCall["refusal"],
): BlockDecision | undefined {
  if (refusal) return blockDecision(checked, refusal);
  if (checked.verdict === "block" || digest !== undefined) return undefined;
  // Arguments that were not JSON at the first reading and are at the second.
  return blockDecision(checked, { reason: "invalid_call", stage: "parse", detail: "the arguments cannot be read" });
}

/** What a decision rested on. */
export interface DecisionGrounds {
  readonly used: readonly number[];
  /** Seconds since the epoch. */
  readonly now: number;
  readonly evidence: Evidence | undefined;
  /** What `check()` said, and the block that was answered instead. */
  readonly checked: Decision;
  readonly answer: BlockDecision | undefined;
  /** Leave the arguments out. */
  readonly redact?: boolean;
}

/** The record of a decision, from which it can be made again. */
export function describeDecision(opened: OpenedToken, call: CallSnapshot, grounds: DecisionGrounds): DecisionRecord {
  const { used, now, evidence, checked, answer, redact = false } = grounds;
  return {
    // In the order of canonical JSON, see chainEntry().
    ...(answer && { answer: answer.reason }),
    ...(call.digest !== undefined && !redact && { args: call.args }),
    // As the decision names them: those of the call may be anything.
    callId: checked.callId,
    ...(call.digest !== undefined && { digest: call.digest }),
    ...recordEvidence(evidence),
    ...(call.digest !== undefined && call.fingerprint !== undefined && { fingerprint: call.fingerprint }),
    jti: opened.valid ? opened.claims.jti : "",
    now,
    ...(checked.verdict === "block" && { reason: checked.reason }),
    ...(checked.rule !== undefined && { rule: checked.rule }),
    ...(checked.sources && { sources: checked.sources.map(inOrder) }),
    ...(checked.step !== undefined && { step: checked.step }),
    tool: checked.tool,
    type: "decision",
    ...(checked.unpinned && { unpinned: checked.unpinned }),
    used,
    verdict: checked.verdict,
  };
}

/** Without what is only looked up: the task and the results of earlier calls. */
function recordEvidence({ approval, ledger }: Evidence = {}): Pick<DecisionRecord, "evidence"> {
  return approval || ledger ? { evidence: { ...(approval && { approval }), ...(ledger && { ledger }) } } : {};
}

function inOrder({ arg, from, path, seq }: SourceMatch): SourceMatch {
  return { arg, from, ...(path !== undefined && { path }), ...(seq !== undefined && { seq }) };
}
