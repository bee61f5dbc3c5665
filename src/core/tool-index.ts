/** What may concern a tool, found by its name: how many others there are does not matter. */
export interface ToolIndex<Item> {
  /** In the order in which they were given, all whose patterns match the name, and perhaps some whose do not. */
  candidates(tool: string): readonly Item[];
}

/** No glob matches a text that does not start with what stands before the first of these. */
const SPECIAL = /[*?[\]{}\\]/;

/** @param patternsOf the globs of which one has to match the name; undefined: any name will do */
export function indexByTool<Item>(
  items: readonly Item[],
  patternsOf: (item: Item) => readonly string[] | undefined,
): ToolIndex<Item> {
  // By the length of what a name has to start with, so that a name is cut once for each length and not for each glob.
  const byLength = new Map<number, Map<string, number[]>>();
  const exact = new Map<string, number[]>();
  for (const [index, item] of items.entries()) {
    for (const pattern of patternsOf(item) ?? ["*"]) {
      const end = pattern.search(SPECIAL);
      if (end === -1) add(exact, pattern, index);
      else {
        const prefixes = byLength.get(end) ?? new Map<string, number[]>();
        byLength.set(end, prefixes);
        add(prefixes, pattern.slice(0, end), index);
      }
    }
  }
  return {
    candidates(tool) {
      const lists: (readonly number[])[] = [];
      const named = exact.get(tool);
      if (named) lists.push(named);
      for (const [length, prefixes] of byLength) {
        const found = length <= tool.length ? prefixes.get(tool.slice(0, length)) : undefined;
        if (found) lists.push(found);
      }
      const [only = []] = lists;
      const indices = lists.length < 2 ? only : [...new Set(lists.flat())].sort((one, other) => one - other);
      return indices.map((index) => items[index] as Item);
    },
  };
}

/** An item with several patterns that begin alike is listed once. */
function add(lists: Map<string, number[]>, key: string, index: number): void {
  const list = lists.get(key);
  if (!list) lists.set(key, [index]);
  else if (list.at(-1) !== index) list.push(index);
}
