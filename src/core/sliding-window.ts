import { type Spent, subtract } from "./budget.ts";

/**
 * What a person has taken, in slots of time: a window that slides. A slot is a sixtieth of the window and counts as a whole
 * until all of it has left the window, so a call counts for its window and at most one slot longer: within no window is
 * there ever more than the limit.
 */
export interface SlidingWindow {
  /** In the order of their ends. */
  readonly slots: readonly WindowSlot[];
  /**
   * The longest window that was counted with, and until when what it needs is kept: tokens of one agent can bring windows
   * of different lengths, and a short one must not make a long one forget.
   */
  readonly keepSeconds: number;
  readonly keepUntil: number;
}

/** What was taken before `end`, in seconds since the epoch, and after the slot before. */
export interface WindowSlot extends Spent {
  readonly end: number;
}

export const EMPTY_WINDOW: SlidingWindow = Object.freeze({ slots: Object.freeze([]), keepSeconds: 0, keepUntil: 0 });

const SLOTS_IN_WINDOW = 60;
/** A window has 62 at most: more are there only after it was made much shorter. */
const MAX_SLOTS = 1000;

/** What counts at a time, in seconds since the epoch. So does what a clock that is ahead has taken. */
export function sumWindow({ slots }: SlidingWindow, windowSeconds: number, now: number): Spent {
  let calls = 0;
  let payoutMicros = 0;
  for (const slot of slots) {
    if (slot.end + windowSeconds <= now) continue;
    calls += slot.calls;
    payoutMicros += slot.payoutMicros;
  }
  return { calls, payoutMicros };
}

/** What is added to a window. */
export interface WindowDebit {
  readonly windowSeconds: number;
  readonly now: number;
  /** When it counts as taken; now, unless it may be taken later. */
  readonly at?: number;
  /** One, unless told otherwise. */
  readonly calls?: number;
  readonly payoutMicros: number;
}

/** Adds to a window, and forgets what none needs any more. @returns the end of its slot too, by which it is taken back */
export function addToWindow(
  window: SlidingWindow,
  { windowSeconds, now, at = now, calls = 1, payoutMicros }: WindowDebit,
): { readonly window: SlidingWindow; readonly slotEnd: number } {
  const isLonger = windowSeconds >= window.keepSeconds || now >= window.keepUntil;
  const keepSeconds = isLonger ? windowSeconds : window.keepSeconds;
  const keepUntil = isLonger ? at + windowSeconds : window.keepUntil;
  const length = Math.ceil(windowSeconds / SLOTS_IN_WINDOW);
  const slotEnd = (Math.floor(at / length) + 1) * length;
  const kept = window.slots.filter(({ end }) => end + keepSeconds > now);
  const known = kept.find(({ end }) => end === slotEnd) ?? { calls: 0, payoutMicros: 0 };
  const slot = { end: slotEnd, calls: known.calls + calls, payoutMicros: known.payoutMicros + payoutMicros };
  const slots = [...kept.filter(({ end }) => end !== slotEnd), slot];
  return { window: { slots: mergeOldest(slots.sort((a, b) => a.end - b.end)), keepSeconds, keepUntil }, slotEnd };
}

/** Takes back one call of a slot, or several. A slot that has left the window was forgotten with all that was taken. */
export function takeFromWindow(
  window: SlidingWindow,
  { slotEnd, calls = 1, payoutMicros }: { slotEnd: number; calls?: number; payoutMicros: number },
): SlidingWindow {
  const slots = window.slots.flatMap((slot) => {
    if (slot.end !== slotEnd) return [slot];
    const rest = subtract(slot, { calls, payoutMicros });
    return rest.calls === 0 && rest.payoutMicros === 0 ? [] : [{ end: slotEnd, ...rest }];
  });
  return { ...window, slots };
}

/** Counts the oldest for longer, and takes none of their calls back any more. */
function mergeOldest(slots: readonly WindowSlot[]): readonly WindowSlot[] {
  const excess = slots.length - MAX_SLOTS;
  const next = slots[excess];
  if (excess <= 0 || !next) return slots;
  const older = slots.slice(0, excess + 1);
  const calls = older.reduce((sum, slot) => sum + slot.calls, 0);
  const payoutMicros = older.reduce((sum, slot) => sum + slot.payoutMicros, 0);
  return [{ end: next.end, calls, payoutMicros }, ...slots.slice(excess + 1)];
}
