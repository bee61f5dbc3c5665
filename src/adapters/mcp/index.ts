/**
 * MCP: decides about raw `tools/call` requests. The proxy over it is `intentlock mcp`.
 *
 * @module
 */
export { type ClaimedToolCall, claimToolCall, releaseToolCall } from "./claim-tool-call.ts";
export { describeTools, type McpTool } from "./describe-tools.ts";
export { type InterceptOptions, interceptToolCall } from "./intercept-tool-call.ts";
export {
  type AllowedToolVerdict,
  type BlockedToolVerdict,
  DENIAL_CODES,
  type DenialCode,
  type DenialStage,
  isAllowed,
  type JsonRpcErrorResponse,
  type JsonRpcId,
  type ToolVerdict,
} from "./tool-verdict.ts";
