import type { ToolSet } from "ai";
import type { Json } from "../../core/index.ts";
import type { SessionTool } from "../../session/index.ts";
import { unwritableSchema } from "../../session/setup-errors.ts";
import type { AnyTool } from "./coverage.ts";
import { loadAi } from "./load-ai.ts";

/**
 * The tools of a set as `startSession` takes them, for a session whose tools `lockTools` locks.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for a tool whose schema cannot be told to a model
 */
export async function describeTools(tools: ToolSet): Promise<SessionTool[]> {
  return await Promise.all(Object.entries(tools).map(([name, tool]) => describeTool(name, tool)));
}

/** What the model is told of a tool, as a session wants it. A description that depends on the call's context is left out. */
export async function describeTool(name: string, tool: AnyTool): Promise<SessionTool> {
  const { description } = tool;
  return { name, ...(typeof description === "string" && { description }), inputSchema: await readSchema(name, tool) };
}

async function readSchema(name: string, tool: AnyTool): Promise<Json> {
  const { asSchema } = await loadAi();
  try {
    const schema = await asSchema(tool.inputSchema).jsonSchema;
    // As it travels to the provider: without what JSON drops.
    return JSON.parse(JSON.stringify(schema)) as Json;
  } catch (cause) {
    throw unwritableSchema(name, cause);
  }
}
