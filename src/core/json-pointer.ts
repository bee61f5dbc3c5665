import type { Json } from "./json.ts";

/**
 * A place in a JSON value: a JSON Pointer (RFC 6901), in which `*` stands for every element of a list. A key that is
 * itself `*` cannot be named.
 */
export type Pointer = readonly string[];

export const MAX_POINTER_CHARACTERS = 1000;

/** The steps of a pointer; undefined for what is none. */
export function parsePointer(text: string): Pointer | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || text.length > MAX_POINTER_CHARACTERS || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The pointer of a property of the whole value, or of what another pointer names. */
export function appendPointer(pointer: string, key: string): string {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * What stands at a place that the way to it does not have: something other than an object or a list is in its way, or a
 * list where the way has a name. It is not missing, and it is no value that a condition could hold for.
 */
export const MISSHAPEN: Json = Symbol("misshapen") as unknown as Json;

/**
 * Whether a test holds for what stands at a pointer; for every element where there is a `*`. What is missing is undefined;
 * a way that leads through something else than objects and lists ends at {@link MISSHAPEN}. Own properties only.
 *
 * @param onList is told how many elements each list has that a `*` stands for, and may throw to stop
 */
export function everyAt(
  value: Json | undefined,
  pointer: Pointer,
  test: (found: Json | undefined) => boolean,
  onList?: (items: number) => void,
): boolean {
  return everyFrom(value, pointer, { from: 0, test, onList });
}

/** Whether a test holds for something that stands at a pointer: for one element where there is a `*`. */
export function someAt(value: Json, pointer: Pointer, test: (found: Json) => boolean): boolean {
  return !everyAt(value, pointer, (found) => found === undefined || found === MISSHAPEN || !test(found));
}

interface Walk {
  readonly from: number;
  readonly test: (found: Json | undefined) => boolean;
  readonly onList: ((items: number) => void) | undefined;
}

function everyFrom(value: Json | undefined, pointer: Pointer, { from, test, onList }: Walk): boolean {
  let found = value;
  for (let index = from; index < pointer.length; index++) {
    const part = pointer[index] as string;
    if (found === undefined || found === null) return test(undefined);
    if (typeof found !== "object") return test(MISSHAPEN);
    if (part === "*") {
      if (!Array.isArray(found)) return test(MISSHAPEN);
      onList?.(found.length);
      const rest = { from: index + 1, test, onList };
      return found.every((item: Json) => everyFrom(item, pointer, rest));
    }
    if (Array.isArray(found)) {
      if (!INDEX.test(part)) return test(MISSHAPEN);
      found = found[Number(part)] as Json | undefined;
    } else found = Object.hasOwn(found, part) ? (found as Readonly<Record<string, Json>>)[part] : undefined;
  }
  return test(found);
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;
