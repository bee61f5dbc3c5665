/**
 * The decision, and nothing else: plans, policies, signed tokens, `check()`, digests and the audit chain. Pure: no clock,
 * no network, no files. Runs on every JavaScript runtime.
 *
 * @example
 * import { check, generateSigningKey, openPlanToken, signPlanToken } from "intentlock/core";
 *
 * const key = await generateSigningKey();
 * const jwt = await signPlanToken(claims, key);
 * const token = await openPlanToken(jwt, [key.publicKey], { audience: "triage-agent" });
 * const now = Math.floor(Date.now() / 1000);
 * const decision = check({ token, call: { callId: "1", tool: "read_page", args: { url: "https://acme.dev" } }, used: [0], now });
 *
 * @module
 */

// Types only: the schemas of what travels to a server are in `./api/`, which nobody who only decides has to carry.
export type { GateCall, Outcome, Refusal } from "./api/calls.ts";
export type { SignedPlan, Task } from "./api/plans.ts";
export {
  APPROVAL_TOKEN_TYPE,
  type ApprovalClaims,
  openApprovalToken,
  signApprovalToken,
  toApproval,
} from "./approval-token.ts";
export type { Approvers, Role } from "./approvers.ts";
export {
  type AuditEntry,
  type AuditEvent,
  agreesWithRecord,
  type ChainedEntry,
  type ChainHead,
  type ChainProblem,
  type ChainResult,
  chainEntry,
  continueChain,
  type DecisionRecord,
  digestEntry,
  type OutcomeStatus,
  recomputeDecision,
  startChain,
  verifyChain,
} from "./audit.ts";
export {
  AUDIT_BATCH_TYPE,
  type AuditBatch,
  describeBatch,
  MAX_BATCH_ENTRIES,
  type OpenedBatch,
  openBatch,
  signBatch,
} from "./audit-batch.ts";
export { openReceipt, RECEIPT_TYPE, type ReceiptClaims, signReceipt } from "./audit-receipt.ts";
export {
  type Budget,
  type BudgetAnswer,
  type BudgetLimit,
  type Debit,
  type Ledger,
  type Payout,
  refundToolCall,
  type Spent,
  tryToolCall,
} from "./budget.ts";
export { type Approval, type Call, digestCall, type Evidence, type RecordedEvidence } from "./call.ts";
export { canonicalJson } from "./canonical-json.ts";
export { type CheckInput, check, LEEWAY_SECONDS } from "./check.ts";
export type { PlanClaims, User } from "./claims.ts";
export type { PlanCondition, PolicyCondition } from "./condition.ts";
export { type DigestDomain, digest, portableSha256, type Sha256 } from "./digest.ts";
export { type ErrorCode, IntentlockError, type Issue, PlanError, PolicyError } from "./errors.ts";
export { fingerprintTool, type ToolDescription } from "./fingerprint.ts";
export { isJsonObject, type Json, type JsonObject, MAX_ARGS_BYTES, MAX_JSON_DEPTH } from "./json.ts";
export { DECLARE_PLAN, isToolName, normalizeEmail, TOOL_NAME } from "./names.ts";
export { parseJson } from "./parse-json.ts";
export { parsePolicy } from "./parse-policy.ts";
export { MAX_PLAN_STEPS, type Plan, type PlanStep, parsePlan } from "./plan.ts";
export {
  type InvalidToken,
  type OpenedToken,
  openPlanToken,
  PLAN_TOKEN_TYPE,
  signPlanToken,
  type ValidToken,
} from "./plan-token.ts";
export type { Match, Policy, PolicyRule, TrustedPlace } from "./policy.ts";
export type { Opened } from "./signed-token.ts";
export { generateSigningKey, type PrivateKey, type PublicKey, type SigningKey } from "./signing-key.ts";
export type { SourceMatch } from "./sources/find-source.ts";
export type { RecordedMatch } from "./sources/recorded-sources.ts";
export type { Source } from "./sources/source.ts";
export { createStepResults, MAX_STEP_RESULTS, type StepResults } from "./sources/step-results.ts";
export { indexTask, type TaskText } from "./sources/task-text.ts";
export {
  type AllowDecision,
  BLOCK_REASONS,
  type BlockDecision,
  type BlockReason,
  type BudgetRemaining,
  type Decision,
  explainReason,
  type HoldDecision,
  type RuleId,
  type Stage,
} from "./verdict.ts";
export { type PlanAudit, verifyAudit } from "./verify-audit.ts";
