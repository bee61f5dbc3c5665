import { useEffect, useState } from "preact/hooks";

/** For two dialogs in a row: the second knows nothing of what opened the first, which has the focus again at the end. */
export function useOpener(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () =>
      // While a dialog is open, nothing outside of it takes the focus.
      queueMicrotask(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
      }),
    [opener],
  );
}
