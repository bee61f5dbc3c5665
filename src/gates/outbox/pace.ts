export interface PaceOptions {
  /** How long to wait for more entries. */
  readonly lingerMs: number;
  /** How long to wait at most while entries keep coming. */
  readonly standBackMs: number;
  /** Once so many wait, nothing is waited for. */
  readonly manyWaiting: number;
  /** Whether entries are on their way to the disk: on a slow one it is never long until the next come. */
  readonly isAppending: () => boolean;
}

/**
 * When an uploader works. Decisions come first: as long as entries keep coming it stands back, uploads in one go as many
 * as wait, and stands back again. When it is quiet, when somebody waits for a flush or when many wait, it goes on.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #start: () => void;
  #timer: NodeJS.Timeout | undefined;
  #startsAt = Number.POSITIVE_INFINITY;
  /** When the last entries came, and the first of those that nobody has begun with. */
  #lastAt = Number.NEGATIVE_INFINITY;
  #firstAt: number | undefined;
  #waiting = 0;
  /** As many are uploaded before it stands back again. */
  #left = 0;
  #hurries = 0;

  constructor(options: PaceOptions, start: () => void) {
    this.#options = options;
    this.#start = start;
  }

  /** Somebody waits for everything to be uploaded. @returns what ends that */
  hurry(): () => void {
    this.#hurries++;
    return () => {
      this.#hurries--;
    };
  }

  get hurried(): boolean {
    return this.#hurries > 0;
  }

  /** Entries came, and so many wait now. Somebody else says when to start. */
  came(waiting: number): void {
    this.#lastAt = performance.now();
    this.#firstAt ??= this.#lastAt;
    this.#waiting = waiting;
  }

  went(entries: number): void {
    this.#left -= entries;
    this.#waiting -= entries;
  }

  /** Starts after so long, or earlier if it was to start earlier; and if entries keep coming then, later. */
  startIn(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#startsAt) return;
    clearTimeout(this.#timer);
    this.#startsAt = at;
    this.#timer = setTimeout(() => this.#startNow(), ms).unref();
  }

  /** Whether to upload more. If not, it starts again by itself. */
  goesOn(): boolean {
    if (this.#left > 0 || this.#standBackMs() === 0) return true;
    this.#firstAt ??= performance.now();
    this.startIn(this.#standBackMs());
    return false;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#startsAt = Number.NEGATIVE_INFINITY;
  }

  #startNow(): void {
    this.#startsAt = Number.POSITIVE_INFINITY;
    const firstAt = this.#firstAt ?? Number.NEGATIVE_INFINITY;
    const ms = Math.min(this.#standBackMs(), firstAt + this.#options.standBackMs - performance.now());
    if (ms > 0) {
      this.startIn(ms);
      return;
    }
    this.#firstAt = undefined;
    this.#left = this.#waiting;
    this.#start();
  }

  /** How long until it is quiet, if that matters. */
  #standBackMs(): number {
    const { lingerMs, manyWaiting, isAppending } = this.#options;
    if (this.hurried || this.#waiting >= manyWaiting) return 0;
    if (lingerMs > 0 && isAppending()) return lingerMs;
    return Math.max(0, this.#lastAt + lingerMs - performance.now());
  }
}
