import { IntentlockError } from "../core/index.ts";
import type { Task } from "../gates/gate.ts";

/** What the user asked for, as {@link startSession} takes it: their words, or words and what else came with them. */
export type TaskInput = string | Task;

/** @throws IntentlockError `ERR_INVALID_OPTIONS` for an empty instruction */
export function toTask(input: TaskInput): Task {
  const task = typeof input === "string" ? { instruction: input } : input;
  if (typeof task?.instruction !== "string" || task.instruction.trim() === "") {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "task: expected the user's words, or { instruction, material }");
  }
  const { instruction, material, earlier } = task;
  return { instruction, ...(material !== undefined && { material }), ...(earlier && { earlier: [...earlier] }) };
}
