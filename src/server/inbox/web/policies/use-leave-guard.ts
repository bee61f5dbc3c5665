import { useEffect, useState } from "preact/hooks";

/** A way out of the page that somebody has taken while something is not saved. */
export interface LeaveGuard {
  /** Where to; undefined while nobody leaves. */
  readonly to: string | undefined;
  stay(): void;
}

/**
 * Stops whoever leaves while something is not saved: by a link, by closing the tab or by loading the page anew. Going back
 * cannot be stopped.
 */
export function useLeaveGuard(isDirty: boolean): LeaveGuard {
  const [to, setTo] = useState<string>();
  useEffect(() => {
    if (!isDirty) return;
    const unload = (event: BeforeUnloadEvent): void => event.preventDefault();
    const click = (event: MouseEvent): void => {
      const link = findLeavingLink(event);
      if (link === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setTo(link);
    };
    addEventListener("beforeunload", unload);
    addEventListener("click", click, { capture: true });
    return () => {
      removeEventListener("beforeunload", unload);
      removeEventListener("click", click, { capture: true });
    };
  }, [isDirty]);
  return { to, stay: () => setTo(undefined) };
}

/** The address of a link that is followed in this tab and leads to another page of the inbox. */
function findLeavingLink(event: MouseEvent): string | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.button !== 0) return undefined;
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href]") : null;
  if (!link || link.origin !== location.origin || link.hasAttribute("download")) return undefined;
  if (!["", "_self"].includes(link.target) || link.pathname === location.pathname) return undefined;
  return `${link.pathname}${link.search}${link.hash}`;
}
