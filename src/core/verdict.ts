import type { Approvers } from "./approvers.ts";
import type { SourceMatch } from "./sources/find-source.ts";

/** Every reason for a block but the ids of rules, with the sentence that tells the model what it means. */
const MEANINGS = {
  not_in_plan: "This action is outside what the user asked for.",
  call_limit: "The plan does not allow this action more often.",
  no_matching_rule: "The policy allows nothing that it does not name.",
  invalid_token: "The signed plan could not be verified.",
  token_expired: "The signed plan has expired and could not be renewed.",
  invalid_call: "The call is malformed and was not considered.",
  internal_error: "The call could not be decided, so it was not made.",
  server_unavailable: "The server that decides could not be reached.",
  api_key_rejected: "The server that decides does not accept this agent's key.",
  gate_rejected: "The server that decides refused the request.",
  audit_write_failed: "The decision could not be recorded, so the call was not made.",
  audit_backlog: "Too many decisions wait to be recorded on the server.",
  hold_requires_server: "A person has to approve this action, and nobody can be asked here.",
  hold_rejected: "A person rejected this action. Do not ask for it again.",
  hold_timeout: "Nobody approved this action in time.",
  budget_exhausted: "The budget does not allow this call.",
  tool_changed: "The tool is not the one that the plan was signed for.",
  plan_revoked: "The plan was revoked.",
  aborted: "The run was stopped before the tool started.",
  unknown_tool: "There is no tool of this name.",
  invalid_args: "The tool does not take these arguments.",
} as const;

const meanings: ReadonlyMap<string, string> = new Map(Object.entries(MEANINGS));

/** Why a call was blocked, unless a rule blocked it: then the reason is the rule's id. */
export type BlockReason = keyof typeof MEANINGS;

/** Every {@link BlockReason}. */
export const BLOCK_REASONS: readonly BlockReason[] = Object.freeze(Object.keys(MEANINGS) as BlockReason[]);

/** The id of a rule of the policy, in kebab-case. */
export type RuleId = string;

/** Where a call was blocked. `parse` and `schema`: its arguments; `gate`: outside the decision itself. */
export type Stage = "parse" | "schema" | "token" | "plan" | "limits" | "policy" | "budget" | "gate";

/** What is left of the budget after this call. A limit that the budget does not set is absent. */
export interface BudgetRemaining {
  readonly session?: { readonly calls?: number; readonly payoutMicros?: number };
  readonly principal?: { readonly calls?: number; readonly payoutMicros?: number };
}

interface Decided {
  readonly callId: string;
  readonly tool: string;
  /** Empty if the token did not verify. */
  readonly planId: string;
  /** Digest of the tool's name and the arguments, added by the gate (absent if the arguments are not JSON). */
  readonly digest?: string;
  /** Microseconds that the decision took, added by the gate. */
  readonly elapsedUs?: number;
  /** The decision's number among the records of its plan, from 0, added by the gate: what an outcome refers to. */
  readonly seq?: number;
  /** Where the values were found that the step wants from somewhere. */
  readonly sources?: readonly SourceMatch[];
  /** The arguments for which a rule with `unpinned` decided: nothing in the plan has fixed them. */
  readonly unpinned?: readonly string[];
}

/** The call may run. `step` is the index of the plan step that it uses up. */
export interface AllowDecision extends Decided {
  readonly verdict: "allow";
  readonly step: number;
  readonly rule: RuleId;
  /** Null if the plan was signed without a budget. */
  readonly budgetRemaining: BudgetRemaining | null;
  /** USD micros that the call takes from the budget; absent without a budget. */
  readonly payoutMicros?: number;
  /** E-mail of the person whose ledger the call is taken from, beside that of the session; absent if none is. */
  readonly principalId?: string;
  /** E-mail of the person who approved the call, where a rule holds it. */
  readonly approvedBy?: string;
}

/** A person has to decide. */
export interface HoldDecision extends Decided {
  readonly verdict: "hold";
  readonly step: number;
  readonly rule: RuleId;
  readonly approvers: Approvers;
  readonly timeoutSeconds: number;
  /** The rule's own words. */
  readonly ruleReason?: string;
}

/** The call must not run. `message` is what the model may read. */
export interface BlockDecision extends Decided {
  readonly verdict: "block";
  readonly reason: BlockReason | RuleId;
  readonly message: string;
  readonly stage: Stage;
  readonly step?: number;
  readonly rule?: RuleId;
}

/** The one answer to one call. A tool runs on an explicit `allow` only. */
export type Decision = AllowDecision | HoldDecision | BlockDecision;

/** What a block is made of; the rest of the decision follows from it. */
export interface Block {
  readonly reason: BlockReason | RuleId;
  readonly stage: Stage;
  /** One clause for the model: what about this call. Never the policy, other users, or more of the call than names. */
  readonly detail: string;
  readonly step?: number;
  readonly rule?: RuleId;
  readonly grounds?: DecisionGrounds | undefined;
}

/** What a decision rests on beside the rule: where values came from, and which arguments are open. */
export type DecisionGrounds = Pick<Decided, "sources" | "unpinned">;

/** A call as far as a decision about it needs to name it. */
export interface CallName {
  readonly callId: string;
  readonly tool: string;
  readonly planId: string;
}

/** The longest call id and name of a tool that a decision repeats, and the longest detail. */
export const MAX_CALL_ID_CHARACTERS = 1000;
const MAX_TOOL_CHARACTERS = 64;
const MAX_DETAIL_CHARACTERS = 2000;

/** What a decision can say of any call, however malformed. Never throws. */
export function nameCall(call: unknown, planId: string): CallName {
  try {
    const { callId, tool } = call as { readonly callId: unknown; readonly tool: unknown };
    return { callId: shorten(callId, MAX_CALL_ID_CHARACTERS), tool: shorten(tool, MAX_TOOL_CHARACTERS), planId };
  } catch {
    return { callId: "", tool: "", planId };
  }
}

/** Makes the decision and the message that the model reads: the reason and detail, then a sentence on what it means. */
export function blockDecision(call: CallName, block: Block): BlockDecision {
  const { reason, stage, detail, step, rule, grounds } = block;
  const { callId, tool, planId } = call;
  const message = `Blocked by Intentlock (${reason}): ${shorten(detail, MAX_DETAIL_CHARACTERS)}\n${explainReason(reason)}`;
  // Written out twice: of a block with a step, spreading would be a good part of the cost.
  const decision: BlockDecision =
    step === undefined
      ? { verdict: "block", callId, tool, planId, reason, message, stage }
      : { verdict: "block", callId, tool, planId, reason, message, stage, step };
  const ruled = rule === undefined ? decision : { ...decision, rule };
  return grounds === undefined ? ruled : { ...ruled, ...grounds };
}

/** What a reason means, in one plain sentence. No rule has the id of a reason: the parser of policies sees to that. */
export function explainReason(reason: BlockReason | RuleId): string {
  return meanings.get(reason) ?? "A rule of the policy forbids this action.";
}

/** Well-formed text of at most this length, so that a decision can be stored and sent whatever it quotes. */
function shorten(value: unknown, length: number): string {
  return typeof value === "string" ? value.slice(0, length).toWellFormed() : "";
}
