import fc from "fast-check";
import { expect, test } from "vitest";
import { toMicros } from "./to-micros.ts";

const DOLLARS = 1_000_000;

test.each<[unknown, number, number | undefined]>([
  [1.1, DOLLARS, 1_100_000],
  [0.29, DOLLARS, 290_000],
  [1.005, DOLLARS, 1_005_000],
  [8.2, DOLLARS, 8_200_000],
  [1e-6, DOLLARS, 1],
  [1.5e-5, DOLLARS, 15],
  [0, DOLLARS, 0],
  [-0, DOLLARS, 0],
  [0.5, 10_000, 5000],
  [0.5, 2, 1],
  [1 / 3, 3, undefined],
  [0.0000001, DOLLARS, undefined],
  [1.0000005, DOLLARS, undefined],
  [0.1 + 0.2, DOLLARS, undefined],
  [Number.MIN_VALUE, Number.MAX_SAFE_INTEGER, undefined],
  [9_007_199_254.74099, DOLLARS, Number.MAX_SAFE_INTEGER - 1],
  [9_007_199_254.740992, DOLLARS, undefined],
  [Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER],
  [2 ** 53, 1, undefined],
  [1e308, DOLLARS, undefined],
  [Number.POSITIVE_INFINITY, 1, undefined],
  [Number.NaN, 1, undefined],
  [-1, 1, undefined],
  [-Number.MIN_VALUE, DOLLARS, undefined],
  ["20", DOLLARS, undefined],
  [20n, DOLLARS, undefined],
  [[20], DOLLARS, undefined],
  [Object(20), DOLLARS, undefined],
  [undefined, DOLLARS, undefined],
  [null, DOLLARS, undefined],
])("%s in units of %d", (units, microsPerUnit, expected) => {
  expect(toMicros(units, microsPerUnit)).toBe(expected);
});

test("every number of micros that is written as a decimal is read as itself", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), fc.nat(6), (micros, places) => {
      const text = `${micros}e-${places}`;
      expect(toMicros(Number(text), 10 ** places)).toBe(micros);
    }),
  );
});
