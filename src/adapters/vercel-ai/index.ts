/**
 * Locks the tools of the Vercel AI SDK (`ai` 7).
 *
 * @module
 */
export { BlockedError } from "../../session/index.ts";
export type { CoverageGap } from "./coverage.ts";
export { describeTools } from "./describe-tool.ts";
export { type LockToolsOptions, lockTools } from "./lock-tools.ts";
export { planWithModel } from "./plan-with-model.ts";
export type { ToolApproval } from "./tool-approval.ts";
export {
  type Locked,
  type LockedSettings,
  type ResumeIntentlockOptions,
  type WithIntentlockOptions,
  withIntentlock,
} from "./with-intentlock.ts";
