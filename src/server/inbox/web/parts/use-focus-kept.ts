import { useEffect, useRef } from "preact/hooks";

/**
 * After something was done, what had the focus may leave the page: the page's heading has it then. Call what this gives
 * when it was done.
 */
export function useFocusKept(): () => void {
  const isDone = useRef(false);
  useEffect(() => {
    if (!isDone.current || document.activeElement !== document.body) return;
    isDone.current = false;
    document.querySelector<HTMLElement>("h1")?.focus();
  });
  return () => {
    isDone.current = true;
  };
}
