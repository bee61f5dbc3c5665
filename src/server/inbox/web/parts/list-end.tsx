import type { JSX } from "preact";
import { LoadMore } from "./load-more.tsx";
import { ErrorNote, ErrorState, Loading } from "./states.tsx";
import type { LoadedList } from "./use-list.ts";

export interface ListEndProps {
  readonly list: LoadedList<unknown>;
  /** What it has: `agents`. */
  readonly what: string;
}

/** What stands below the loaded part of a list: that it is being loaded, that it was not, or that there is more. */
export function ListEnd({ list, what }: ListEndProps): JSX.Element | null {
  const { items, error, isLoading, hasMore, loadMore, reload } = list;
  if (!items) return error ? <ErrorState error={error} onRetry={reload} /> : <Loading what={what} />;
  return (
    <>
      {error && <ErrorNote error={error} />}
      {hasMore && <LoadMore isManual count={items.length} isLoading={isLoading} onMore={loadMore} />}
    </>
  );
}
