import { describe, expect, test } from "vitest";
import { IntentlockError, PlanError, PolicyError } from "./errors.ts";

describe("errors", () => {
  test("have a code, a message, a cause and the name of their class", () => {
    const cause = new Error("why");
    const error = new IntentlockError("ERR_CLOSED", "The gate is closed", { cause });
    expect(error).toMatchObject({ name: "IntentlockError", code: "ERR_CLOSED", message: "The gate is closed", cause });
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("IntentlockError: The gate is closed");
    expect(new IntentlockError("ERR_CLOSED", "x")).not.toHaveProperty("cause");
  });

  test.each([
    ["PolicyError", PolicyError, "ERR_INVALID_POLICY", "The policy is not valid:"],
    ["PlanError", PlanError, "ERR_INVALID_PLAN", "The plan is not valid:"],
  ] as const)("a %s lists its issues", (name, Class, code, first) => {
    const issues = [
      { path: "rules[0].id", message: "expected text", line: 4, column: 7 },
      { path: "rules[1]", message: "unknown field", line: 9 },
      { path: "steps", message: "expected array" },
      { path: "", message: "not valid YAML", line: 1, column: 1 },
      { path: "", message: "nested too deeply" },
    ];
    const error = new Class(issues, { cause: "c" });
    expect(error).toMatchObject({ name, code, issues, cause: "c" });
    expect(error).toBeInstanceOf(IntentlockError);
    expect(error.message.split("\n")).toEqual([
      first,
      "  4:7 rules[0].id: expected text",
      "  9:1 rules[1]: unknown field",
      "  steps: expected array",
      "  1:1: not valid YAML",
      "  nested too deeply",
    ]);
  });
});
