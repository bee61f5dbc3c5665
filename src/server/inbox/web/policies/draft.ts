/**
 * A policy that somebody is writing, kept in the tab so that going back or a session that ends does not lose it. Its key is
 * of the person and the agent: who signs in next in the same tab is not shown it.
 */
export interface Draft {
  readonly text: string;
  /** The version that it was begun from; 0 if there was none. */
  readonly base: number;
}

type Kept = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function readDraft(key: string, storage: Kept = sessionStorage): Draft | undefined {
  try {
    const kept = JSON.parse(storage.getItem(nameOf(key)) ?? "null") as Partial<Draft> | null;
    if (typeof kept?.text === "string" && typeof kept.base === "number") return { text: kept.text, base: kept.base };
  } catch {
    // Of another version of the page, or nothing may be kept in this browser.
  }
  return undefined;
}

/** Nothing is kept of a text that is as it was. */
export function keepDraft(key: string, draft: Draft | undefined, storage: Kept = sessionStorage): void {
  try {
    if (draft) storage.setItem(nameOf(key), JSON.stringify(draft));
    else storage.removeItem(nameOf(key));
  } catch {
    // Full, or not allowed: then it is in the editor alone.
  }
}

function nameOf(key: string): string {
  return `intentlock policy draft ${key}`;
}
