import type { Task } from "../api/plans.ts";
import { digest, type Sha256 } from "../digest.ts";
import { TokenIndex } from "./token-index.ts";

/**
 * What the user asked for, ready to be searched. Made by {@link indexTask}, which has its digest from the task itself:
 * `check()` takes it only under a token that was signed for the task.
 */
export class TaskText {
  readonly #digest: string;
  readonly #index = new TokenIndex({ ignoreCase: true });

  constructor(task: Task, hash?: Sha256) {
    this.#digest = digest(task, "task", hash);
    // Neither what the user pasted nor what they wrote before: a client that sends that back may have written it.
    this.#index.add(task.instruction, 0);
    Object.freeze(this);
  }

  /** The index, if this is a task text at all, and of the task with this digest. */
  static indexOf(text: unknown, expected: string | undefined): TokenIndex | undefined {
    if (expected === undefined || typeof text !== "object" || text === null || !(#digest in text)) return undefined;
    return text.#digest === expected ? text.#index : undefined;
  }
}

/** Reads a task as evidence for `from: "task"`. @throws IntentlockError `ERR_INVALID_JSON` */
export function indexTask(task: Task, hash?: Sha256): TaskText {
  return new TaskText(task, hash);
}
