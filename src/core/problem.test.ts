import { describe, expect, test } from "vitest";
import { createProblem, PROBLEM_MEDIA_TYPE, PROBLEMS, type ProblemCode, problemSchema } from "./problem.ts";

/** The contract: a code keeps its status. */
const STATUS: Readonly<Record<ProblemCode, number>> = {
  invalid_request: 400,
  api_key_rejected: 401,
  sign_in_required: 401,
  sign_in_link_invalid: 401,
  forbidden: 403,
  user_not_allowed: 403,
  not_an_approver: 403,
  self_approval: 403,
  key_owner_approval: 403,
  not_found: 404,
  method_not_allowed: 405,
  already_exists: 409,
  last_admin: 409,
  policy_changed: 409,
  no_policy: 409,
  plan_pending: 409,
  plan_rejected: 409,
  plan_revoked: 409,
  plan_closed: 409,
  plan_expired: 409,
  audit_gap: 409,
  audit_fork: 409,
  audit_rewritten: 409,
  hold_not_pending: 409,
  hold_expired: 409,
  already_claimed: 409,
  hold_limit: 409,
  hold_rejected_before: 409,
  not_held: 409,
  outcome_not_expected: 409,
  lease_held: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unknown_user: 422,
  invalid_plan: 422,
  invalid_policy: 422,
  approval_invalid: 422,
  batch_signature_invalid: 422,
  entry_invalid: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
};

describe("problems", () => {
  test("are these, and no others", () => {
    expect(Object.fromEntries(Object.entries(PROBLEMS).map(([code, { status }]) => [code, status]))).toEqual(STATUS);
    expect(PROBLEM_MEDIA_TYPE).toBe("application/problem+json");
  });

  test.each(Object.entries(PROBLEMS))("%s says what it means and what can be done, and can be read", (code, kind) => {
    expect(kind.title).toMatch(/^[A-Z].*[^.]$/);
    expect(kind.help).toMatch(/^[A-Z].*\.$/s);
    const problem = createProblem(code as ProblemCode);
    expect(problem).toEqual({ type: `urn:intentlock:problem:${code}`, code, ...kind });
    expect(problemSchema.parse(JSON.parse(JSON.stringify(problem)))).toEqual(problem);
  });

  test.each(["audit_gap", "audit_fork", "audit_rewritten"] as const)("%s names steps to take", (code) => {
    expect(PROBLEMS[code].help).toMatch(/outbox/);
    expect(PROBLEMS[code].help).toMatch(/revoke the plan/);
  });

  test("carry what is known of them", () => {
    const more = {
      detail: "entry 7 is missing",
      instance: "request-1",
      issues: [{ path: "entries[0]", message: "expected text", line: 1, column: 2 }],
      chain: { seq: 7, head: null },
    };
    const problem = createProblem("audit_gap", more);
    expect(problem).toMatchObject(more);
    expect(problemSchema.parse(problem)).toEqual(problem);
  });

  test("can be read however long what they quote is", () => {
    const long = `${"x".repeat(9999)}\u{1f600}${"x".repeat(100_000)}`;
    const issues = Array.from({ length: 2000 }, () => ({ path: long, message: long }));
    const problem = createProblem("invalid_request", { detail: long, instance: long, issues });
    expect(problemSchema.safeParse(problem).success).toBe(true);
    expect(problem.detail?.isWellFormed()).toBe(true);
  });
});

describe("reading a problem", () => {
  const problem = createProblem("plan_revoked");

  test("passes over fields that are not known", () => {
    expect(problemSchema.parse({ ...problem, retryable: false })).toEqual(problem);
  });

  test.each<[string, object]>([
    ["a code of another version", { code: "plan_lost" }],
    ["a code from the prototype", { code: "constructor" }],
    ["no code", { code: undefined }],
    ["a status that is no error", { status: 200 }],
    ["a status as text", { status: "409" }],
    ["endless words", { detail: "x".repeat(10_001) }],
    ["issues that are none", { issues: ["x"] }],
    ["a chain that is none", { chain: { seq: -1, head: null } }],
  ])("refuses %s", (_name, over) => {
    expect(problemSchema.safeParse({ ...problem, ...over }).success).toBe(false);
  });
});
