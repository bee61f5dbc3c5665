import type { AIMessage } from "@langchain/core/messages";
import { providerRan } from "../../session/setup-errors.ts";
import { nameServerTool } from "./coverage.ts";

/** Whether a tool that the provider runs is one of these. */
export function isKnownServerTool(tool: unknown, allowUngated: readonly string[]): boolean {
  return isNamed([nameServerTool(tool), ...namesOf(tool)], allowUngated);
}

/** @throws IntentlockError `ERR_UNGATED_TOOLS` if the provider ran a tool that `allowUngated` does not name: after the fact */
export function refuseExecuted(message: unknown, allowUngated: readonly string[]): void {
  const executed = listExecuted(message).find((one) => !isNamed(namesOf(one), allowUngated));
  if (executed === undefined) return;
  const [name = "a tool without a name"] = namesOf(executed);
  throw providerRan(name);
}

/** The tools that ran at the provider, as whichever provider it was writes them. */
function listExecuted(message: unknown): unknown[] {
  const { content, additional_kwargs: more, response_metadata: metadata } = message as Partial<AIMessage>;
  const outputs = [content, more?.["tool_outputs"], metadata?.["output"]];
  return outputs.flatMap((list: unknown) => (Array.isArray(list) ? list.filter(isExecuted) : []));
}

const EXECUTED =
  /^(?:server_tool_(?:use|call|call_chunk|call_result)|mcp_tool_(?:use|result)|.+_tool_result|.+_call|executableCode|codeExecutionResult)$/;
/** The Responses API calls these by such names, and leaves them to the application. */
const LEFT_TO_US = [
  "tool_call",
  "function_call",
  "custom_tool_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
];

function isExecuted(block: unknown): boolean {
  const type = read(block, "type");
  return type !== undefined && EXECUTED.test(type) && !LEFT_TO_US.includes(type) && type !== "apply_patch_call";
}

/** What a tool, a call of it or its result may be known as. */
function namesOf(block: unknown): string[] {
  const type = read(block, "type")?.replace(/_(?:call|tool_result)$/, "");
  const names = ["name", "mcp_server_name", "server_name", "server_label"].map((key) => read(block, key));
  const code = type === "executableCode" || type === "codeExecutionResult" ? "codeExecution" : undefined;
  return [...names, code, type].filter((name) => name !== undefined);
}

function isNamed(names: readonly string[], allowed: readonly string[]): boolean {
  return names.some((name) => allowed.includes(name));
}

function read(block: unknown, key: string): string | undefined {
  const value: unknown = typeof block === "object" && block !== null ? Reflect.get(block, key) : undefined;
  return typeof value === "string" ? value : undefined;
}
