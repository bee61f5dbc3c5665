import { IntentlockError } from "./errors.ts";
import { freezeJson, type Json, JsonProblem } from "./json.ts";

/**
 * Parses JSON text strictly: what `JSON.parse` takes, less duplicate keys, of which readers keep different ones.
 *
 * @throws IntentlockError `ERR_INVALID_JSON`, naming the path, for bad syntax, a duplicate key or a value that
 * is not strict JSON (a lone surrogate written as an escape, 1e999, nesting past 100 levels)
 */
export function parseJson(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new IntentlockError("ERR_INVALID_JSON", "The text is not JSON", { cause });
  }
  try {
    const json = freezeJson(value);
    refuseDuplicateKeys(text);
    return json;
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new IntentlockError("ERR_INVALID_JSON", `${error.path || "The text"}: ${error.message}`);
  }
}

/** Walks over text that is known to be JSON; each open object has the set of the keys seen in it, each array null. */
function refuseDuplicateKeys(text: string): void {
  const open: (Set<string> | null)[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const found = match[0];
    if (found === "{") open.push(new Set());
    else if (found === "[") open.push(null);
    else if (found === "}" || found === "]") open.pop();
    else if (isFollowedByColon(text, token.lastIndex)) {
      const keys = open.at(-1);
      const key = JSON.parse(found) as string;
      if (keys?.has(key)) throw new JsonProblem([key], "the key is given twice");
      keys?.add(key);
    }
  }
}

function isFollowedByColon(text: string, from: number): boolean {
  let index = from;
  while (/[ \t\r\n]/.test(text[index] ?? "")) index++;
  return text[index] === ":";
}
