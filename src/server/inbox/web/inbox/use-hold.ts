import { useEffect, useState } from "preact/hooks";
import type { InboxItemAnswer } from "../../../../core/api/holds.ts";
import { type ApiError, asApiError } from "../api.ts";
import type { PendingHolds } from "./pending-holds.ts";

export interface LoadedHold {
  readonly item?: InboxItemAnswer | undefined;
  readonly error?: ApiError | undefined;
  /** Asks the server again. */
  reload(): void;
}

/** The hold of a component's whole life, as the server has it, again whenever something became of it; until it is there, as the list has it. */
export function useHold(pending: PendingHolds, holdId: string): LoadedHold {
  const [loaded, setLoaded] = useState<{ readonly item?: InboxItemAnswer; readonly error?: ApiError }>({});
  const [round, setRound] = useState(0);
  const reload = (): void => setRound((before) => before + 1);
  useEffect(() => {
    const leaving = new AbortController();
    const load = async (): Promise<void> => {
      try {
        setLoaded({ item: await pending.get(holdId, leaving.signal) });
      } catch (error) {
        if (!leaving.signal.aborted) setLoaded(({ item }) => ({ ...(item && { item }), error: asApiError(error) }));
      }
    };
    void load();
    return () => leaving.abort();
  }, [pending, holdId, round]);
  useEffect(() => pending.watch((news) => (!news || news.holdId === holdId) && reload()), [pending, holdId]);
  const item = loaded.item ?? pending.holds.value.find((hold) => hold.holdId === holdId);
  return { item, error: loaded.error, reload };
}
