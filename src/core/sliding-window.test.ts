import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW } from "../../test/builders.ts";
import { addToWindow, EMPTY_WINDOW, type SlidingWindow, sumWindow, takeFromWindow } from "./sliding-window.ts";

const MINUTE = 60;
const DAY = 86_400;

function add(window: SlidingWindow, now: number, windowSeconds = MINUTE, payoutMicros = 1): SlidingWindow {
  return addToWindow(window, { now, windowSeconds, payoutMicros }).window;
}

describe("a call", () => {
  test.each([
    [1, 0, 1],
    [MINUTE, 0, 61],
    [3600, 0, 3660],
    [3600, 59, 3601],
    [DAY, 0, DAY + 1440],
    [DAY + 1, 0, DAY + 1 + 1441],
  ])("counts for a window of %d s, and at most a slot longer", (windowSeconds, offset, most) => {
    const length = Math.ceil(windowSeconds / 60);
    const start = Math.ceil(NOW / length) * length + offset;
    const window = add(EMPTY_WINDOW, start, windowSeconds);
    const counts = (later: number) => sumWindow(window, windowSeconds, start + later).calls;
    const longest = offset === 0 ? windowSeconds + length : most;
    expect([0, windowSeconds, longest - 1, longest].map(counts)).toEqual([1, 1, 1, 0]);
  });

  test("is in the ledger of a clock that is behind, and the other way round", () => {
    const window = add(add(EMPTY_WINDOW, NOW), NOW - 30);
    expect(window.slots.map(({ end }) => end)).toEqual([NOW - 29, NOW + 1]);
    expect(sumWindow(window, MINUTE, NOW - 1000).calls).toBe(2);
  });
});

test("nothing was taken of an empty window", () => {
  expect(sumWindow(EMPTY_WINDOW, DAY, NOW)).toEqual({ calls: 0, payoutMicros: 0 });
});

test.each([
  [
    { calls: 1, payoutMicros: 3 },
    { calls: 1, payoutMicros: 2 },
  ],
  [
    { calls: 1, payoutMicros: 5 },
    { calls: 1, payoutMicros: 0 },
  ],
  [
    { calls: 2, payoutMicros: 3 },
    { calls: 0, payoutMicros: 2 },
  ],
])("of two calls %j are taken back, and the rest counts", (back, rest) => {
  const debit = { now: NOW, windowSeconds: MINUTE, calls: 2, payoutMicros: 5 };
  const { window, slotEnd } = addToWindow(EMPTY_WINDOW, debit);
  expect(sumWindow(takeFromWindow(window, { slotEnd, ...back }), MINUTE, NOW)).toEqual(rest);
});

describe("windows of two lengths on one ledger", () => {
  test("a long one that comes second is kept as long as it needs", () => {
    const window = add(add(add(EMPTY_WINDOW, NOW), NOW + 10, DAY), NOW + 7200);
    expect(sumWindow(window, DAY, NOW + 7200).calls).toBe(3);
  });

  test("each call with the long one makes it last longer", () => {
    const window = add(add(add(EMPTY_WINDOW, NOW, DAY), NOW + 80_000, DAY), NOW + 90_000);
    expect(sumWindow(window, DAY, NOW + 90_000).calls).toBe(2);
  });

  test("the short one does not make the long one forget, while that may come again", () => {
    let window = add(EMPTY_WINDOW, NOW, DAY);
    window = add(window, NOW + 7200, MINUTE);
    expect(sumWindow(window, DAY, NOW + 7200).calls).toBe(2);
    expect(sumWindow(window, MINUTE, NOW + 7200).calls).toBe(1);
    // A day after the last call with the long one.
    expect(add(window, NOW + DAY + 1500, MINUTE).slots).toHaveLength(1);
  });

  test("many short slots become fewer, and none of their calls is lost", () => {
    let window = add(EMPTY_WINDOW, NOW, DAY);
    for (let second = 1; second < 3000; second++) window = add(window, NOW + second, MINUTE);
    expect(window.slots).toHaveLength(1000);
    expect(sumWindow(window, DAY, NOW + 3000)).toEqual({ calls: 3000, payoutMicros: 3000 });
    expect(sumWindow(window, MINUTE, NOW + 3000).calls).toBe(60);
    // What is no longer known is not given back.
    expect(takeFromWindow(window, { slotEnd: NOW + 2, payoutMicros: 1 })).toEqual(window);
  });
});

test("taken back twice, or more than was taken: an error, and nothing changes", () => {
  const { window, slotEnd } = addToWindow(EMPTY_WINDOW, { now: NOW, windowSeconds: MINUTE, payoutMicros: 5 });
  expect(() => takeFromWindow(window, { slotEnd, payoutMicros: 6 })).toThrow(RangeError);
  const none = takeFromWindow(window, { slotEnd, payoutMicros: 5 });
  expect(none.slots).toEqual([]);
  expect(takeFromWindow(none, { slotEnd, payoutMicros: 5 })).toEqual(none);
});

test("in any history no window has more calls than the sum says, and the sum is at most that of a slot longer", () => {
  const step = fc.record({ after: fc.nat(40), payout: fc.nat(9), refund: fc.boolean() });
  fc.assert(
    fc.property(fc.constantFrom(1, 7, MINUTE, 61, 600), fc.array(step, { maxLength: 60 }), (windowSeconds, steps) => {
      let window: SlidingWindow = EMPTY_WINDOW;
      let now = NOW;
      const calls: { at: number; payoutMicros: number }[] = [];
      const sumOf = (from: number): number =>
        calls.reduce((sum, { at, payoutMicros }) => (at > from ? sum + payoutMicros : sum), 0);
      for (const { after, payout, refund } of steps) {
        now += after;
        const added = addToWindow(window, { now, windowSeconds, payoutMicros: payout });
        window = added.window;
        if (refund) window = takeFromWindow(window, { slotEnd: added.slotEnd, payoutMicros: payout });
        else calls.push({ at: now, payoutMicros: payout });
        const { payoutMicros } = sumWindow(window, windowSeconds, now);
        expect(payoutMicros).toBeGreaterThanOrEqual(sumOf(now - windowSeconds));
        expect(payoutMicros).toBeLessThanOrEqual(sumOf(now - windowSeconds - Math.ceil(windowSeconds / 60)));
        expect(window.slots.length).toBeLessThanOrEqual(62);
      }
    }),
    { numRuns: 1000 },
  );
});
