import type { ListQuery } from "../core/api/index.ts";

const ITEMS_PER_PART = 1000;

/** A list that comes in parts, as a whole. */
export async function readAll<Part extends { readonly next?: string }, Item>(
  list: (query: ListQuery) => Promise<Part>,
  itemsOf: (part: Part) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  let query: ListQuery = { limit: ITEMS_PER_PART };
  for (;;) {
    const part = await list(query);
    items.push(...itemsOf(part));
    if (part.next === undefined) return items;
    query = { limit: ITEMS_PER_PART, after: part.next };
  }
}
