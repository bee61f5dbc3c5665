import { BLOCK_REASONS, type BlockReason } from "../../core/index.ts";

/** What a request that is no well-formed `tools/call` was refused for. */
const PARSE_CODES = ["invalid_encoding", "invalid_json", "invalid_request"] as const;

/**
 * Why a call was denied, for programs. Beside the reasons of a block: the three of requests that are not well-formed,
 * `rule_denied` for a rule of the policy, whose id is in `policy`, and `hold_pending` for a call that waits for a person
 * where nobody can wait for them.
 */
export type DenialCode = BlockReason | (typeof PARSE_CODES)[number] | "rule_denied" | "hold_pending";

/** Every {@link DenialCode}. */
export const DENIAL_CODES: readonly DenialCode[] = Object.freeze([
  ...PARSE_CODES,
  "rule_denied",
  "hold_pending",
  ...BLOCK_REASONS,
] as const);

/** The gate that denied a call; they are asked in this order. */
export type DenialStage = "parse" | "schema" | "policy" | "budget";

/** An id of a JSON-RPC request. */
export type JsonRpcId = string | number;

/** What is sent in place of a result. */
export interface JsonRpcErrorResponse {
  readonly jsonrpc: "2.0";
  /** The request's; null if it could not be read. */
  readonly id: JsonRpcId | null;
  readonly error: {
    /** In the range of server errors: -32010 parse, -32011 schema, -32012 policy, -32013 budget. */
    readonly code: number;
    readonly message: string;
    readonly data: { readonly denialCode: DenialCode; readonly stage: DenialStage; readonly reason: string };
  };
}

/** The call may run, once: claim it with `claimToolCall`. */
export interface AllowedToolVerdict {
  readonly outcome: "allowed";
  readonly tool: string;
  /**
   * What is left under the limit that would be the first to refuse another such call: calls, or USD micros. Null without
   * a budget.
   */
  readonly budgetRemaining: number | null;
  /** Microseconds from the payload to the verdict, the wait for a person included. */
  readonly elapsedUs: number;
  /** USD micros that the call has taken from the budget. */
  readonly payoutMicros: number;
  /** E-mail of the person whose budget the call has taken from, beside that of the session. */
  readonly principalId?: string;
}

/** The call must not run. */
export interface BlockedToolVerdict {
  readonly outcome: "blocked";
  /** `<unparsed>` if the request does not say. */
  readonly tool: string;
  readonly stage: DenialStage;
  /** Id of the rule that denied the call, and only then. */
  readonly policy?: string;
  readonly denialCode: DenialCode;
  /** What the model may read. */
  readonly reason: string;
  /** Ready to send. */
  readonly response: JsonRpcErrorResponse;
  readonly elapsedUs: number;
}

/**
 * The one answer to one `tools/call`. There may be more variants one day: ask {@link isAllowed}, and take whatever is not
 * allowed for blocked.
 */
export type ToolVerdict = AllowedToolVerdict | BlockedToolVerdict;

/** Whether the call may run. Nothing else in a verdict says so. */
export function isAllowed(verdict: ToolVerdict): verdict is AllowedToolVerdict {
  return verdict.outcome === "allowed";
}

/** What a {@link BlockedToolVerdict} is made of. */
export interface Denial {
  readonly id: JsonRpcId | null;
  readonly tool: string;
  readonly stage: DenialStage;
  readonly policy?: string | undefined;
  readonly denialCode: DenialCode;
  readonly reason: string;
}

const RESPONSE_CODES: Readonly<Record<DenialStage, number>> = {
  parse: -32_010,
  schema: -32_011,
  policy: -32_012,
  budget: -32_013,
};

export function blockedVerdict(denial: Denial, elapsedUs: number): BlockedToolVerdict {
  const { id, tool, stage, policy, denialCode, reason } = denial;
  const error = { code: RESPONSE_CODES[stage], message: reason, data: { denialCode, stage, reason } };
  return Object.freeze<BlockedToolVerdict>({
    outcome: "blocked",
    tool,
    stage,
    ...(policy !== undefined && { policy }),
    denialCode,
    reason,
    response: { jsonrpc: "2.0", id, error },
    elapsedUs,
  });
}
