import { IntentlockError } from "../core/index.ts";
import type { Task } from "../gates/gate.ts";

/** What the user asked for, as {@link startSession} takes it: their words, or words and what else came with them. */
export type TaskInput = string | Task;

/** @throws IntentlockError `ERR_INVALID_OPTIONS` for an empty instruction, and for what is not the text of a user */
export function toTask(input: TaskInput): Task {
  const task: Partial<Task> = typeof input === "string" ? { instruction: input } : (input ?? {});
  const { instruction, material, earlier } = task;
  if (typeof instruction !== "string" || instruction.trim() === "" || !isOptionalText(material)) {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "task: expected the user's words, or { instruction, material }");
  }
  if (earlier !== undefined && !(Array.isArray(earlier) && earlier.every((message) => typeof message === "string"))) {
    throw new IntentlockError(
      "ERR_INVALID_OPTIONS",
      "task.earlier: expected a list of the user's own messages, as texts",
    );
  }
  return { instruction, ...(material !== undefined && { material }), ...(earlier && { earlier: [...earlier] }) };
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
