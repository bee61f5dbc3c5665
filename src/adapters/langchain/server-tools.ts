import type { AIMessage } from "@langchain/core/messages";
import { IntentlockError } from "../../core/index.ts";

/** @throws IntentlockError `ERR_UNGATED_TOOLS` if the provider ran a tool that `allowUngated` does not name: after the fact */
export function refuseExecuted(message: unknown, allowUngated: readonly string[]): void {
  const name = listExecuted(message).find((one) => !allowUngated.includes(one));
  if (name === undefined) return;
  throw new IntentlockError(
    "ERR_UNGATED_TOOLS",
    `The model's provider ran ${JSON.stringify(name)}, which the gate cannot see. Name it in allowUngated, or turn it off at the provider.`,
  );
}

/** The tools that ran at the provider, in the words of whichever provider it was. */
function listExecuted(message: unknown): string[] {
  const { content, additional_kwargs: more } = message as Partial<AIMessage>;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const outputs: unknown = more?.["tool_outputs"];
  return [
    ...blocks.flatMap((block) => (isExecuted(block) ? nameOf(block) : [])),
    ...(Array.isArray(outputs) ? outputs.map(nameOf) : []),
  ];
}

const EXECUTED =
  /^(?:server_tool_(?:use|call|call_result)|mcp_tool_(?:use|result)|mcp_call|.+_tool_result|executableCode|codeExecutionResult)$/;

function isExecuted(block: unknown): boolean {
  const type: unknown = typeof block === "object" && block !== null ? Reflect.get(block, "type") : undefined;
  return typeof type === "string" && EXECUTED.test(type);
}

function nameOf(block: unknown): string {
  const parts = typeof block === "object" && block !== null ? block : {};
  const name: unknown = Reflect.get(parts, "name") ?? Reflect.get(parts, "type");
  return typeof name === "string" ? name : "(without a name)";
}
