import { z } from "zod";
import { parseJson, type Task } from "../../core/index.ts";
import { closedObject, findSchemaIssues, namedValues, toIssue } from "../../core/schema.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { readTextFile } from "../read-text.ts";

const MAX_BYTES = 67_108_864;

const text = z.string();
const taskSchema = closedObject({
  instruction: text,
  material: text.optional(),
  earlier: z.array(text).optional(),
}) as unknown as z.ZodType<Task>;
const tasksSchema = namedValues(taskSchema);

/**
 * What users asked for, by the id of the plan, from a JSON file: `{ "PLAN_ID": { "instruction": … } }`, each whole and as it
 * was signed for.
 *
 * @throws CliError `ERR_FILE` naming what is wrong, and where
 */
export async function readTasks(file: string, io: CliIo): Promise<ReadonlyMap<string, Task>> {
  const content = await readTextFile(file, { io, maxBytes: MAX_BYTES });
  try {
    const value = parseJson(content);
    const [issue] = findSchemaIssues(tasksSchema, value).map(toIssue);
    if (issue) throw new Error(`${issue.path ? `${issue.path}: ` : ""}${issue.message}`);
    return new Map(Object.entries(tasksSchema.parse(value)));
  } catch (cause) {
    const message = `${printable(file)} is no list of tasks: ${printable((cause as Error).message)}`;
    throw new CliError("ERR_FILE", message, { exitCode: EXIT.usage, cause });
  }
}
