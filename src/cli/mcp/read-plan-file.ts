import {
  IntentlockError,
  isJsonObject,
  type Json,
  type Plan,
  PlanError,
  parseJson,
  parsePlan,
} from "../../core/index.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { readTextFile } from "../read-text.ts";

const MAX_PLAN_FILE_BYTES = 1_048_576;

/**
 * A plan in a file. Whether the server has its tools is seen when the server says which it has.
 *
 * @throws CliError `ERR_INVALID_PLAN` with every problem, `ERR_FILE`
 */
export async function readPlanFile(file: string, io: CliIo): Promise<Plan> {
  const text = await readTextFile(file, { io, maxBytes: MAX_PLAN_FILE_BYTES });
  try {
    const value = parseJson(text);
    return parsePlan(value, { tools: namedTools(value) });
  } catch (error) {
    if (!(error instanceof IntentlockError)) throw error;
    const message = `${printable(file)}: ${error.message}`;
    const issues = error instanceof PlanError ? { issues: error.issues } : {};
    throw new CliError("ERR_INVALID_PLAN", message, { exitCode: EXIT.negative, cause: error, ...issues });
  }
}

function namedTools(value: Json): string[] {
  const steps = isJsonObject(value) && Array.isArray(value.steps) ? (value.steps as readonly Json[]) : [];
  return steps.flatMap((step) => (isJsonObject(step) && typeof step.tool === "string" ? [step.tool] : []));
}
