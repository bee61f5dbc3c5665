import type { ServerContext } from "../handler.ts";
import { HOLD_SIGNAL, type Hold } from "../store/index.ts";

/** However quiet it is, the store is looked at this often. */
const LOOK_EVERY_MS = 5000;

export interface WaitOptions {
  readonly waitMs: number;
  /** Ends the wait early: whoever asked is gone, or the server stops. */
  readonly signal: AbortSignal;
}

/** Waits until a hold is decided, has run out of time or was taken back, or the wait is over. @returns it as it is then */
export async function waitForHold(context: ServerContext, hold: Hold, { waitMs, signal }: WaitOptions): Promise<Hold> {
  const { store, clock } = context;
  const deadline = performance.now() + waitMs;
  let wake: () => void = () => {};
  let isSignalled = false;
  // Listened to before it is looked at: nothing is missed in between.
  const stop = store.signals.listen(HOLD_SIGNAL, (payload) => {
    if (payload !== undefined && payload !== hold.id) return;
    isSignalled = true;
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      isSignalled = false;
      const now = await look(context, hold.id);
      const leftMs = deadline - performance.now();
      if (now?.status !== "pending" || clock() >= now.expiresAt) return now ?? hold;
      if (leftMs <= 0 || signal.aborted) return now;
      await new Promise<void>((resolve) => {
        const pauseMs = Math.max(1, Math.min(leftMs, now.expiresAt - clock(), LOOK_EVERY_MS));
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (isSignalled || signal.aborted) wake();
      });
    }
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
  }
}

/** A hold as it is now; one whose time is over is ended first. */
async function look({ store, clock }: ServerContext, holdId: string): Promise<Hold | undefined> {
  const hold = await store.holds.get(holdId);
  if (hold?.status !== "pending" || clock() < hold.expiresAt) return hold;
  await store.holds.expire(clock());
  return await store.holds.get(holdId);
}
