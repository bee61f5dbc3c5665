import { JsonProblem } from "../core/json.ts";

/** In words, whatever was thrown. Does not throw itself, though what was thrown may be a proxy or have no `toString`. */
export function describeThrown(thrown: unknown): string {
  try {
    if (thrown instanceof JsonProblem) {
      return `not strict JSON${thrown.path ? ` at ${thrown.path}` : ""}: ${thrown.message}`;
    }
    const words: unknown = thrown instanceof Error ? thrown.message : String(thrown);
    return typeof words === "string" ? words : NO_WORDS;
  } catch {
    return NO_WORDS;
  }
}

const NO_WORDS = "an error that cannot be read";
