/** What is kept in memory as long as there is room for it: what was not used for longest makes room for the rest. */
export class RecentlyUsed<Value> {
  readonly #maxEntries: number;
  readonly #maxWeight: number;
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  /** @param options.maxWeight of all together, in whatever unit the weights are */
  constructor({ maxEntries, maxWeight }: { readonly maxEntries: number; readonly maxWeight: number }) {
    this.#maxEntries = maxEntries;
    this.#maxWeight = maxWeight;
  }

  get weight(): number {
    return this.#weight;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    // To the end: the first is the one that was not used for longest.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** What is heavier than all together may be is not kept at all. */
  set(key: string, value: Value, weight: number): void {
    this.delete(key);
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight && this.#entries.size <= this.#maxEntries) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  /** Deletes every entry for which this is true. */
  deleteWhere(isOver: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (isOver(value)) this.delete(key);
  }
}
