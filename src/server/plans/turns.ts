/** One after the other, for each key by itself. */
export class Turns {
  readonly #tails = new Map<string, Promise<void>>();

  /** Waits for everybody who asked before. @returns what ends the turn; it has to be called */
  async enter(key: string): Promise<() => void> {
    const before = this.#tails.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, promise);
    await before;
    return () => {
      if (this.#tails.get(key) === promise) this.#tails.delete(key);
      resolve();
    };
  }
}
