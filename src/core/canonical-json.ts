import canonicalize from "canonicalize";
import { IntentlockError } from "./errors.ts";
import { copyJson, type Json, JsonProblem } from "./json.ts";

/**
 * The canonical JSON text of a value (RFC 8785): keys sorted by UTF-16 code units, numbers as ECMAScript prints them.
 *
 * @throws IntentlockError `ERR_INVALID_JSON`, naming the path, for what JSON cannot carry (undefined, NaN, BigInt,
 * dates, maps, cycles, lone surrogates, class instances) and for nesting past 100 levels
 */
export function canonicalJson(value: unknown): string {
  try {
    const json = copyJson(value);
    return isSorted(json) ? JSON.stringify(json) : (canonicalize(json) as string);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new IntentlockError("ERR_INVALID_JSON", `${error.path || "The value"}: ${error.message}`);
  }
}

/** Whether `JSON.stringify` prints the keys in canonical order as they are: it does the rest as RFC 8785 wants it. */
function isSorted(value: Json): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let before = "";
  for (const [key, item] of Object.entries(value)) {
    if (key < before || !isSorted(item)) return false;
    before = key;
  }
  return true;
}
