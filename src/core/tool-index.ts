/** What may concern a tool, found by its name: how many others there are hardly matters. */
export interface ToolIndex<Prepared> {
  /** What was prepared of the items that may concern the tool. */
  candidates(tool: string): Prepared;
}

export interface ToolIndexOptions<Item, Prepared> {
  /** The globs of which one has to match the name; undefined: any name will do. */
  readonly patternsOf: (item: Item) => readonly string[] | undefined;
  /**
   * Is given the items for some names, in the order in which they were given: all of which a pattern matches such a name, and
   * perhaps some of which none does.
   */
  readonly prepare: (items: readonly Item[]) => Prepared;
}

/** No glob matches a text that does not start with what stands before the first of these. */
const SPECIAL = /[*?[\]{}\\]/;

/** How many names' answers are remembered: more than a plan has steps. */
const MAX_PREPARED = 1000;

/** A text that some patterns begin with. */
interface Start<Prepared> {
  readonly text: string;
  /** The items of patterns that are this text, and of those that go on from it. */
  readonly exact: number[];
  readonly open: number[];
  /** The longest other start that this one starts with. */
  parent: Start<Prepared> | undefined;
  /** What was prepared for the text itself, and for names that go on from it. */
  forItself: { readonly prepared: Prepared } | undefined;
  forOthers: { readonly prepared: Prepared } | undefined;
}

export function indexByTool<Item, Prepared>(
  items: readonly Item[],
  { patternsOf, prepare }: ToolIndexOptions<Item, Prepared>,
): ToolIndex<Prepared> {
  const { any, byFirst } = groupStarts(listStarts<Item, Prepared>(items, patternsOf));
  const nothing = prepare([]);
  const remembered: Start<Prepared>[] = [];

  function prepareFor(start: Start<Prepared>, isItself: boolean): { readonly prepared: Prepared } {
    const indices = new Set(isItself ? start.exact : []);
    for (let at: Start<Prepared> | undefined = start; at; at = at.parent)
      for (const index of at.open) indices.add(index);
    const inOrder = [...indices].sort((one, other) => one - other);
    if (remembered.length >= MAX_PREPARED) {
      for (const old of remembered.splice(0)) old.forItself = old.forOthers = undefined;
    }
    remembered.push(start);
    return { prepared: prepare(inOrder.map((index) => items[index] as Item)) };
  }

  return {
    candidates(tool) {
      const starts = byFirst[tool.charCodeAt(0)];
      let start = starts ? starts[findLast(starts, tool)] : undefined;
      // Whatever starts stand between a name and the longest one that it starts with, start with that one too.
      while (start && !tool.startsWith(start.text)) start = start.parent;
      start ??= any;
      if (!start) return nothing;
      if (start.text.length === tool.length) {
        start.forItself ??= prepareFor(start, true);
        return start.forItself.prepared;
      }
      start.forOthers ??= prepareFor(start, false);
      return start.forOthers.prepared;
    },
  };
}

/** Sorted by their text. */
function listStarts<Item, Prepared>(
  items: readonly Item[],
  patternsOf: ToolIndexOptions<Item, Prepared>["patternsOf"],
): Start<Prepared>[] {
  const byText = new Map<string, Start<Prepared>>();
  for (const [index, item] of items.entries()) {
    for (const pattern of patternsOf(item) ?? ["*"]) {
      const end = pattern.search(SPECIAL);
      const text = end === -1 ? pattern : pattern.slice(0, end);
      const start = byText.get(text) ?? {
        text,
        exact: [],
        open: [],
        parent: undefined,
        forItself: undefined,
        forOthers: undefined,
      };
      byText.set(text, start);
      (end === -1 ? start.exact : start.open).push(index);
    }
  }
  const starts = [...byText.values()].sort((one, other) => (one.text < other.text ? -1 : 1));
  let before: Start<Prepared> | undefined;
  for (const start of starts) {
    while (before && !start.text.startsWith(before.text)) before = before.parent;
    start.parent = before;
    before = start;
  }
  return starts;
}

/** The start of patterns that may begin with anything, and the others by their first UTF-16 unit. */
function groupStarts<Prepared>(starts: readonly Start<Prepared>[]): {
  readonly any: Start<Prepared> | undefined;
  readonly byFirst: readonly (readonly Start<Prepared>[] | undefined)[];
} {
  const byFirst: Start<Prepared>[][] = [];
  for (const start of starts) {
    if (start.text === "") continue;
    const first = start.text.charCodeAt(0);
    byFirst[first] ??= [];
    byFirst[first].push(start);
  }
  const [any] = starts;
  return { any: any?.text === "" ? any : undefined, byFirst };
}

/** The index of the last start that does not come after a name; -1 if all do. */
function findLast(starts: readonly { readonly text: string }[], tool: string): number {
  let [low, high] = [-1, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as { readonly text: string }).text <= tool) low = middle;
    else high = middle - 1;
  }
  return low;
}
