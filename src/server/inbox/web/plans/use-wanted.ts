import { useEffect, useState } from "preact/hooks";
import { PART } from "./earlier-part.ts";
import type { Story } from "./use-story.ts";

/** The number of the entry that an address points to: `#seq-7`. */
export function readWanted(hash: string): number | undefined {
  const [, seq] = /^#seq-(\d{1,15})$/.exec(hash) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

export function entryId(seq: number): string {
  return `seq-${seq}`;
}

/** The entry that the address points to. It is loaded with what is around it, and brought into sight once. */
export function useWanted({ plan, entries, later, earlier, show }: Story): number | undefined {
  const [wanted, setWanted] = useState(() => readWanted(location.hash));
  const isThere = wanted !== undefined && entries.some(({ seq }) => seq === wanted);
  const isLoading = later.isLoading || earlier.isLoading;
  const error = later.error ?? earlier.error;
  // Of the entry that there is not yet.
  const seq = plan?.seq ?? 0;
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
    if (wanted === undefined || isThere || wanted >= seq || isLoading || error) return;
    const end = (entries.at(-1)?.seq ?? -1) + 1;
    if (wanted >= end && wanted < end + PART) later.loadMore();
    else show(wanted);
  }, [wanted, isThere, entries.length, isLoading, error]);
  useEffect(() => {
    if (!isThere) return;
    const element = document.getElementById(entryId(wanted));
    element?.scrollIntoView({ block: "center" });
    element?.focus({ preventScroll: true });
  }, [wanted, isThere]);
  return wanted;
}
