import type { GenericToolApprovalFunction, ToolApprovalConfiguration, ToolApprovalStatus, ToolSet } from "ai";
import type { Session } from "../../session/index.ts";
import { askPerson, readOwnNeeds } from "./ask-person.ts";
import { type AnyTool, type CoverageGap, gapOf } from "./coverage.ts";
import { loadAi } from "./load-ai.ts";
import { findLock, type Lock } from "./lock-tools.ts";

/** The SDK's own settings for approvals, for any set of tools. */
export type ToolApproval<T extends ToolSet> = ToolApprovalConfiguration<T, unknown>;
type ApprovalFunction = GenericToolApprovalFunction<ToolSet, never, unknown>;
type ApprovalRequest = Parameters<ApprovalFunction>[0];

/**
 * Refuses calls of tools that are not locked, whoever put them into the set. Locked tools are checked in their `execute`,
 * so that each call is counted and recorded once; the application's own approvals come on top. Where held calls are
 * suspended, those that a person has to approve end the step.
 *
 * @param allowed the gaps that the application allows: under their names, tools of the same kind are not refused
 */
export function guardApprovals(
  session: Session,
  own: ToolApproval<ToolSet> | undefined,
  allowed: readonly CoverageGap[],
): ApprovalFunction {
  return async (request) => {
    const { toolCall, tools } = request;
    const name = toolCall.toolName;
    const tool = getOwn(tools, name);
    const isAllowed = tool && allowed.some((gap) => gap.name === name && gap.kind === gapOf(tool));
    if (isAllowed) return await askApplication(request, tool, own);
    const lock = findLock(tool, name, session);
    if (lock) {
      const status = await askApplication(request, tool, own);
      return typeOf(status) === "denied" ? status : ((await askGate(request, lock)) ?? status);
    }
    const detail =
      "it is not the locked tool of this session; pass locked.settings.tools, and spread the settings last";
    const refusal = { reason: "unknown_tool", detail } as const;
    const call = { callId: toolCall.toolCallId, tool: name, args: toolCall.input, refusal };
    const result = await session.run(call, () => undefined);
    return { type: "denied", reason: result.isError ? result.content : "Blocked by Intentlock" };
  };
}

async function askGate({ toolCall }: ApprovalRequest, lock: Lock): Promise<ToolApprovalStatus> {
  const { name: tool, session } = lock;
  const { toolCallId: callId, input: args } = toolCall;
  return await askPerson(session, { callId, tool, args, fingerprint: await lock.fingerprint() });
}

/** As the SDK does: the application's setting, or else the tool's own `needsApproval`. */
async function askApplication(
  request: ApprovalRequest,
  tool: AnyTool | undefined,
  own: ToolApproval<ToolSet> | undefined,
): Promise<ToolApprovalStatus> {
  const { toolCall, messages, runtimeContext, toolsContext } = request;
  if (typeof own === "function") return known(await own(request as Parameters<typeof own>[0]));
  const { toolName: name, toolCallId, input } = toolCall;
  const setting = getOwn(own, name);
  const readContext = async (): Promise<never> => (await validateContext(tool, getOwn(toolsContext, name))) as never;
  if (typeof setting === "function") {
    return known(await setting(input, { toolCallId, messages, toolContext: await readContext(), runtimeContext }));
  }
  if (setting != null) return known(setting);
  const needs = readOwnNeeds(tool);
  const held =
    typeof needs === "function" ? await needs(input, { toolCallId, messages, context: await readContext() }) : needs;
  return held ? "user-approval" : undefined;
}

/** The SDK runs a tool on any status that it does not know: that is a denial here. */
function known(status: ToolApprovalStatus): ToolApprovalStatus {
  if (status === undefined) return undefined;
  if (["not-applicable", "approved", "denied", "user-approval"].includes(typeOf(status) as string)) return status;
  return { type: "denied", reason: "toolApproval gave no status that the SDK knows" };
}

function typeOf(status: ToolApprovalStatus): unknown {
  return typeof status === "object" ? (status as { readonly type: unknown } | null)?.type : status;
}

/** A tool's context as its schema makes it, as in `execute`. @throws what the schema says of a context that is not valid */
async function validateContext(tool: AnyTool | undefined, context: unknown): Promise<unknown> {
  if (tool?.contextSchema == null) return context;
  const { asSchema } = await loadAi();
  const result = await asSchema<unknown>(tool.contextSchema).validate?.(context);
  if (!result) return context;
  if (!result.success) throw result.error;
  return result.value;
}

/** The names come from a model or a client: `constructor` is one of them only if it is the set's own. */
function getOwn<T extends object, K extends keyof T>(record: T | undefined | null, name: K): T[K] | undefined {
  return record != null && Object.hasOwn(record, name) ? record[name] : undefined;
}
