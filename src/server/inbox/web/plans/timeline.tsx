import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { StoryAnswer, StoryEntry } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";
import { LoadMore } from "../parts/load-more.tsx";
import { ErrorNote } from "../parts/states.tsx";
import type { Parts } from "../parts/use-parts.ts";
import { CallChapter } from "./call-chapter.tsx";
import { type Chapter, groupEntries } from "./group-entries.ts";
import { PlainChapter } from "./plain-chapter.tsx";

export interface TimelineProps {
  readonly story: Parts<StoryAnswer>;
  readonly entries: readonly StoryEntry[];
  readonly holds: readonly InboxItem[];
  /** The entry that the address points to. */
  readonly wanted: number | undefined;
}

/** From so many chapters on, those out of sight are left undrawn. */
const LONG = 100;

/** What happened, in order, with what belongs together in one place. */
export function Timeline({ story, entries, holds, wanted }: TimelineProps): JSX.Element {
  const { hasMore, isLoading, error, loadMore } = story;
  const { chapters, looseHolds } = useMemo(() => groupEntries(entries, holds), [story.parts]);
  // Those of decisions that are not loaded yet come with them.
  const shown = hasMore ? chapters : [...chapters, ...looseHolds.map((hold) => ({ entries: [], holds: [hold] }))];
  if (shown.length === 0) return <p class="quiet">Nothing is on record yet.</p>;
  const isMissing = wanted !== undefined && wanted >= (story.parts.at(-1)?.plan.seq ?? 0);
  return (
    <>
      {isMissing && (
        <p class="note" role="status">
          Entry {wanted} is not on record.
        </p>
      )}
      <ol class={shown.length > LONG ? "timeline timeline-long" : "timeline"}>
        {shown.map((chapter) => {
          const isWanted = chapter.entries.some(({ seq }) => seq === wanted);
          return (
            <li key={keyOf(chapter)} class={isWanted ? "chapter chapter-wanted" : "chapter"}>
              {isCall(chapter) ? <CallChapter chapter={chapter} /> : <PlainChapter chapter={chapter} />}
            </li>
          );
        })}
      </ol>
      {error && <ErrorNote error={error} />}
      {hasMore && <LoadMore count={entries.length} isLoading={isLoading} isManual onMore={() => loadMore()} />}
    </>
  );
}

function keyOf({ entries: [first], holds: [hold] }: Chapter): string {
  return first ? `entry ${first.seq}` : `hold ${hold?.holdId}`;
}

function isCall({ entries, holds }: Chapter): boolean {
  return entries.some(({ event }) => event.type === "decision") || holds.some(({ kind }) => kind === "call");
}
