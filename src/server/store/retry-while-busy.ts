import { setTimeout as wait } from "node:timers/promises";

/** How long another process may hold the write lock of the file before an operation gives up. */
const MAX_BUSY_MS = 10_000;
const MIN_PAUSE_MS = 2;
const MAX_PAUSE_MS = 50;

/** SQLITE_BUSY and its extended codes have it in the lowest byte. */
const SQLITE_BUSY = 5;

/**
 * Does something with a SQLite file that another process may be writing to, again until it is free. The pauses leave the
 * event loop alone, which SQLite's own waiting would stop; they are random, so that two do not meet for ever.
 */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + MAX_BUSY_MS;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await wait(pauseMs * (0.5 + Math.random() / 2));
  }
}

function isBusy(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return false;
  return typeof error.errcode === "number" && (error.errcode & 0xff) === SQLITE_BUSY;
}
