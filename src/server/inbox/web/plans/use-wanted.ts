import { useEffect, useState } from "preact/hooks";
import type { StoryAnswer, StoryEntry } from "../../../../core/api/history.ts";
import type { Parts } from "../parts/use-parts.ts";

/** The number of the entry that an address points to: `#seq-7`. */
export function readWanted(hash: string): number | undefined {
  const [, seq] = /^#seq-(\d{1,15})$/.exec(hash) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

export function entryId(seq: number): string {
  return `seq-${seq}`;
}

/** The entry that the address points to. What it takes to get there is loaded, and it is brought into sight once. */
export function useWanted(story: Parts<StoryAnswer>, entries: readonly StoryEntry[]): number | undefined {
  const [wanted, setWanted] = useState(() => readWanted(location.hash));
  const isThere = wanted !== undefined && entries.some(({ seq }) => seq === wanted);
  const { hasMore, isLoading, error } = story;
  // Of the entry that there is not yet.
  const seq = story.parts.at(-1)?.plan.seq ?? 0;
  useEffect(() => {
    // The router changes the address of a link by itself, without an event of the browser's.
    const read = (): void => setWanted(readWanted(location.hash));
    const readSoon = (): void => queueMicrotask(read);
    addEventListener("hashchange", read);
    addEventListener("popstate", read);
    addEventListener("click", readSoon);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener("popstate", read);
      removeEventListener("click", readSoon);
    };
  }, []);
  useEffect(() => {
    if (wanted === undefined || isThere || wanted >= seq || !hasMore || isLoading || error) return;
    // All that it takes at once: a story that is drawn anew for each part takes its time.
    story.loadMore(Math.ceil(((wanted + 1 - entries.length) / Math.max(1, entries.length)) * story.parts.length));
  }, [wanted, isThere, hasMore, isLoading, error]);
  useEffect(() => {
    if (!isThere) return;
    const element = document.getElementById(entryId(wanted));
    element?.scrollIntoView({ block: "center" });
    element?.focus({ preventScroll: true });
  }, [wanted, isThere]);
  return wanted;
}
