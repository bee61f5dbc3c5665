import { expect, test } from "vitest";
import { watchPresence } from "./presence.ts";

function aPage() {
  const page = new EventTarget();
  let now = 1_000_000;
  const isPresent = watchPresence(page, () => now);
  const wait = (milliseconds: number): void => {
    now += milliseconds;
  };
  return { page, isPresent, wait };
}

test("who opens a page is there, and after a minute without a sign nobody is", () => {
  const { isPresent, wait } = aPage();
  expect(isPresent()).toBe(true);
  wait(59_999);
  expect(isPresent()).toBe(true);
  wait(1);
  expect(isPresent()).toBe(false);
});

test.each(["pointerdown", "click", "keydown", "input", "wheel"])("%s is a sign of a person", (sign) => {
  const { page, isPresent, wait } = aPage();
  wait(60_000);
  page.dispatchEvent(new Event(sign));
  expect(isPresent()).toBe(true);
});

test.each(["focus", "visibilitychange", "message", "pointermove"])("%s is none", (event) => {
  const { page, isPresent, wait } = aPage();
  wait(60_000);
  page.dispatchEvent(new Event(event));
  expect(isPresent()).toBe(false);
});
