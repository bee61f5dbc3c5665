import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { decide } from "./reference/decide.ts";
import { decideReally } from "./reference/real-verdict.ts";
import { aCase } from "./reference/some-worlds.ts";

const OPERATORS = [
  ...["eq", "in", "notIn", "glob", "notGlob", "regex", "lte", "gte"],
  ...["each", "maxItems", "anyOf", "optional", "absent", "from"],
];
const counts = new Map<string, number>();

function count(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** The share of what was counted in a kind of which there is more. */
function shareOf(what: string, all: readonly string[]): number {
  const sum = all.reduce((total, each) => total + (counts.get(each) ?? 0), 0);
  return (counts.get(what) ?? 0) / sum;
}

/**
 * `check()` against a decider that was written from the documentation alone: no index, no memo, nothing compiled. Who
 * changes what is decided, changes the pages and `test/reference/` too.
 */
describe("check() decides as the documentation says", () => {
  beforeAll(() => {
    fc.assert(
      fc.property(aCase, ({ world, calls }) => {
        const really = decideReally(world);
        const watched = { ...world, onOperator: (name: string, holds: boolean) => count(`${name} ${holds}`) };
        for (const call of calls) {
          const expected = decide(watched, call);
          expect(really(call)).toEqual(expected);
          const { verdict, reason, unpinned } = expected;
          count(reason.startsWith("rule-") ? verdict : reason);
          if (unpinned) count("unpinned");
        }
      }),
      { numRuns: 1500 },
    );
  });

  const reasons = ["allow", "hold", "block", "not_in_plan", "call_limit", "no_matching_rule"];
  test.each(reasons)("%s comes up often enough", (reason) => {
    expect(shareOf(reason, reasons)).toBeGreaterThan(0.01);
  });

  test("rules that ask what is open decide often enough", () => {
    expect(shareOf("unpinned", reasons)).toBeGreaterThan(0.01);
  });

  test.each(OPERATORS)("%s holds often enough, and fails", (operator) => {
    const [holds, fails] = [`${operator} true`, `${operator} false`];
    expect(Math.min(shareOf(holds, [holds, fails]), shareOf(fails, [holds, fails]))).toBeGreaterThan(0.02);
    expect(counts.get(holds)).toBeGreaterThan(50);
  });
});
