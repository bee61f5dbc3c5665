import { describe, expect, test } from "vitest";
import { anAllow, hold } from "../../test/sessions.ts";
import { IntentlockError } from "../core/index.ts";
import { blockDecision } from "../core/verdict.ts";
import { BlockedError, unwrapResult } from "./blocked-error.ts";

const CALL = { callId: "call-1", tool: "pay", planId: "plan-1" };

test("reads as its message alone, without the name of an error", () => {
  const decision = blockDecision(CALL, {
    reason: "not_in_plan",
    stage: "plan",
    detail: "no step of the plan uses pay",
  });
  const error = new BlockedError(decision);
  expect(`${error}`).toBe(
    "Blocked by Intentlock (not_in_plan): no step of the plan uses pay\nThis action is outside what the user asked for.",
  );
  expect(error).toBeInstanceOf(IntentlockError);
  expect(error.code).toBe("ERR_BLOCKED");
  expect(error.decision).toBe(decision);
});

test("says no more than that of another decision", () => {
  expect(`${new BlockedError(hold({ ...CALL, args: {} }))}`).toBe("Blocked by Intentlock");
});

test("says that a call waits, and for which hold", () => {
  const held = { content: "Held by Intentlock", hold: { holdId: "hold-1", expiresAt: 1000 } };
  const error = new BlockedError(hold({ ...CALL, args: {} }), held);
  expect([error.message, error.hold]).toEqual([held.content, held.hold]);
});

describe("the content of a result", () => {
  const decision = blockDecision(CALL, { reason: "aborted", stage: "gate", detail: "the session is closed" });
  const failed = { callId: "call-1", isError: true, content: "Tool failed: x", decision } as const;

  test("is what the tool gave", () => {
    expect(unwrapResult({ callId: "call-1", isError: false, content: 5, decision: anAllow() })).toBe(5);
  });

  test.each([[new Error("boom")], ["text"], [undefined]])("is thrown if the tool threw it: %s", (error) => {
    let thrown: unknown = "nothing";
    try {
      unwrapResult({ ...failed, error });
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toBe(error);
  });

  test("is an error with the decision if the call was blocked", () => {
    expect(() => unwrapResult(failed)).toThrow(expect.objectContaining({ code: "ERR_BLOCKED", decision }));
  });
});
