import canonicalize from "canonicalize";
import { IntentlockError } from "./errors.ts";
import { copySorted, JsonProblem } from "./json.ts";

/**
 * The canonical JSON text of a value (RFC 8785): keys sorted by UTF-16 code units, numbers as ECMAScript prints them.
 *
 * @throws IntentlockError `ERR_INVALID_JSON`, naming the path, for what JSON cannot carry (undefined, NaN, BigInt,
 * dates, maps, cycles, lone surrogates, class instances) and for nesting past 100 levels
 */
export function canonicalJson(value: unknown): string {
  try {
    const { copy, sorted } = copySorted(value);
    // Of keys in canonical order JSON.stringify does the rest as RFC 8785 wants it.
    return sorted ? JSON.stringify(copy) : (canonicalize(copy) as string);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new IntentlockError("ERR_INVALID_JSON", `${error.path || "The value"}: ${error.message}`);
  }
}
