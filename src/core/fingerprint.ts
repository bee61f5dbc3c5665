import { digest, type Sha256 } from "./digest.ts";
import type { Json } from "./json.ts";

/** What a model is told of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Json;
}

/**
 * Digest of what a model is told of a tool, description and input schema: a tool that says something else after the plan
 * was signed is another tool.
 *
 * @throws IntentlockError `ERR_INVALID_JSON` if the schema is not JSON
 */
export function fingerprintTool(tool: ToolDescription, hash?: Sha256): string {
  return digest({ description: tool.description ?? null, inputSchema: tool.inputSchema }, "tool", hash);
}
