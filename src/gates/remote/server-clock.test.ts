import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { GateTrouble } from "../gate.ts";
import { ServerClock } from "./server-clock.ts";

const LOCAL = 1_800_000_000_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** A clock that has learnt from a server that is so far ahead, in a request that took so long; once for each. */
async function learnt(...answers: readonly (readonly [aheadMs: number, tookMs: number])[]) {
  const clock = new ServerClock(() => LOCAL);
  const told: GateTrouble[] = [];
  for (const [aheadMs, tookMs] of answers) {
    const ask = async () => {
      vi.advanceTimersByTime(tookMs);
      return { serverTime: LOCAL + aheadMs };
    };
    expect(await clock.learn(ask, (trouble) => told.push(trouble))).toEqual({ serverTime: LOCAL + aheadMs });
  }
  return { clock, told };
}

test("without an answer it is this machine's time", () => {
  const clock = new ServerClock(() => LOCAL);
  expect([clock.now(), clock.offsetMs]).toEqual([LOCAL, 0]);
});

describe("what it learns", () => {
  test.each([
    ["a server that answers at once", 0, 0, 0],
    ["a server within the duration of the request", 80, 100, 0],
    ["at its end", 100, 100, 0],
    ["a server that is ahead", 1100, 100, 1050],
    ["a server that is a little ahead", 101, 100, 51],
    ["a server that is behind", -1, 100, -51],
    ["a server that is far behind", -7_200_000, 0, -7_200_000],
  ])("%s: %i ms in a request of %i ms", async (_name, aheadMs, tookMs, offsetMs) => {
    const { clock } = await learnt([aheadMs, tookMs]);
    expect([clock.offsetMs, clock.now()]).toEqual([offsetMs, LOCAL + offsetMs]);
  });

  test("is what it was told last", async () => {
    const { clock } = await learnt([50_000, 40], [0, 10], [1000, 100]);
    expect(clock.offsetMs).toBe(950);
  });

  test("is nothing from a request that failed", async () => {
    const clock = new ServerClock(() => LOCAL);
    await expect(clock.learn(() => Promise.reject(new Error("down")), undefined)).rejects.toThrow("down");
    expect(clock.offsetMs).toBe(0);
  });
});

describe("a clock that is off", () => {
  test.each([
    [30_000, "30 s behind the server's"],
    [-30_000, "30 s ahead of the server's"],
    [300_400, "300 s behind the server's"],
  ])("by %i ms is told of", async (aheadMs, words) => {
    const { told } = await learnt([aheadMs, 0]);
    expect(told).toEqual([{ code: "clock_skew", message: expect.stringContaining(`clock is ${words}`) }]);
  });

  test.each([29_999, -29_999])("by %i ms is forgiven", async (aheadMs) => {
    expect((await learnt([aheadMs, 0])).told).toEqual([]);
  });

  test("is told of once, and again when it is off by much more or the other way", async () => {
    expect((await learnt([60_000, 0], [61_000, 0], [89_999, 0])).told).toHaveLength(1);
    expect((await learnt([60_000, 0], [90_000, 0])).told).toHaveLength(2);
    expect((await learnt([60_000, 0], [-60_000, 0])).told).toHaveLength(2);
  });

  test("is no trouble once it was set", async () => {
    expect((await learnt([60_000, 0], [0, 0])).told).toHaveLength(1);
  });
});
