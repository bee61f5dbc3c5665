import { expect, test, vi } from "vitest";
import { emit, type SessionEvent } from "./events.ts";

const EVENT: SessionEvent = { type: "error", message: "trouble", cause: undefined };

test("a listener gets the event, frozen", () => {
  const listener = vi.fn();
  emit(listener, { ...EVENT });
  expect(listener).toHaveBeenCalledExactlyOnceWith(EVENT);
  expect(Object.isFrozen(listener.mock.calls[0]?.[0])).toBe(true);
});

test("nobody has to listen", () => {
  expect(() => emit(undefined, EVENT)).not.toThrow();
});

// Vitest fails a run with an unhandled rejection, which is what the second row is about.
test.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("listener");
    },
  ],
  ["rejects", async () => await Promise.reject(new Error("listener"))],
])("a listener that %s is left alone with it", async (_name, listener) => {
  expect(() => emit(listener as () => void, EVENT)).not.toThrow();
  await Promise.resolve();
});
