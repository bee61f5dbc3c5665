import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api.ts";

/** One part of a list that is longer. */
export interface Part {
  /** For `after`, if there is more. */
  readonly next?: string;
}

export interface Parts<Answer extends Part> {
  readonly parts: readonly Answer[];
  /** What these parts were asked for with; until those of another question are there, they stay. */
  readonly key: string;
  readonly isLoading: boolean;
  readonly error: ApiError | undefined;
  readonly hasMore: boolean;
  /** As many parts more, if there are so many; one unless told. */
  loadMore(count?: number): void;
  /** Loads as many parts as there are, as they are now. */
  reload(): void;
}

export interface PartsSetup<Answer extends Part> {
  /** What is asked for: another key is another list. */
  readonly key: string;
  readonly load: (after: string | undefined, signal: AbortSignal) => Promise<Answer>;
}

interface State<Answer> {
  readonly parts: readonly Answer[];
  readonly key: string;
  readonly isLoading: boolean;
  readonly error?: ApiError;
}

/** A list that the server answers in parts. What was asked for before and comes late is passed over. */
export function useParts<Answer extends Part>({ key, load }: PartsSetup<Answer>): Parts<Answer> {
  const [state, setState] = useState<State<Answer>>({ parts: [], key, isLoading: true });
  const current = useRef<AbortController | undefined>(undefined);
  const ask = async (given: readonly Answer[], count: number): Promise<void> => {
    current.current?.abort();
    const leaving = new AbortController();
    current.current = leaving;
    setState((before) => ({ parts: before.parts, key: before.key, isLoading: true }));
    const parts = [...given];
    try {
      do {
        parts.push(await load(parts.at(-1)?.next, leaving.signal));
      } while (parts.length < count && parts.at(-1)?.next !== undefined);
      if (!leaving.signal.aborted) setState({ parts, key, isLoading: false });
    } catch (error) {
      if (leaving.signal.aborted) return;
      setState((before) => ({
        // Those of another question are no answer to this one.
        parts: before.key === key ? before.parts : [],
        key,
        isLoading: false,
        error: asApiError(error),
      }));
    }
  };
  useEffect(() => {
    void ask([], 1);
    return () => current.current?.abort();
  }, [key]);
  const { parts, isLoading } = state;
  const hasMore = parts.at(-1)?.next !== undefined;
  return {
    parts,
    key: state.key,
    isLoading,
    error: state.error,
    hasMore,
    loadMore: (count = 1) => {
      if (hasMore && !isLoading && state.key === key) void ask(parts, parts.length + count);
    },
    reload: () => void ask([], Math.max(1, parts.length)),
  };
}
