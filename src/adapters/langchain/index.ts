/**
 * Locks the tools of LangChain and LangGraph. Needs `@langchain/core` alone.
 *
 * @module
 */
export { BlockedError } from "../../session/index.ts";
export { IntentlockCallbackHandler, type IntentlockCallbackHandlerOptions } from "./callback-handler.ts";
export { describeTools } from "./describe-tool.ts";
export type { HoldInterrupt } from "./interrupt-held.ts";
export { type LockToolsOptions, lockTools } from "./lock-tools.ts";
export { type PlanningModel, planWithModel } from "./plan-with-model.ts";
export { installTripwire } from "./tripwire.ts";
