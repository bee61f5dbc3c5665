import { type Path, printPath } from "./path.ts";

/** A JSON value. Everything that Intentlock checks, signs, hashes or stores is one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The largest arguments of a call, in bytes of their JSON text in UTF-8. */
export const MAX_ARGS_BYTES = 1_048_576;
/** The largest value that is copied, printed or hashed at all, in the same bytes. */
export const MAX_JSON_BYTES = 16_777_216;
/** The deepest nesting of a JSON value: `{ a: [1] }` is 2 deep. */
export const MAX_JSON_DEPTH = 100;

/** Why a value is not strict JSON, and where. */
export class JsonProblem extends Error {
  readonly parts: Path;

  constructor(parts: Path, message: string) {
    super(message);
    this.parts = parts;
  }

  /** Like `a.b[3]`; empty for the value itself. */
  get path(): string {
    return printPath(this.parts);
  }
}

/** Gives the object that it is given instead of a new one, so that a class below can put a private field into it. */
const Given: new (value: object) => object = class {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is what it is for
    return value;
  }
};

/** What is seen of a value while it is copied. */
interface Seen {
  /** The most bytes that its JSON text can have. */
  readonly most: number;
  /** `JSON.stringify` prints its keys in the order of canonical JSON. */
  readonly sorted: boolean;
}

interface JsonCopy extends Seen {
  readonly copy: Json;
}

/**
 * Marks what {@link freezeJson} made, with what was seen of the whole of it. In a private field: nobody else can set or
 * see it, and unlike a WeakMap it costs the garbage collector nothing.
 */
class Frozen extends Given {
  readonly #seen: Seen;

  private constructor(value: object, seen: Seen) {
    super(value);
    this.#seen = seen;
  }

  static mark(value: object, seen: Seen): void {
    new Frozen(value, seen);
  }

  /** Undefined for every other value. */
  static seenOf(value: unknown): Seen | undefined {
    return typeof value === "object" && value !== null && #seen in value ? value.#seen : undefined;
  }
}

/**
 * Copies a value that nobody vouches for into strict JSON: own enumerable string keys of plain objects, arrays without
 * holes, finite numbers, well-formed strings. Each property is read once, so that a getter or a proxy cannot answer
 * twice differently. `-0` becomes `0`, as JSON prints it.
 *
 * @param maxBytes the most bytes of JSON text, {@link MAX_JSON_BYTES} unless told
 * @throws JsonProblem for anything that JSON cannot carry (undefined, NaN, BigInt, a date, a map, a class instance, a
 * lone surrogate, a cycle), for nesting past {@link MAX_JSON_DEPTH} and for more than `maxBytes` of JSON text.
 */
export function copyJson(value: unknown, maxBytes: number = MAX_JSON_BYTES): Json {
  // The way that calls through a gate take: their arguments are frozen.
  const seen = Frozen.seenOf(value);
  if (seen && seen.most <= maxBytes) return value as Json;
  return copySized(value, seen, { maxBytes, omitUndefined: false, ordered: false }).copy;
}

/** {@link copyJson}, and whether `JSON.stringify` prints it as RFC 8785 wants it. @throws JsonProblem as there */
export function copySorted(value: unknown): { readonly copy: Json; readonly sorted: boolean } {
  return copySized(value, Frozen.seenOf(value), { maxBytes: MAX_JSON_BYTES, omitUndefined: false });
}

/** {@link copyJson}, deeply frozen, and remembered, so that copying it again costs nothing. @throws JsonProblem as there */
export function freezeJson(value: unknown, maxBytes: number = MAX_JSON_BYTES): Json {
  return freezeSized(copySized(value, Frozen.seenOf(value), { maxBytes, omitUndefined: false }));
}

/**
 * The arguments of a call, frozen, without fields that are undefined: schemas make such fields of what a model left out,
 * and no tool can tell them from missing ones.
 *
 * @throws JsonProblem as {@link copyJson} does, and for more than {@link MAX_ARGS_BYTES}
 */
export function freezeArgs(args: unknown): Json {
  return freezeSized(copySized(args, Frozen.seenOf(args), { maxBytes: MAX_ARGS_BYTES, omitUndefined: true }));
}

/**
 * Whether two JSON values are the same, whatever the order of their keys. `"20"` is not `20`.
 *
 * @param onVisit is told the number of items of each array or object of `actual` that is entered, and may throw to stop
 */
