import { isJsonObject, type Json, type JsonObject, jsonEqual } from "../../../../core/json.ts";

export type JsonMark = "same" | "changed" | "added" | "removed";

/** One field of an object or item of an array, beside what it was. */
export interface JsonEntry {
  /** Undefined for the items of an array: their numbers shift. */
  readonly name: string | undefined;
  /** What it is; of a removed one, what it was. */
  readonly value: Json;
  /** `same` also where only something inside differs: both are objects, or both arrays. */
  readonly mark: JsonMark;
  /** Of `changed`, and of `same` where there is something to compare with. */
  readonly was?: Json;
}

/** Whether a value has others inside it. */
export function isContainer(value: Json | undefined): value is JsonObject | readonly Json[] {
  return typeof value === "object" && value !== null;
}

/** The entries of an object or array, marked where they are not those of `was`; unmarked if there is none. */
export function compareEntries(value: JsonObject | readonly Json[], was?: Json): readonly JsonEntry[] {
  if (isJsonObject(value)) return compareFields(value, isJsonObject(was) ? was : undefined);
  return compareItems(value, Array.isArray(was) ? (was as readonly Json[]) : undefined);
}

function compareFields(value: JsonObject, was: JsonObject | undefined): readonly JsonEntry[] {
  const entries = Object.entries(value).map(([name, item]): JsonEntry => {
    if (!was) return { name, value: item, mark: "same" };
    return Object.hasOwn(was, name) ? compare(name, item, was[name] as Json) : { name, value: item, mark: "added" };
  });
  const gone = Object.entries(was ?? {}).filter(([name]) => !Object.hasOwn(value, name));
  return [...entries, ...gone.map(([name, item]): JsonEntry => ({ name, value: item, mark: "removed" }))];
}

/** Items are compared from both ends: one that was put in or taken out does not mark all that follow. */
function compareItems(value: readonly Json[], was: readonly Json[] | undefined): readonly JsonEntry[] {
  if (!was) return value.map((item) => ({ name: undefined, value: item, mark: "same" }));
  const most = Math.min(value.length, was.length);
  let head = 0;
  while (head < most && jsonEqual(value[head] as Json, was[head] as Json)) head += 1;
  let tail = 0;
  while (tail < most - head && jsonEqual(value.at(-1 - tail) as Json, was.at(-1 - tail) as Json)) tail += 1;
  const entries: JsonEntry[] = [];
  for (let at = 0; at < head; at += 1) entries.push(compare(undefined, value[at] as Json, was[at] as Json));
  for (let at = head; at < Math.max(value.length, was.length) - tail; at += 1) {
    const isIn = at < value.length - tail;
    const wasIn = at < was.length - tail;
    if (isIn && wasIn) entries.push(compare(undefined, value[at] as Json, was[at] as Json));
    else if (isIn) entries.push({ name: undefined, value: value[at] as Json, mark: "added" });
    else entries.push({ name: undefined, value: was[at] as Json, mark: "removed" });
  }
  for (let at = value.length - tail; at < value.length; at += 1) {
    entries.push(compare(undefined, value[at] as Json, value[at] as Json));
  }
  return entries;
}

function compare(name: string | undefined, value: Json, was: Json): JsonEntry {
  const canEnter = isContainer(value) && isContainer(was) && Array.isArray(value) === Array.isArray(was);
  return { name, value, was, mark: canEnter || value === was ? "same" : "changed" };
}

/** Whether anything differs. Two that differ in their keys' order alone are the same. */
export function countDifferences(value: Json, was: Json): number {
  if (!isContainer(value) || !isContainer(was) || Array.isArray(value) !== Array.isArray(was)) {
    return jsonEqual(value, was) ? 0 : 1;
  }
  return compareEntries(value, was).reduce(
    (sum, entry) => sum + (entry.mark === "same" ? countDifferences(entry.value, entry.was as Json) : 1),
    0,
  );
}

/** A text's part that is not in the other one, between what both begin and end with. */
export interface TextChange {
  readonly before: string;
  readonly changed: string;
  readonly after: string;
}

export function compareTexts(text: string, was: string): TextChange {
  const [is, other] = [Array.from(text), Array.from(was)];
  const most = Math.min(is.length, other.length);
  let head = 0;
  while (head < most && is[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < most - head && is.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  const cut = (from: number, to: number): string => is.slice(from, to).join("");
  return { before: cut(0, head), changed: cut(head, is.length - tail), after: cut(is.length - tail, is.length) };
}

/** Whether a value has at most so many values in it, itself included. Looks at no more than that. */
export function hasAtMost(value: Json, limit: number): boolean {
  let left = limit;
  const count = (item: Json): boolean => {
    left -= 1;
    return left >= 0 && (!isContainer(item) || Object.values(item).every(count));
  };
  return count(value);
}
