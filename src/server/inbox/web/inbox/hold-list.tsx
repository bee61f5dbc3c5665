import type { JSX } from "preact";
import { LoadMore } from "../parts/load-more.tsx";
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
      {hasMore.value && (
        <LoadMore count={holds.value.length} isLoading={isLoading.value} onMore={() => void pending.loadMore()} />
      )}
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
