import { IntentlockError } from "./errors.ts";
import { freezeJson, type Json, JsonProblem, MAX_JSON_BYTES } from "./json.ts";

/**
 * Parses JSON text strictly: what `JSON.parse` takes, less duplicate keys, of which readers keep different ones.
 *
 * @throws IntentlockError `ERR_INVALID_JSON`, naming the path, for bad syntax, a duplicate key or a value that
 * is not strict JSON (a lone surrogate written as an escape, 1e999, nesting past 100 levels), and for text past 16 MiB
 */
export function parseJson(text: string): Json {
  if (typeof text !== "string" || text.length > MAX_JSON_BYTES) {
    throw new IntentlockError("ERR_INVALID_JSON", `Expected JSON text of at most ${MAX_JSON_BYTES} characters`);
  }
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

/** An array or object that the walk is inside of. `at` is the index or key that it has come to. */
interface Level {
  readonly keys: Set<string> | undefined;
  at: string | number;
  expectsKey: boolean;
}

/** Walks over text that is known to be JSON. No regex goes over its strings: V8 runs out of stack on long ones. */
function refuseDuplicateKeys(text: string): void {
  const open: Level[] = [];
  for (let index = 0; index < text.length; index++) {
    const level = open.at(-1);
    switch (text[index]) {
      case "{":
        open.push({ keys: new Set(), at: "", expectsKey: true });
        break;
      case "[":
        open.push({ keys: undefined, at: 0, expectsKey: false });
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        if (level?.keys) level.expectsKey = true;
        else if (level) level.at = Number(level.at) + 1;
        break;
      case '"': {
        const end = findEndOfString(text, index);
        if (level?.keys && level.expectsKey) {
          level.at = JSON.parse(text.slice(index, end)) as string;
          level.expectsKey = false;
          if (level.keys.has(level.at))
            throw new JsonProblem(
              open.map(({ at }) => at),
              "the key is given twice",
            );
          level.keys.add(level.at);
        }
        index = end - 1;
        break;
      }
    }
  }
}

/** The index after the closing quote of the string that starts here. */
function findEndOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

/** After an odd number of backslashes. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text[first - 1] === "\\") first--;
  return (index - first) % 2 === 1;
}