export function jsonEqual(actual: Json, expected: Json, onVisit?: (items: number) => void): boolean {
  if (actual === expected) return true;
  if (typeof actual !== "object" || typeof expected !== "object" || actual === null || expected === null) return false;
  if (isArray(actual) || isArray(expected)) {
    if (!isArray(actual) || !isArray(expected) || actual.length !== expected.length) return false;
    onVisit?.(actual.length);
    return expected.every((item, index) => jsonEqual(actual[index] as Json, item, onVisit));
  }
  const keys = Object.keys(actual);
  onVisit?.(keys.length);
  if (keys.length !== Object.keys(expected).length) return false;
  return keys.every(
    (key) => Object.hasOwn(expected, key) && jsonEqual(actual[key] as Json, expected[key] as Json, onVisit),
  );
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The bounds of the JSON text's length in bytes, kept while copying: a character is 1 to 6 bytes of it. */
interface Size extends CopyOptions {
  least: number;
  most: number;
  sorted: boolean;
}

interface CopyOptions {
  readonly maxBytes: number;
  readonly omitUndefined: boolean;
  /** Whether the order of keys is looked at. */
  readonly ordered?: boolean;
}

/** What was frozen before is its own copy, but not below every limit. */
function copySized(value: unknown, seen: Seen | undefined, options: CopyOptions): JsonCopy {
  const { maxBytes, omitUndefined, ordered = true } = options;
  const { most, sorted } = seen ?? { most: 0, sorted: ordered };
  const size: Size = { least: 0, most, sorted, maxBytes, omitUndefined };
  try {
    const copy = most > 0 ? (value as Json) : copyValue(value, 1, size);
    if (size.most > maxBytes && jsonBytes(copy) > maxBytes) throw tooLarge(maxBytes);
    return { copy, most: size.most, sorted: size.sorted };
  } catch (error) {
    throw toProblem(error);
  }
}

function copyValue(value: unknown, depth: number, size: Size): Json {
  switch (typeof value) {
    case "string":
      return copyString(value, size);
    case "number":
      if (!Number.isFinite(value)) throw new JsonProblem([], `${value} is not JSON`);
      grow(size, 1, 25);
      return value === 0 ? 0 : value;
    case "boolean":
      grow(size, 4, 5);
      return value;
    case "object":
      if (value === null) {
        grow(size, 4, 4);
        return null;
      }
      // Deeper than this is refused before it is entered, which also ends every cycle.
      if (depth > MAX_JSON_DEPTH)
        throw new JsonProblem([], `nested more than ${MAX_JSON_DEPTH} levels deep, or a cycle`);
      return Array.isArray(value) ? copyArray(value, depth, size) : copyObject(value, depth, size);
    default:
      throw new JsonProblem([], `${typeof value} is not JSON`);
  }
}

function copyString(value: string, size: Size): string {
  if (!value.isWellFormed()) throw new JsonProblem([], "a lone surrogate is not JSON");
  grow(size, value.length + 2, value.length * 6 + 2);
  return value;
}

function copyArray(value: readonly unknown[], depth: number, size: Size): Json {
  const copy: Json[] = [];
  const length = value.length;
  grow(size, 2, 2);
  let index = 0;
  try {
    for (; index < length; index++) {
      copy.push(copyValue(value[index], depth + 1, size));
      grow(size, index === 0 ? 0 : 1, 1);
    }
  } catch (error) {
    throw at(index, error);
  }
  return copy;
}

function copyObject(value: object, depth: number, size: Size): Json {
  if (!isPlain(value)) throw new JsonProblem([], `${className(value)} is not JSON`);
  const copy: Record<string, Json> = {};
  grow(size, 1, 2);
  const keys = Object.keys(value);
  let current = "";
  try {
    for (const key of keys) {
      // Keys that are numbers stand first in the copy, wherever a proxy says that they stand.
      if (size.sorted && (key < current || isDigit(key.charCodeAt(0)))) size.sorted = false;
      current = key;
      const given = (value as Record<string, unknown>)[key];
      if (given === undefined && size.omitUndefined) continue;
      copyString(key, size);
      grow(size, 2, 2);
      const item = copyValue(given, depth + 1, size);
      // Assigning to `__proto__` would set the prototype instead of an own property.
      if (key === "__proto__") Object.defineProperty(copy, key, { value: item, enumerable: true, configurable: true });
      else copy[key] = item;
    }
  } catch (error) {
    throw at(current, error);
  }
  return copy;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** A plain object of any realm: its prototype is null, or has no prototype itself. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function className(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name
    ? `an instance of ${name.slice(0, 100).toWellFormed()}`
    : "an object with a prototype";
}

function grow(size: Size, least: number, most: number): void {
  size.least += least;
  size.most += most;
  if (size.least > size.maxBytes) throw tooLarge(size.maxBytes);
}

function tooLarge(maxBytes: number): JsonProblem {
  return new JsonProblem([], `larger than ${maxBytes} bytes of JSON`);
}

function at(part: string | number, error: unknown): JsonProblem {
  const problem = toProblem(error);
  return new JsonProblem([part, ...problem.parts], problem.message);
}

function toProblem(error: unknown): JsonProblem {
  try {
    if (error instanceof JsonProblem) return error;
  } catch {
    // What a getter threw can itself throw when it is looked at.
  }
  return new JsonProblem([], "reading it threw an error");
}

function jsonBytes(value: Json): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function freezeSized({ copy, most, sorted }: JsonCopy): Json {
  freezeDeep(copy, { most, sorted });
  return copy;
}

function freezeDeep(value: Json, seen: Seen): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  for (const item of Object.values(value)) freezeDeep(item, seen);
  Frozen.mark(value, seen);
  Object.freeze(value);
}
