/** A policy that somebody is writing, kept in the tab so that going back or a closed session does not lose it. */
export interface Draft {
  readonly text: string;
  /** The version that it was begun from; 0 if there was none. */
  readonly base: number;
}

type Kept = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function readDraft(agentId: string, storage: Kept = sessionStorage): Draft | undefined {
  try {
    const kept = JSON.parse(storage.getItem(nameOf(agentId)) ?? "null") as Partial<Draft> | null;
    if (typeof kept?.text === "string" && typeof kept.base === "number") return { text: kept.text, base: kept.base };
  } catch {
    // Of another version of the page, or nothing may be kept in this browser.
  }
  return undefined;
}

/** Nothing is kept of a text that is as it was. */
export function keepDraft(agentId: string, draft: Draft | undefined, storage: Kept = sessionStorage): void {
  try {
    if (draft) storage.setItem(nameOf(agentId), JSON.stringify(draft));
    else storage.removeItem(nameOf(agentId));
  } catch {
    // Full, or not allowed: then it is in the editor alone.
  }
}

function nameOf(agentId: string): string {
  return `intentlock policy draft ${agentId}`;
}
