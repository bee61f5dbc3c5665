import type { Agent, ApiKey } from "../store/index.ts";

/** An API key that is in use, and whose it is. */
export interface FoundKey {
  readonly agent: Agent;
  readonly apiKey: ApiKey;
}

const REMEMBERED_MS = 2000;
const MAX_REMEMBERED = 1000;

/**
 * API keys that were good a moment ago, by their digests. Only for requests that allow nothing without a write that looks
 * at the key again: a key that was revoked since is refused there.
 */
export class RememberedKeys {
  readonly #keys = new Map<string, { readonly found: FoundKey; readonly until: number }>();

  get(digest: string): FoundKey | undefined {
    const known = this.#keys.get(digest);
    return known && performance.now() < known.until ? known.found : undefined;
  }

  add(digest: string, found: FoundKey): void {
    // To the end: the first is the oldest.
    this.#keys.delete(digest);
    this.#keys.set(digest, { found, until: performance.now() + REMEMBERED_MS });
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > MAX_REMEMBERED && oldest !== undefined) this.#keys.delete(oldest);
  }
}
