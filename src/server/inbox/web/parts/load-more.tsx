import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import "./load-more.css";

export interface LoadMoreProps {
  /** How much is there: looks anew after each part, as an end that stays in sight does not come into it again. */
  readonly count: number;
  readonly isLoading: boolean;
  /** Nothing is loaded by itself: somebody has to ask. */
  readonly isManual?: boolean;
  readonly onMore: () => void;
  /** Of the button: `Load more`, unless told. */
  readonly words?: string;
}

/** The end of a list that is longer: the rest comes as one scrolls, or when one asks for it. */
export function LoadMore({
  count,
  isLoading,
  isManual = false,
  onMore,
  words = "Load more",
}: LoadMoreProps): JSX.Element {
  const end = useRef<HTMLDivElement>(null);
  const latest = useRef(onMore);
  latest.current = onMore;
  useEffect(() => {
    if (isManual) return;
    const watcher = new IntersectionObserver(
      (seen) => seen.some(({ isIntersecting }) => isIntersecting) && latest.current(),
      { rootMargin: "400px" },
    );
    if (end.current) watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [count, isManual]);
  return (
    <div ref={end} class="load-more">
      <Button kind="quiet" busy={isLoading} onClick={() => onMore()}>
        {words}
      </Button>
    </div>
  );
}
