import type { Json } from "../../core/index.ts";
import type { SessionTool } from "../../session/index.ts";

/** A tool as an MCP server lists it. */
export interface McpTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

/**
 * The tools of a server's list, for `startSession`. What a server says of a tool is a claim: its description and schema are
 * signed as they are now, and a tool that says something else later is blocked. That it changes nothing is not believed.
 *
 * @example
 * import { startSession } from "intentlock";
 * import { describeTools } from "intentlock/mcp";
 *
 * const lock = async (listed: Parameters<typeof describeTools>[0]) => {
 *   const tools = describeTools(listed);
 *   return await startSession({ gate, user: signedInUser, task, tools, plan });
 * };
 */
export function describeTools(tools: readonly McpTool[]): SessionTool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    ...(description !== undefined && { description }),
    inputSchema: inputSchema as Json,
  }));
}
