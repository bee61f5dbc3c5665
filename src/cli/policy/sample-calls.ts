import { type SampleCall, testPolicyBodySchema } from "../../core/api/index.ts";
import { type Json, parseJson } from "../../core/index.ts";
import { findSchemaIssues, toIssue } from "../../core/schema.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { readTextFile } from "../read-text.ts";

const MAX_BYTES = 67_108_864;
const MAX_SHOWN = 10;

/** Calls to try a policy on, from a JSON file: a list. @throws CliError `ERR_FILE` naming what is wrong, and where */
export async function readSampleCalls(file: string, io: CliIo): Promise<readonly SampleCall[]> {
  const text = await readTextFile(file, { io, maxBytes: MAX_BYTES });
  let calls: Json;
  try {
    calls = parseJson(text);
  } catch (cause) {
    throw new CliError("ERR_FILE", `${printable(file)}: ${(cause as Error).message}`, { exitCode: EXIT.usage, cause });
  }
  // The fields beside the calls are what the schema wants to see.
  const body = { agent: "any", text: "", calls };
  const issues = findSchemaIssues(testPolicyBodySchema, body).map(toIssue);
  if (issues.length === 0) return testPolicyBodySchema.parse(body).calls ?? [];
  const lines = issues.slice(0, MAX_SHOWN).map(({ path, message }) => `  ${path}: ${message}`);
  const message = `${printable(file)} is no list of calls:\n${lines.join("\n")}`;
  throw new CliError("ERR_FILE", message, { exitCode: EXIT.usage, issues });
}
