import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Backoff } from "./backoff.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  vi.advanceTimersByTime(12_345);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** With as much jitter as there is, from 0 to 1: half of the delay is certain. */
function aBackoff(jitter = 1): Backoff {
  vi.spyOn(Math, "random").mockReturnValue(jitter);
  return new Backoff({ first: 100, most: 10_000 });
}

/** How long a plan waits after so many failures in a row. */
function failTimes(backoff: Backoff, times: number): number[] {
  return Array.from({ length: times }, () => backoff.failed("plan-1"));
}

describe("a plan that fails", () => {
  test("waits twice as long each time, up to the most", () => {
    expect(failTimes(aBackoff(), 9)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  });

  test.each([
    [0, 50],
    [0.5, 75],
    [1, 100],
  ])("waits for half of that and some of the rest: %d", (jitter, wait) => {
    expect(aBackoff(jitter).failed("plan-1")).toBe(wait);
  });

  test("waits at least as long as the server says, but no longer than the most", () => {
    const backoff = aBackoff();
    expect(backoff.failed("plan-1", 5000)).toBe(5000);
    expect(backoff.failed("plan-2", 50)).toBe(100);
    expect(backoff.failed("plan-3", 1e9)).toBe(10_000);
  });

  test("waits no more once it has succeeded, and begins anew", () => {
    const backoff = aBackoff();
    failTimes(backoff, 5);
    backoff.succeeded("plan-1");
    expect([backoff.pauseMs(false), backoff.waitingPlans(false), backoff.nextMs(false)]).toEqual([0, [], undefined]);
    expect(backoff.failed("plan-1")).toBe(100);
  });

  test("is nobody's concern once it is forgotten, and what the others wait for stays", () => {
    const backoff = aBackoff();
    failTimes(backoff, 3);
    backoff.forget("plan-1");
    expect(backoff.waitingPlans(false)).toEqual([]);
    expect(backoff.pauseMs(false)).toBe(400);
    expect(backoff.failed("plan-1")).toBe(100);
  });
});

test("while nothing succeeds, nothing is sent for as long as there were failures of whatever plan", () => {
  const backoff = aBackoff();
  for (const planId of ["plan-1", "plan-2", "plan-3"]) backoff.failed(planId);
  expect(backoff.pauseMs(false)).toBe(400);
  vi.advanceTimersByTime(150);
  expect(backoff.pauseMs(false)).toBe(250);
  expect(backoff.waitingPlans(false)).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(backoff.pauseMs(false)).toBe(0);
});

test("the next plan is the one whose wait ends first", () => {
  const backoff = aBackoff();
  backoff.failed("plan-1");
  backoff.failed("plan-2", 300);
  expect([backoff.waitingPlans(false), backoff.nextMs(false)]).toEqual([["plan-1", "plan-2"], 100]);
  vi.advanceTimersByTime(100);
  expect([backoff.waitingPlans(false), backoff.nextMs(false)]).toEqual([["plan-2"], 200]);
  vi.advanceTimersByTime(200);
  expect([backoff.waitingPlans(false), backoff.nextMs(false)]).toEqual([[], undefined]);
});

describe("in a hurry", () => {
  test("no wait is longer than a second from the failure on", () => {
    const backoff = aBackoff();
    failTimes(backoff, 7);
    expect([backoff.pauseMs(true), backoff.nextMs(true), backoff.pauseMs(false)]).toEqual([1000, 1000, 6400]);
    vi.advanceTimersByTime(1000);
    expect([backoff.pauseMs(true), backoff.waitingPlans(true), backoff.nextMs(true)]).toEqual([0, [], undefined]);
    expect(backoff.waitingPlans(false)).toEqual(["plan-1"]);
  });

  test("a wait that is shorter is not made longer", () => {
    const backoff = aBackoff();
    backoff.failed("plan-1");
    expect(backoff.nextMs(true)).toBe(100);
  });

  test("all waits can be ended, and the next failure waits longer all the same", () => {
    const backoff = aBackoff();
    failTimes(backoff, 3);
    backoff.hurry();
    expect([backoff.pauseMs(false), backoff.waitingPlans(false)]).toEqual([0, []]);
    expect(backoff.failed("plan-1")).toBe(800);
    expect(backoff.pauseMs(false)).toBe(800);
  });
});
