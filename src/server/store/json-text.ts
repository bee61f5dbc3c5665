import type { JsonText } from "./schema.ts";

/** Reads JSON that this store has written. Its type is what was written. */
export function readJson<T>(text: JsonText): T;
export function readJson<T>(text: JsonText | null): T | null;
export function readJson<T>(text: JsonText | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

export function writeJson(value: unknown): JsonText {
  return JSON.stringify(value);
}

/** Null stays null, so that a column can be asked for it. */
export function writeJsonOrNull(value: unknown): JsonText | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
