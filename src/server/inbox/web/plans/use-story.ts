import { useEffect, useState } from "preact/hooks";
import type { StoryAnswer, StoryEntry, StoryQuery } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";
import { type Parts, useParts } from "../parts/use-parts.ts";
import { api } from "../session.ts";
import { type EarlierPart, endAt, loadBefore, startFor } from "./earlier-part.ts";
import { readWanted } from "./use-wanted.ts";

/** A plan's story, as far as it was loaded: from some entry on, and what was before it when somebody asks. */
export interface Story {
  readonly plan: StoryAnswer["plan"] | undefined;
  /** In order and without a gap. */
  readonly entries: readonly StoryEntry[];
  readonly holds: readonly InboxItem[];
  readonly later: Parts<StoryAnswer>;
  readonly earlier: Parts<EarlierPart>;
  /** Loads it anew, from a little before an entry on. */
  show(seq: number): void;
  reload(): void;
}

/** The story of the plan of a component's whole life. */
export function useStory(planId: string): Story {
  const [start, setStart] = useState(() => startFor(readWanted(location.hash) ?? 0));
  const key = String(start);
  const ask = (query: StoryQuery, signal: AbortSignal): Promise<StoryAnswer> =>
    api.get(`/v1/plans/${encodeURIComponent(planId)}/story`, { query, signal });
  const later = useParts<StoryAnswer>({
    key,
    load: (after, signal) => ask(after === undefined ? { ...(start > 0 && { from: start }) } : { after }, signal),
  });
  const earlier = useParts<EarlierPart>({
    key,
    // The first part is that there is something, or nothing, before the story's start.
    load: async (after, signal) =>
      after === undefined ? endAt(start, []) : await loadBefore(Number(after), (query) => ask(query, signal)),
  });
  const plan = later.parts.at(-1)?.plan;
  const isBehindTheEnd = start > 0 && later.key === key && plan !== undefined && start >= plan.seq;
  useEffect(() => {
    if (isBehindTheEnd) setStart(0);
  }, [isBehindTheEnd]);
  const before = earlier.key === later.key ? earlier.parts : [];
  const holds = later.parts.flatMap((part) => part.holds.map((hold) => [hold.holdId, hold] as const));
  return {
    plan,
    entries: [...before.toReversed(), ...later.parts].flatMap(({ entries }) => entries),
    // Those that were too long for the first part come with the next ones.
    holds: [...new Map(holds).values()],
    later,
    earlier,
    show: (seq) => setStart(startFor(seq)),
    reload: () => {
      later.reload();
      earlier.reload();
    },
  };
}
