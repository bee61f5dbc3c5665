import { expect, test } from "vitest";
import { planConditionSchema, policyConditionSchema } from "../../core/condition.ts";
import { type AnyCondition, describeCondition } from "./describe-condition.ts";

test.each<[AnyCondition, string]>([
  [{ eq: "Dora" }, 'exactly "Dora"'],
  [{ eq: null }, "exactly null"],
  [{ in: ["a", 1] }, 'one of "a", 1'],
  [{ in: [] }, "one of nothing"],
  [{ gte: 0, lte: 50 }, "at least 0, and at most 50"],
  [{ glob: "a/*" }, 'like "a/*"'],
  [{ regex: "a|b" }, 'what matches "a|b"'],
  [{ from: "task" }, "copied from the task"],
  [{ from: ["task", "bill"], lte: 5 }, "at most 5, and copied from the task or from what step bill returned"],
  [{ from: { step: "c", path: "/items/*/email" } }, 'copied from "/items/*/email" in what step c returned'],
  [{ each: { eq: 1 }, maxItems: 2 }, "a list of at most 2, and a list, each element of it exactly 1"],
  [{ each: { gte: 1, lte: 2 } }, "a list, each element of it (at least 1, and at most 2)"],
  [{ each: { optional: true } }, "a list, each element of it anything"],
  [{ anyOf: [{ eq: 1 }, { from: "task", lte: 9 }] }, "exactly 1, or (at most 9, and copied from the task)"],
  [{ absent: true }, "left out"],
  [{ optional: true }, ""],
  [{ optional: true, lte: 1 }, "at most 1"],
  [{ notIn: [1] }, "none of 1 (or missing)"],
  [{ notGlob: "*" }, 'not like "*" (or missing)'],
])("%j is %s", (condition, words) => {
  expect(planConditionSchema.safeParse(condition).success || policyConditionSchema.safeParse(condition).success).toBe(
    true,
  );
  expect(describeCondition(condition)).toBe(words);
});

test("a step is called what one is told", () => {
  expect(describeCondition({ from: "bill" }, (id) => `read_file (${id})`)).toBe(
    "copied from what read_file (bill) returned",
  );
});
