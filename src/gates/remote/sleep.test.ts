import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sleep } from "./sleep.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("ends after its time, and leaves nothing behind", async () => {
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, "removeEventListener");
  let isOver = false;
  const sleeping = sleep(1000, signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
  expect(remove).toHaveBeenCalledWith("abort", expect.any(Function));
  await sleeping;
});

test("ends without a signal, too", async () => {
  const sleeping = sleep(1000);
  await vi.runAllTimersAsync();
  expect(await sleeping).toBeUndefined();
});

test("ends with the signal's reason, at once and without a timer", async () => {
  const controller = new AbortController();
  const refused = expect(sleep(1000, controller.signal)).rejects.toThrow("enough");
  controller.abort(new Error("enough"));
  await refused;
  expect(vi.getTimerCount()).toBe(0);
});

test("does not begin if it is aborted already", async () => {
  await expect(sleep(1000, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
  expect(vi.getTimerCount()).toBe(0);
});
