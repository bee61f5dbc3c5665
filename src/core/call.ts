import type { Ledger } from "./budget.ts";
import { canonicalJson } from "./canonical-json.ts";
import { digestText, type Sha256 } from "./digest.ts";
import { isToolName } from "./names.ts";
import type { RecordedMatch } from "./sources/recorded-sources.ts";
import type { StepResults } from "./sources/step-results.ts";
import type { TaskText } from "./sources/task-text.ts";
import { MAX_CALL_ID_CHARACTERS } from "./verdict.ts";

/** A tool call that somebody wants to make. All of it may be written by an attacker. */
export interface Call {
  readonly callId: string;
  readonly tool: string;
  readonly args: unknown;
  /** Of the tool as it is now, as `fingerprintTool()` gives it. Needed if the token holds one for the tool. */
  readonly fingerprint?: string;
}

/** What a person's approval is bound to, taken from an approval token that was verified and claimed. */
export interface Approval {
  readonly holdId: string;
  readonly planId: string;
  readonly rule: string;
  /** As {@link digestCall} gives it. */
  readonly digest: string;
  readonly fingerprint?: string;
  readonly approvedBy: string;
  /** Seconds since the epoch. */
  readonly exp: number;
}

/** What else a decision may rest on. Each has been verified before it comes here. */
export interface Evidence {
  readonly approval?: Approval;
  readonly ledger?: Ledger;
  /** What the user asked for, from `indexTask()`. Counts if it is the task that the plan was signed for. */
  readonly task?: TaskText;
  /** What earlier calls under the plan have given, from `createStepResults()`. */
  readonly results?: StepResults;
  /**
   * Where the record of a decision says that it found its values, for whoever makes it again without the results: taken on
   * trust, and the task too if it is not given. Results that are given as well do not count.
   */
  readonly recorded?: RecordedMatch;
}

/** The evidence that a record of a decision holds: the rest is looked up, or taken on trust. */
export type RecordedEvidence = Pick<Evidence, "approval" | "ledger">;

/** Digest of the action that a call is: the tool's name and the arguments. @throws IntentlockError `ERR_INVALID_JSON` */
export function digestCall(call: { readonly tool: string; readonly args: unknown }, hash?: Sha256): string {
  return digestPrinted(call.tool, canonicalJson(call.args), hash);
}

/** {@link digestCall} of arguments whose canonical JSON this is. */
export function digestPrinted(tool: string, args: string, hash?: Sha256): string {
  return digestText(`{"args":${args},"tool":${canonicalJson(tool)}}`, "call", hash);
}

/** Whether the call id, the tool's name and the fingerprint can be what they say they are. */
export function isNamed({ callId, tool, fingerprint }: { [Name in keyof Omit<Call, "args">]: unknown }): boolean {
  return isShortText(callId) && isToolName(tool) && (fingerprint === undefined || isShortText(fingerprint));
}

export function isShortText(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_CALL_ID_CHARACTERS && value.isWellFormed();
}
