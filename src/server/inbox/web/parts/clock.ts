import { type ReadonlySignal, signal } from "@preact/signals";

/** How far the server's clock is ahead of the browser's, in milliseconds. Deadlines are by the server's. */
let ahead = 0;

/** Less than this is the time that the answer took, and that `Date` has no fractions of a second. */
const UNIMPORTANT_MS = 2000;

/** Sets the clock by the header `Date` of an answer. */
export function readServerTime(date: string | null): void {
  const served = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(served)) return;
  const difference = served - Date.now();
  ahead = Math.abs(difference) < UNIMPORTANT_MS ? 0 : difference;
}

/** The server's time in milliseconds since the epoch, as far as a browser can know it. */
export function serverNow(): number {
  return Date.now() + ahead;
}

let timer: ReturnType<typeof setInterval> | undefined;
const ticking = signal(serverNow(), {
  watched() {
    this.value = serverNow();
    timer = setInterval(() => {
      this.value = serverNow();
    }, 1000);
  },
  unwatched: () => clearInterval(timer),
});

/** {@link serverNow}, once a second while somebody looks at it. */
export const now: ReadonlySignal<number> = ticking;
