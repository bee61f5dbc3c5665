/** Shorter ones are no secrets, and words besides: servers that want no key are given anything. */
const MIN_SECRET = 8;
const MAX_OBJECTS = 10_000;
/** Of an error of the SDK: what was asked, whose parts are those of the conversation itself. The key is in its headers. */
const UNTOUCHED = "requestBodyValues";

/** The same error, with `***` wherever it had the key. */
export function hideKey(error: unknown, key: string | undefined): unknown {
  return key === undefined || key.length < MIN_SECRET ? error : hide(error, key, new Set());
}

function hide(value: unknown, key: string, seen: Set<object>): unknown {
  if (typeof value === "string") return value.replaceAll(key, "***");
  if (typeof value !== "object" || value === null || seen.has(value) || seen.size >= MAX_OBJECTS) return value;
  seen.add(value);
  // The message of an error, and its stack, are not enumerable.
  for (const name of Object.getOwnPropertyNames(value)) if (name !== UNTOUCHED) hideIn(value, name, { key, seen });
  return value;
}

function hideIn(
  holder: object,
  name: string,
  { key, seen }: { readonly key: string; readonly seen: Set<object> },
): void {
  try {
    const before: unknown = Reflect.get(holder, name);
    const after = hide(before, key, seen);
    if (after !== before) Reflect.set(holder, name, after);
  } catch {
    // What cannot be read is not read by anybody else, either.
  }
}
