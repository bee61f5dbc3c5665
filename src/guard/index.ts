/**
 * A ready-made agent: its loop is the AI SDK's, its checks are the session's.
 *
 * @module
 */
export { createGuard, type Guard } from "./create-guard.ts";
export {
  defineTool,
  type GuardTool,
  type Implementation,
  type ToolContext,
  type ToolDeclaration,
  type ToolDefinition,
  type Toolset,
  toolset,
} from "./define-tool.ts";
export type { CallResult, GuardCall } from "./execute-call.ts";
export {
  type ExplicitRequest,
  type GuardOptions,
  type PlannedRequest,
  PlanSource,
  type RunRequest,
} from "./guard-options.ts";
export { ProviderError } from "./provider-error.ts";
export { type Environment, providerFromEnv } from "./provider-from-env.ts";
export { type GuardResult, RunStatus } from "./run-agent.ts";
export type { Usage } from "./watch-model.ts";
