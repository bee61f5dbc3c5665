import type { StoryAnswer, StoryEntry, StoryQuery } from "../../../../core/api/history.ts";
import type { Part } from "../parts/use-parts.ts";

/** As many entries as one part has at most. */
export const PART = 200;
/** As many as are loaded before one that an address points to. */
const BEFORE = 50;

/** Entries before the first part. */
export interface EarlierPart extends Part {
  readonly entries: readonly StoryEntry[];
}

/** Where a story begins in which an entry is in sight. */
export function startFor(seq: number): number {
  return seq < PART ? 0 : seq - BEFORE;
}

/** The entries before one: as many as a part has, also if they are too long for a single answer. */
export async function loadBefore(
  end: number,
  ask: (query: StoryQuery) => Promise<Pick<StoryAnswer, "entries" | "next">>,
): Promise<EarlierPart> {
  const from = Math.max(0, end - PART);
  const entries: StoryEntry[] = [];
  let place: StoryQuery | undefined = { from };
  while (place && entries.length < end - from) {
    const part = await ask({ ...place, limit: end - from - entries.length });
    entries.push(...part.entries);
    place = part.next === undefined ? undefined : { after: part.next };
  }
  return endAt(from, entries);
}

export function endAt(from: number, entries: readonly StoryEntry[]): EarlierPart {
  return { entries, ...(from > 0 && { next: String(from) }) };
}
