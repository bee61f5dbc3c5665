import type { Json } from "../../core/index.ts";
import type { SessionTool } from "../../session/index.ts";
import type { AnyTool } from "./coverage.ts";
import { loadAi } from "./load-ai.ts";

/** What the model is told of a tool, as a session wants it. A description that depends on the call's context is left out. */
export async function describeTool(name: string, tool: AnyTool): Promise<SessionTool> {
  const { asSchema } = await loadAi();
  const schema = await asSchema(tool.inputSchema).jsonSchema;
  const { description } = tool;
  return {
    name,
    ...(typeof description === "string" && { description }),
    // As it travels to the provider: without what JSON drops.
    inputSchema: JSON.parse(JSON.stringify(schema)) as Json,
  };
}
