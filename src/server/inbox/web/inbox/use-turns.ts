import { useLayoutEffect, useRef } from "preact/hooks";
import { isWide } from "../parts/window.ts";

/** On a phone the list and a hold take turns: a hold begins at its top, and the list is where it was left. */
export function useTurns(selected: string | undefined): void {
  const listAt = useRef(0);
  useLayoutEffect(() => {
    if (isWide.value) return undefined;
    scrollTo(0, selected === undefined ? listAt.current : 0);
    if (selected !== undefined) return undefined;
    const remember = (): void => {
      listAt.current = scrollY;
    };
    addEventListener("scroll", remember, { passive: true });
    return () => removeEventListener("scroll", remember);
  }, [selected]);
}
