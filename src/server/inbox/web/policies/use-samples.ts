import { useEffect, useState } from "preact/hooks";
import { restoreSamples, type SampleDraft } from "./sample-calls.ts";

export interface Samples {
  readonly drafts: readonly SampleDraft[];
  change(drafts: readonly SampleDraft[]): void;
}

/**
 * The sample calls of a person for an agent, which `key` is of. They may have personal data in them: they are kept in the
 * tab, and not in the address.
 */
export function useSamples(key: string): Samples {
  const name = `intentlock policy samples ${key}`;
  const [drafts, setDrafts] = useState(() => restoreSamples(readKept(name)));
  useEffect(() => {
    try {
      sessionStorage.setItem(name, JSON.stringify(drafts));
    } catch {
      // Full, or not allowed: then they are on the page alone.
    }
  }, [name, drafts]);
  return { drafts, change: setDrafts };
}

function readKept(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}
