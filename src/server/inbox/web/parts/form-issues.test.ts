import { expect, test } from "vitest";
import { ApiError } from "../api.ts";
import { findIssue, refuse, withoutIssuesAt } from "./form-issues.ts";

const ISSUES = [
  { path: "settings.maxHolds", message: "expected at most 1000" },
  { path: "settings.budget.session.calls", message: "expected a number" },
  { path: "actsFor[2]", message: "expected an e-mail address" },
];

test.each<[string, string | undefined]>([
  ["settings.maxHolds", "expected at most 1000"],
  ["settings.budget", "settings.budget.session.calls: expected a number"],
  ["actsFor", "actsFor[2]: expected an e-mail address"],
  ["settings.max", undefined],
  ["name", undefined],
])("at %s: %s", (path, found) => {
  expect(findIssue(ISSUES, path)).toBe(found);
});

test("what stands at a field is not said twice", () => {
  const error = refuse(ISSUES);
  expect(withoutIssuesAt(error, ["settings", "actsFor"])).toBeUndefined();
  expect(withoutIssuesAt(error, ["settings"])?.issues).toEqual(ISSUES.slice(2));
  expect(withoutIssuesAt(error, ["name"])).toBe(error);
});

test("an error that is about no field is said whole", () => {
  const error = new ApiError({ code: "last_admin", title: "Somebody has to remain an administrator" });
  expect(withoutIssuesAt(error, ["roles"])).toBe(error);
});
