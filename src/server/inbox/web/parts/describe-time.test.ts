import { describe, expect, test } from "vitest";
import { describeMoment, describeTimeLeft, printMoment } from "./describe-time.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

describe("time left", () => {
  test.each([
    [-1, "Time is up", "over"],
    [0, "Time is up", "over"],
    [1, "0:01", "urgent"],
    [59 * SECOND, "0:59", "urgent"],
    [59 * SECOND + 1, "1:00", "urgent"],
    [MINUTE, "1:00", "soon"],
    [5 * MINUTE - 1, "5:00", "soon"],
    [5 * MINUTE, "5:00", "calm"],
    [59 * MINUTE + 59 * SECOND, "59:59", "calm"],
    [HOUR, "1 h 00 min", "calm"],
    [2 * HOUR + 5 * MINUTE + 59 * SECOND, "2 h 05 min", "calm"],
    [DAY, "1 d 0 h", "calm"],
    [3 * DAY + 4 * HOUR, "3 d 4 h", "calm"],
  ])("of %d ms is %s, %s", (milliseconds, words, urgency) => {
    expect(describeTimeLeft(milliseconds)).toEqual({ words, urgency });
  });
});

describe("a moment", () => {
  test.each([
    [0, "just now"],
    [-9 * SECOND, "just now"],
    [-30 * SECOND, "30 sec. ago"],
    [-3 * MINUTE, "3 min. ago"],
    [-5 * HOUR, "5 hr. ago"],
    [-DAY, "yesterday"],
    [-40 * DAY, "40 days ago"],
    [2 * HOUR, "in 2 hr."],
  ])("%d ms from now is %s", (difference, words) => {
    const now = 1_800_000_000_000;
    expect(describeMoment(now + difference, now)).toBe(words);
  });

  test("is exact to the second, in two digits each", () => {
    expect(printMoment(new Date(2027, 0, 5, 8, 3, 9).getTime())).toBe("2027-01-05 08:03:09");
  });
});
