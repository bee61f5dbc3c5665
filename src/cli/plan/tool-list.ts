import { z } from "zod";
import { isToolName, type Json, parseJson } from "../../core/index.ts";
import { findSchemaIssues, toIssue } from "../../core/schema.ts";
import type { SessionTool } from "../../session/session-tool.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { readTextFile } from "../read-text.ts";

const MAX_BYTES = 16_777_216;
const MAX_SHOWN = 10;

/** As MCP lists a tool, of which more may be said; `readOnly` is ours. */
const toolSchema = z.object({
  name: z.string().refine(isToolName, "a tool's name is 1 to 64 letters, digits, _ or -"),
  inputSchema: z.unknown(),
  readOnly: z.boolean().optional(),
  annotations: z.object({ readOnlyHint: z.boolean().optional() }).optional(),
});
const listSchema = z.array(toolSchema);

/** The tools of a JSON file: a list, or the answer to `tools/list`. @throws CliError `ERR_FILE` naming what is wrong, and where */
export async function readToolList(file: string, io: CliIo): Promise<readonly SessionTool[]> {
  const text = await readTextFile(file, { io, maxBytes: MAX_BYTES });
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new CliError("ERR_FILE", `${printable(file)}: ${(cause as Error).message}`, { exitCode: EXIT.usage, cause });
  }
  const listed = (value as { readonly tools?: unknown } | null)?.tools ?? value;
  const issues = findSchemaIssues(listSchema, listed).map(toIssue);
  if (issues.length > 0) {
    const lines = issues.slice(0, MAX_SHOWN).map(({ path, message }) => `  ${printable(path || "it")}: ${message}`);
    const message = `${printable(file)} is no list of tools:\n${lines.join("\n")}`;
    throw new CliError("ERR_FILE", message, { exitCode: EXIT.usage, issues });
  }
  return listSchema.parse(listed).map(({ name, inputSchema, readOnly, annotations }) => ({
    name,
    inputSchema: inputSchema as Json,
    readOnly: readOnly ?? annotations?.readOnlyHint ?? false,
  }));
}
