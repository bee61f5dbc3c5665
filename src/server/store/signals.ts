/** What a listener is told: what somebody signalled, or `undefined`: signals may have been missed, so look again. */
export type SignalListener = (payload: string | undefined) => void;

/** Short messages between all that work on one database. None is stored: who waits looks first and listens before. */
export interface Signals {
  /** @throws IntentlockError `ERR_INVALID_OPTIONS` if the channel is not a lower-case word or the payload too long */
  notify(channel: string, payload: string): Promise<void>;
  /** @returns a function that ends it */
  listen(channel: string, listener: SignalListener): () => void;
}

/** The listeners of this process. What one of them throws is no matter of the others, nor of who signals. */
export class SignalListeners {
  readonly #channels = new Map<string, Set<SignalListener>>();

  get isEmpty(): boolean {
    return this.#channels.size === 0;
  }

  add(channel: string, listener: SignalListener): () => void {
    const listeners = this.#channels.get(channel) ?? new Set();
    // The same function may listen twice, and each ends for itself.
    const own: SignalListener = (payload) => listener(payload);
    this.#channels.set(channel, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#channels.get(channel) === listeners) this.#channels.delete(channel);
    };
  }

  tell(channel: string, payload: string): void {
    for (const listener of [...(this.#channels.get(channel) ?? [])]) call(listener, payload);
  }

  tellAllToLook(): void {
    for (const listener of [...this.#channels.values()].flatMap((listeners) => [...listeners])) {
      call(listener, undefined);
    }
  }
}

function call(listener: SignalListener, payload: string | undefined): void {
  try {
    listener(payload);
  } catch {}
}
