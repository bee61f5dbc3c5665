import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { LoadMore } from "../parts/load-more.tsx";
import { ErrorNote, Loading } from "../parts/states.tsx";
import { CallChapter } from "./call-chapter.tsx";
import { type Chapter, groupEntries } from "./group-entries.ts";
import { PlainChapter } from "./plain-chapter.tsx";
import type { Story } from "./use-story.ts";

export interface TimelineProps {
  readonly story: Pick<Story, "plan" | "entries" | "holds" | "later" | "earlier">;
  /** The entry that the address points to. */
  readonly wanted: number | undefined;
}

/** From so many chapters on, those out of sight are left undrawn. */
const LONG = 100;

/** What happened, in order, with what belongs together in one place. */
export function Timeline({ story, wanted }: TimelineProps): JSX.Element {
  const { plan, entries, holds, later, earlier } = story;
  const { chapters, looseHolds } = useMemo(() => groupEntries(entries, holds), [later.parts, earlier.parts]);
  const isWhole = !later.hasMore && !earlier.hasMore;
  // Those of decisions that are not loaded yet come with them.
  const shown = isWhole ? [...chapters, ...looseHolds.map((hold) => ({ entries: [], holds: [hold] }))] : chapters;
  const first = entries[0]?.seq ?? 0;
  if (shown.length === 0) {
    return plan?.seq ? <Loading what="the entries" /> : <p class="quiet">Nothing is on record yet.</p>;
  }
  const isMissing = wanted !== undefined && wanted >= (plan?.seq ?? 0);
  return (
    <>
      {isMissing && (
        <p class="note" role="status">
          Entry {wanted} is not on record.
        </p>
      )}
      {earlier.error && <ErrorNote error={earlier.error} />}
      {earlier.hasMore && (
        <LoadMore
          words={`Load what was before entry ${first}`}
          count={entries.length}
          isLoading={earlier.isLoading}
          isManual
          onMore={() => earlier.loadMore()}
        />
      )}
      <ol class={shown.length > LONG ? "timeline timeline-long" : "timeline"}>
        {shown.map((chapter) => {
          const isWanted = chapter.entries.some(({ seq }) => seq === wanted);
          return (
            <li key={keyOf(chapter)} class={isWanted ? "chapter chapter-wanted" : "chapter"}>
              {isCall(chapter) ? <CallChapter chapter={chapter} /> : <PlainChapter chapter={chapter} first={first} />}
            </li>
          );
        })}
      </ol>
      {later.error && <ErrorNote error={later.error} />}
      {later.hasMore && (
        <LoadMore count={entries.length} isLoading={later.isLoading} isManual onMore={() => later.loadMore()} />
      )}
    </>
  );
}

function keyOf({ entries: [first], holds: [hold] }: Chapter): string {
  return first ? `entry ${first.seq}` : `hold ${hold?.holdId}`;
}

function isCall({ entries, holds }: Chapter): boolean {
  return entries.some(({ event }) => event.type === "decision") || holds.some(({ kind }) => kind === "call");
}
