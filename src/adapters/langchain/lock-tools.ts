import type { Session } from "../../session/index.ts";
import { assertCovered, isClientTool } from "./coverage.ts";
import { lockTool } from "./lock-tool.ts";

export interface LockToolsOptions {
  readonly session: Session;
  /** Tools that may stay without a check of their calls, by name: those that the model's provider runs. */
  readonly allowUngated?: readonly string[];
}

/**
 * The same tools, each of whose calls the session checks before it runs: for `ToolNode`, graphs and chains of your own. A
 * blocked call of a model gets an error message for its result; called from code, a blocked tool throws a `BlockedError`.
 *
 * @throws IntentlockError `ERR_UNGATED_TOOLS` for tools that the model's provider runs
 *
 * @example
 * import { tool } from "@langchain/core/tools";
 * import { ToolNode } from "@langchain/langgraph/prebuilt";
 * import { lockTools } from "intentlock/langchain";
 *
 * const pay = tool(async () => "paid", { name: "pay_rent", description: "Pays this month's rent" });
 * const node = new ToolNode(lockTools([pay], { session }));
 * console.log(node.tools.length);
 */
export function lockTools<T extends unknown[]>(tools: readonly [...T], options: LockToolsOptions): T {
  const { session, allowUngated = [] } = options;
  assertCovered(tools, allowUngated);
  const locked: unknown[] = tools.map((tool) => (isClientTool(tool) ? lockTool(tool, session) : tool));
  return Object.freeze(locked) as T;
}
