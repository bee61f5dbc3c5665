import { describe, expect, test } from "vitest";
import { describePart, describeTick, stackParts, sumParts } from "./stack.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** In whatever time zone the test runs. */
const AT = new Date(2026, 10, 30, 14).getTime();
const PARTS = [
  { at: 0, allow: 3, hold: 1, block: 2 },
  { at: 60_000, allow: 0, hold: 0, block: 4 },
  { at: 120_000, allow: 0, hold: 0, block: 0 },
];

describe("bars on each other", () => {
  test("begin where those below end, and are not there for nothing", () => {
    expect(stackParts(PARTS)).toEqual({
      at: [0, 60, 120],
      bottoms: [
        [0, 0, 0],
        [3, 0, 0],
        [4, 0, 0],
      ],
      tops: [
        [3, null, null],
        [4, null, null],
        [6, 4, null],
      ],
    });
  });

  test("come to what there is", () => {
    expect(sumParts(PARTS)).toEqual({ allow: 3, hold: 1, block: 6 });
    expect(sumParts([])).toEqual({ allow: 0, hold: 0, block: 0 });
  });
});

describe("times of a plot", () => {
  test.each<[number, string]>([
    [HOUR, "Mon, Nov 30, 14:00–15:00"],
    [DAY, "Mon, Nov 30"],
    [7 * DAY, "Mon, Nov 30 – Mon, Dec 7"],
  ])("a part of %i ms", (length, words) => {
    expect(describePart(AT, length)).toBe(words);
  });

  test.each<[string, number, number, string]>([
    ["an hour", AT, HOUR, "14:00"],
    ["midnight", AT - 14 * HOUR, HOUR, "Nov 30"],
    ["days", AT, DAY, "Nov 30"],
  ])("a place on the axis: %s", (_name, at, step, words) => {
    expect(describeTick(at, step)).toBe(words);
  });
});
