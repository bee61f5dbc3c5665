import type { ListQuery } from "../../core/api/index.ts";
import { ProblemError } from "../handler.ts";

/** As many as a list has unless told. */
export const DEFAULT_LIMIT = 100;

/** A part of a list. */
export interface Part<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/** The part of a list that was asked for, of one more than it may have: that one says that there is a next part. */
export function cutPart<T>(items: readonly T[], limit: number, nameOf: (item: T) => string): Part<T> {
  const last = items[limit - 1];
  return items.length > limit && last !== undefined ? { items: items.slice(0, limit), next: nameOf(last) } : { items };
}

/** {@link cutPart} of a short list that is there as a whole. After an item that has gone, it begins at the start again. */
export function takePart<T>(
  all: readonly T[],
  { limit = DEFAULT_LIMIT, after }: ListQuery,
  idOf: (item: T) => string,
): Part<T> {
  const start = after === undefined ? 0 : all.findIndex((item) => idOf(item) === after) + 1;
  return cutPart(all.slice(start, start + limit + 1), limit, idOf);
}

/**
 * The groups of an `after` that was the `next` of an answer.
 *
 * @throws ProblemError `invalid_request` if it is none
 */
export function readCursor(text: string, pattern: RegExp): readonly string[] {
  const [, ...groups] = pattern.exec(text) ?? [];
  if (groups.length > 0) return groups;
  throw new ProblemError("invalid_request", { issues: [{ path: "after", message: "expected the next of an answer" }] });
}
