import { describe, expect, test } from "vitest";
import type { Approvers } from "../../../../core/approvers.ts";
import type { PlanCondition } from "../../../../core/condition.ts";
import { describeApprovers } from "./describe-approvers.ts";
import { type Clause, describeCondition } from "./describe-condition.ts";
import { explainRefusal, isOutdated } from "./explain-refusal.ts";
import { readNews } from "./live-holds.ts";

function print(clauses: readonly Clause[]): string {
  const one = ({ words, value, sources = [], inner = [] }: Clause): string =>
    [
      words,
      ...(value === undefined ? [] : [JSON.stringify(value)]),
      ...(sources.length === 0
        ? []
        : [sources.map((from) => (typeof from === "string" ? from : JSON.stringify(from))).join(", ")]),
      ...inner.map((its) => `(${print(its)})`),
    ].join(" ");
  return clauses.map(one).join(", ");
}

describe("in words", () => {
  test.each<[Approvers, string]>([
    [{ roles: ["approver"] }, "approvers"],
    [{ roles: ["admin", "approver"], emails: ["carol@acme.dev"] }, "admins, approvers, or carol@acme.dev"],
    [{ self: true }, "the user"],
  ])("approvers %j", (approvers, words) => {
    expect(describeApprovers(approvers)).toBe(words);
  });

  test.each<[PlanCondition, string]>([
    [{ eq: "4711" }, 'is "4711"'],
    [{ eq: null }, "is null"],
    [{ gte: 0, lte: 10 }, "is at least 0, is at most 10"],
    [{ in: [1, 2], glob: "*@acme.dev", regex: "a+" }, 'is one of [1,2], is like "*@acme.dev", matches "a+"'],
    [{ optional: true, eq: "a" }, 'may be missing, is "a"'],
    [{ absent: true }, "has to be missing"],
    [{ maxItems: 1 }, "has at most one item"],
    [
      { each: { glob: "*@acme.dev" }, maxItems: 3 },
      'has at most 3 items, has items, each of which (is like "*@acme.dev")',
    ],
    [{ anyOf: [{ eq: 1 }, { gte: 5, lte: 9 }] }, "is one of these: (is 1) (is at least 5, is at most 9)"],
    [{ from: "task" }, "was copied from task"],
    [
      { from: ["task", "read", { step: "look", path: "/email" }] },
      'was copied from task, read, {"step":"look","path":"/email"}',
    ],
  ])("a condition %j", (condition, words) => {
    expect(print(describeCondition(condition))).toBe(words);
  });

  test.each([
    ["self_approval", "acts for you", false],
    ["key_owner_approval", "key of yours", false],
    ["not_an_approver", "does not name you", true],
    ["hold_not_pending", "in the meantime", true],
    ["hold_expired", "never an approval", true],
    ["unreachable", "nobody knows", true],
  ] as const)("a refusal: %s", (code, words, outdated) => {
    expect(explainRefusal({ code })).toContain(words);
    expect(isOutdated({ code })).toBe(outdated);
  });

  test("a refusal that the server explains best", () => {
    expect(explainRefusal({ code: "internal" })).toBeUndefined();
  });
});

describe("news of a hold", () => {
  test.each([
    ['{"holdId":"h","status":"approved"}', { holdId: "h", status: "approved" }],
    ["{}", undefined],
    ["null", undefined],
    ['{"holdId":1,"status":"approved"}', undefined],
    ["no JSON", undefined],
    ["", undefined],
  ])("%s", (data, news) => {
    expect(readNews(data)).toEqual(news);
  });
});
