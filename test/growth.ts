import { expect } from "vitest";

/**
 * That `run` takes time in proportion to the text that `textOf` makes of a size. It cannot flake and goes red on quadratic
 * work: the text is sixteen times as long, which is 256 times the work then, and unreachable if it were exponential.
 */
export function expectProportional(textOf: (size: number) => string, run: (text: string) => unknown): void {
  const [shortText, longText] = [textOf(1_000), textOf(16_000)];
  const small = bestMs(() => run(shortText));
  const large = bestMs(() => run(longText));
  expect(large).toBeLessThan(100 * Math.max(small, 0.2));
}

/** The shortest of nine runs, in milliseconds. */
export function bestMs(run: () => void): number {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return Math.min(...times);
}
