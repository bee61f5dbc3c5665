import { isJsonObject, type Json, type JsonObject } from "../../src/core/index.ts";

/** What stands at a place: a value, nothing, or something in the way that has no such place. */
export type Found =
  | { readonly is: "value" | "misshapen"; readonly value: Json; readonly path: readonly string[] }
  | { readonly is: "missing" };

const MISSING: Found = { is: "missing" };

/** Equal as JSON: the order of keys does not matter, everything else does. */
export function isSame(left: Json, right: Json): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item: Json, index) => isSame(item, right[index]));
  }
  if (isJsonObject(left) && isJsonObject(right)) {
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && isSame(left[name] as Json, right[name] as Json))
    );
  }
  return left === right;
}

export function ownValue(object: JsonObject, name: string): Found {
  return Object.hasOwn(object, name) ? { is: "value", value: object[name] as Json, path: [name] } : MISSING;
}

/** The parts of a JSON Pointer. */
export function partsOf(pointer: string): string[] {
  const parts = pointer.split("/").slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Everything that a pointer names: one thing, but for the elements of a list where it has a `*`. */
export function listPlaces(value: Json, parts: readonly string[], before: readonly string[] = []): Found[] {
  const [part, ...rest] = parts;
  if (part === undefined) return [{ is: "value", value, path: before }];
  // Below null there is nothing.
  if (value === null) return [MISSING];
  const inTheWay: Found = { is: "misshapen", value, path: before };
  if (Array.isArray(value)) {
    if (part === "*") {
      return value.flatMap((item: Json, index) => listPlaces(item, rest, [...before, String(index)]));
    }
    if (!/^(0|[1-9][0-9]*)$/.test(part)) return [inTheWay];
    return Number(part) < value.length ? listPlaces(value[Number(part)], rest, [...before, part]) : [MISSING];
  }
  if (!isJsonObject(value) || part === "*") return [inTheWay];
  const found = ownValue(value, part);
  return found.is === "value" ? listPlaces(found.value, rest, [...before, part]) : [found];
}
