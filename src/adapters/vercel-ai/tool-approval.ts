import type { GenericToolApprovalFunction, ToolApprovalConfiguration, ToolApprovalStatus, ToolSet } from "ai";
import type { Session } from "../../session/index.ts";
import { isLocked } from "./lock-tools.ts";

/** The SDK's own settings for approvals, for any set of tools. */
export type ToolApproval<T extends ToolSet> = ToolApprovalConfiguration<T, unknown>;
type ApprovalFunction = GenericToolApprovalFunction<ToolSet, never, unknown>;
type ApprovalRequest = Parameters<ApprovalFunction>[0];

/**
 * Refuses calls of tools that are not locked, whoever put them into the set. Locked tools are checked in their `execute`,
 * and nowhere else, so that each call is counted and recorded once; the application's own approvals come on top.
 */
export function guardApprovals(session: Session, own: ToolApproval<ToolSet> | undefined, ungated: readonly string[]): ApprovalFunction {
  return async (request) => {
    const { toolCall, tools } = request;
    const name = toolCall.toolName;
    const tool = tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (isLocked(tool, name, session) || ungated.includes(name)) return await askApplication(request, own);
    // No tool has this fingerprint: the session blocks the call whatever the plan says, and it is on record.
    const call = { callId: toolCall.toolCallId, tool: name, args: toolCall.input, fingerprint: "not locked" };
    const result = await session.run(call, () => undefined);
    return { type: "denied", reason: result.isError ? result.content : "Blocked by Intentlock" };
  };
}

/** As the SDK does: the application's setting, or else the tool's own `needsApproval`. A status that the SDK does not know denies. */
async function askApplication(request: ApprovalRequest, own: ToolApproval<ToolSet> | undefined): Promise<ToolApprovalStatus> {
  const { toolCall, messages, runtimeContext, tools, toolsContext } = request;
  if (typeof own === "function") return known(await own(request as Parameters<typeof own>[0]));
  const name = toolCall.toolName;
  const context = Object.hasOwn(toolsContext ?? {}, name) ? toolsContext[name] : undefined;
  const options = { toolCallId: toolCall.toolCallId, messages };
  const setting = own && Object.hasOwn(own, name) ? own[name] : undefined;
  if (typeof setting === "function") return known(await setting(toolCall.input, { ...options, toolContext: context as never, runtimeContext }));
  if (setting !== undefined) return known(setting);
  const needs = tools?.[name]?.needsApproval;
  const held = typeof needs === "function" ? await needs(toolCall.input, { ...options, context }) : needs;
  return held ? "user-approval" : undefined;
}

/** The SDK runs a tool on any status that it does not know. */
function known(status: ToolApprovalStatus): ToolApprovalStatus {
  const type = typeof status === "object" ? status.type : status;
  if (type === undefined || ["not-applicable", "approved", "denied", "user-approval"].includes(type)) return status;
  return { type: "denied", reason: "toolApproval gave no status that the SDK knows" };
}
