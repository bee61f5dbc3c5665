import { describe, expect, test } from "vitest";
import type { Approvers } from "../../../../core/approvers.ts";
import type { PlanCondition } from "../../../../core/condition.ts";
import { describeApprovers } from "./describe-approvers.ts";
import { describeCondition } from "./describe-condition.ts";
import { explainRefusal, isOutdated } from "./explain-refusal.ts";
import { readNews } from "./live-holds.ts";

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
  ])("a condition %j", (condition, words) => {
    const clauses = describeCondition(condition).map((clause) => `${clause.words} ${JSON.stringify(clause.value)}`);
    expect(clauses.join(", ")).toBe(words);
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
