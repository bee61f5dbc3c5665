import { IntentlockError } from "../../core/index.ts";

/**
 * Refuses text that a database would store as another: a NUL (PostgreSQL has none) or half a surrogate pair (it becomes
 * U+FFFD). Both databases see the same parameters.
 *
 * @throws IntentlockError `ERR_INVALID_TEXT`
 */
export function checkParameters(parameters: readonly unknown[]): void {
  for (const value of parameters) {
    if (Array.isArray(value)) checkParameters(value);
    else if (typeof value === "string") checkText(value);
  }
}

function checkText(value: string): void {
  if (value.includes("\0")) throw new IntentlockError("ERR_INVALID_TEXT", "Text with a NUL character cannot be stored");
  if (!value.isWellFormed()) {
    throw new IntentlockError("ERR_INVALID_TEXT", "Text with half of a surrogate pair cannot be stored");
  }
}

/** As long as a name or an id may be: PostgreSQL has a limit for what is in an index, and SQLite has none. */
export const MAX_NAME_CHARACTERS = 300;

/** @throws IntentlockError `ERR_INVALID_TEXT` naming the first that is empty or longer than {@link MAX_NAME_CHARACTERS} */
export function checkNames(names: Readonly<Record<string, string | null | undefined>>): void {
  for (const [field, value] of Object.entries(names)) {
    if (value === null || value === undefined) continue;
    if (value.length >= 1 && value.length <= MAX_NAME_CHARACTERS) continue;
    throw new IntentlockError("ERR_INVALID_TEXT", `${field}: expected 1 to ${MAX_NAME_CHARACTERS} characters`);
  }
}
