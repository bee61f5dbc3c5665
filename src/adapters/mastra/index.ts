/**
 * Locks the tools of Mastra (`@mastra/core` 1).
 *
 * @module
 */
export { BlockedError } from "../../session/index.ts";
export { describeTools } from "./describe-tool.ts";
export type { HoldSuspension } from "./held-calls.ts";
export { type IntentlockAgentConfig, type IntentlockAgentOptions, intentlockAgent } from "./intentlock-agent.ts";
export { type LockToolsOptions, lockTools } from "./lock-tools.ts";
export { planWithModel } from "./plan-with-model.ts";
export type { RunIdentity } from "./runs.ts";
