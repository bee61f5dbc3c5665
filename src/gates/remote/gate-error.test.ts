import { expect, test } from "vitest";
import { createProblem, type ProblemCode } from "../../core/api/index.ts";
import { IntentlockError, PlanError } from "../../core/index.ts";
import { toGateError } from "./gate-error.ts";
import { ServerError, toServerError } from "./server-error.ts";

test.each<[ProblemCode, string]>([
  ["unknown_user", "ERR_UNKNOWN_USER"],
  ["user_not_allowed", "ERR_UNKNOWN_USER"],
  ["plan_expired", "ERR_PLAN_EXPIRED"],
  ["plan_revoked", "ERR_PLAN_REVOKED"],
  ["plan_rejected", "ERR_PLAN_REJECTED"],
  ["plan_closed", "ERR_UNKNOWN_PLAN"],
  ["not_found", "ERR_UNKNOWN_PLAN"],
  ["lease_held", "ERR_PLAN_HELD"],
  ["outcome_not_expected", "ERR_INVALID_OUTCOME"],
])("a refusal as %s is %s, as it is without a server", (problem, code) => {
  const cause = toServerError(409, createProblem(problem), undefined);
  const error = toGateError(cause);
  expect(error).toMatchObject({ code, message: cause.message, cause });
  expect(error).toBeInstanceOf(IntentlockError);
  expect(error).not.toBeInstanceOf(ServerError);
});

test.each([[[{ path: "steps[0].tool", message: "unknown tool" }]], [[]]])(
  "a plan that the server refuses has its problems: %j",
  (issues) => {
    const cause = toServerError(422, { ...createProblem("invalid_plan"), issues }, undefined);
    const error = toGateError(cause);
    expect(error).toBeInstanceOf(PlanError);
    expect(error).toMatchObject({ issues, cause });
  },
);

test("a plan that is refused without a word has no issues", () => {
  const { issues: _, ...problem } = createProblem("invalid_plan");
  expect(toGateError(toServerError(422, problem, undefined))).toMatchObject({ issues: [] });
});

test.each<[string, unknown]>([
  ["a refusal for another reason", toServerError(429, createProblem("rate_limited"), undefined)],
  ["a refusal without words", toServerError(404, undefined, undefined)],
  ["something else", new TypeError("a bug")],
])("%s stays what it is", (_name, error) => {
  expect(toGateError(error)).toBe(error);
});
