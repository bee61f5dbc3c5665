import { useEffect, useState } from "preact/hooks";
import type { OverviewAnswer } from "../../../../core/api/history.ts";
import { type ApiError, asApiError } from "../api.ts";
import { api } from "../session.ts";
import type { ChosenOverview } from "./overview-query.ts";

export interface LoadedOverview {
  /** What is there stays until the next is. */
  readonly overview: OverviewAnswer | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

export function useOverview({ hours, agentId }: ChosenOverview): LoadedOverview {
  const [overview, setOverview] = useState<OverviewAnswer>();
  const [error, setError] = useState<ApiError>();
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const load = async (): Promise<void> => {
      setLoading(true);
      try {
        setOverview(await api.get<OverviewAnswer>("/v1/overview", { query: { hours, agentId }, signal }));
        setError(undefined);
      } catch (refusal) {
        if (!signal.aborted) setError(asApiError(refusal));
      }
      if (!signal.aborted) setLoading(false);
    };
    void load();
    return () => leaving.abort();
  }, [hours, agentId, round]);
  return { overview, error, isLoading, reload: () => setRound((before) => before + 1) };
}
