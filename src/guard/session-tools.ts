import type { ToolSet } from "ai";
import { type core, safeParseAsync } from "zod";
import { describeTools } from "../adapters/vercel-ai/index.ts";
import type { SessionTool } from "../session/index.ts";
import type { Implementation, ToolDeclaration, Toolset } from "./define-tool.ts";

/** The tools as the AI SDK takes them. */
export function toToolSet({ tools, impls }: Toolset): ToolSet {
  const entries = tools.map(({ name, description, schema: inputSchema }) => {
    const impl = impls[name] as Implementation;
    const execute = (args: unknown, options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal }) =>
      impl(args, { callId: options.toolCallId, signal: options.abortSignal });
    return [name, { description, inputSchema, execute }] as const;
  });
  return Object.fromEntries(entries) as unknown as ToolSet;
}

/** The tools as a session takes them that is asked without the SDK, which would have parsed the arguments. */
export async function toSessionTools(
  toolSet: ToolSet,
  declarations: readonly ToolDeclaration[],
): Promise<SessionTool[]> {
  const schemas = new Map(declarations.map(({ name, schema }) => [name, schema]));
  const described = await describeTools(toolSet);
  return described.map((tool) => {
    const schema = schemas.get(tool.name);
    return schema ? { ...tool, parse: (args) => parseArguments(schema, args) } : tool;
  });
}

async function parseArguments(schema: core.$ZodType, args: unknown): Promise<unknown> {
  const { data, error } = await safeParseAsync(schema, args);
  if (!error) return data;
  // The places and what is expected there, and no values.
  const problems = error.issues.map(({ path, message }) =>
    [path.map(String).join("."), message].filter(Boolean).join(": "),
  );
  throw new Error(problems.join("; "));
}
