import type { ApiError } from "../api.ts";
import { type Part, useParts } from "./use-parts.ts";

/** A list of things, as far as it was loaded. */
export interface LoadedList<Item> {
  /** Undefined until the first part is there. */
  readonly items: readonly Item[] | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  loadMore(): void;
  reload(): void;
}

export interface ListPart<Item> extends Part {
  readonly items: readonly Item[];
}

/** The list at `key`, whose parts are only their items. */
export function useList<Item>(
  key: string,
  load: (after: string | undefined, signal: AbortSignal) => Promise<ListPart<Item>>,
): LoadedList<Item> {
  const list = useParts<ListPart<Item>>({ key, load });
  const isThere = list.parts.length > 0 && list.key === key;
  return { ...list, items: isThere ? list.parts.flatMap(({ items }) => items) : undefined };
}
