/** How deep to look: deeper arguments are refused anyway. */
const MAX_DEPTH = 100;

/**
 * Parsed arguments without fields that are undefined, as JSON would print them. Schemas make such fields of what a model
 * left out (`z.nullish().transform((value) => value ?? undefined)`), and a tool cannot tell them from missing ones.
 */
export function omitUndefined(value: unknown, depth = 1): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => omitUndefined(item, depth + 1));
  // Dates, maps and instances of classes are the session's to refuse.
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, omitUndefined(field, depth + 1)]));
}
