import type { ToolMessage } from "@langchain/core/messages";
import { langchain } from "./langchain-core.ts";

/** A call as a model has made it. */
export interface ModelCall {
  readonly id?: string | undefined;
  readonly args: unknown;
}

/** What LangChain takes for a call of a model; undefined for plain arguments. */
export function toModelCall(input: unknown): ModelCall | undefined {
  const isCall = typeof input === "object" && input !== null && Reflect.get(input, "type") === "tool_call";
  return isCall ? (input as ModelCall) : undefined;
}

/** What a model reads in place of a result. */
export function toErrorMessage(
  call: { readonly name: string; readonly id?: string | undefined },
  content: string,
): ToolMessage {
  return new langchain.ToolMessage({ content, name: call.name, tool_call_id: call.id ?? "", status: "error" });
}
