import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { EmptyState, ErrorNote, ErrorState, Loading } from "../parts/states.tsx";
import { HoldRow } from "./hold-row.tsx";
import type { PendingHolds } from "./pending-holds.ts";

export interface HoldListProps {
  readonly pending: PendingHolds;
}

/** What waits, oldest deadline first. The rest of a long list comes as one scrolls. */
export function HoldList({ pending }: HoldListProps): JSX.Element {
  const { holds, error, isLoading, hasMore } = pending;
  if (holds.value.length === 0) {
    if (error.value) return <ErrorState error={error.value} onRetry={() => void pending.load()} />;
    return isLoading.value ? <Loading what="what waits for you" /> : <NothingWaits />;
  }
  return (
    <div class="hold-list">
      {error.value && <ErrorNote error={error.value} />}
      <ul aria-label="Holds that wait for you">
        {holds.value.map((hold) => (
          <HoldRow key={hold.holdId} hold={hold} selected={pending.lookedAt} />
        ))}
      </ul>
      {hasMore.value && <More pending={pending} />}
    </div>
  );
}

function More({ pending }: HoldListProps): JSX.Element {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (seen) => seen.some(({ isIntersecting }) => isIntersecting) && void pending.loadMore(),
      { rootMargin: "400px" },
    );
    if (end.current) watcher.observe(end.current);
    return () => watcher.disconnect();
    // Looks anew after each part: an end that stays in sight does not come into it again.
  }, [pending, pending.holds.value.length]);
  return (
    <div ref={end} class="hold-list-more">
      <Button kind="quiet" busy={pending.isLoading.value} onClick={() => void pending.loadMore()}>
        Load more
      </Button>
    </div>
  );
}

function NothingWaits(): JSX.Element {
  return (
    <EmptyState icon="allow" title="Nothing waits for you">
      <p class="quiet">When a rule holds a call and names you as an approver, it is here within a second.</p>
      <p>
        <a href="/decisions">See what was decided</a>
      </p>
    </EmptyState>
  );
}
