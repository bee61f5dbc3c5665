import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pace } from "./pace.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A pace, when it started, and what happens to it. */
function aPace(isAppending = () => false): {
  pace: Pace;
  starts: number[];
  come: (forMs: number, waiting?: number) => void;
} {
  const starts: number[] = [];
  const began = performance.now();
  const start = (): void => {
    starts.push(Math.round(performance.now() - began));
  };
  const pace = new Pace({ lingerMs: 20, standBackMs: 1000, manyWaiting: 100, isAppending }, start);
  /** Entries that come every 5 ms for so long. */
  const come = (forMs: number, waiting = 10): void => {
    for (let ms = 0; ms < forMs; ms += 5) {
      pace.came(waiting);
      pace.startIn(20);
      vi.advanceTimersByTime(5);
    }
  };
  return { pace, starts, come };
}

test("it starts when it is quiet", () => {
  const { pace, starts, come } = aPace();
  come(200);
  expect(starts).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(starts).toEqual([215]);
  expect(pace.goesOn()).toBe(true);
});

test("while entries keep coming it starts every second, and uploads as many as wait", () => {
  const { pace, starts, come } = aPace();
  come(1010);
  expect(starts).toEqual([1000]);
  pace.went(4);
  expect(pace.goesOn()).toBe(true);
  pace.went(6);
  expect(pace.goesOn()).toBe(false);
  come(2000);
  expect(starts).toEqual([1000, 2000, 3000]);
});

test("what it left when it stood back goes when it is quiet", () => {
  const { pace, starts, come } = aPace();
  come(1005);
  pace.went(10);
  expect(pace.goesOn()).toBe(false);
  vi.advanceTimersByTime(100);
  expect(starts).toEqual([1000, 1020]);
  expect(pace.goesOn()).toBe(true);
});

test("it is not quiet while entries are on their way to a slow disk", () => {
  let appending = true;
  const { pace, starts, come } = aPace(() => appending);
  come(5);
  vi.advanceTimersByTime(500);
  expect(starts).toEqual([]);
  vi.advanceTimersByTime(600);
  expect(starts).toEqual([1000]);
  pace.went(10);
  expect(pace.goesOn()).toBe(false);
  appending = false;
  vi.advanceTimersByTime(100);
  expect(starts).toEqual([1000, 1125]);
});

test("it does not stand back when many wait", () => {
  const { pace, starts, come } = aPace();
  come(50, 100);
  expect(starts[0]).toBe(20);
  pace.went(100);
  pace.came(99);
  expect(pace.goesOn()).toBe(false);
  pace.came(100);
  expect(pace.goesOn()).toBe(true);
});

test("it does not stand back while somebody waits for it", () => {
  const { pace, starts, come } = aPace();
  come(50);
  const calm = pace.hurry();
  pace.startIn(0);
  vi.advanceTimersByTime(1);
  expect(starts).toEqual([50]);
  pace.went(10);
  come(50);
  expect([pace.hurried, pace.goesOn()]).toEqual([true, true]);
  pace.went(10);
  calm();
  expect([pace.hurried, pace.goesOn()]).toEqual([false, false]);
});

test("it starts no more once it has ended", () => {
  const { pace, starts, come } = aPace();
  come(50);
  pace.end();
  come(50);
  vi.advanceTimersByTime(10_000);
  expect(starts).toEqual([]);
});
