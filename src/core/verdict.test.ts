import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anything } from "../../test/arbitraries.ts";
import { BLOCK_REASONS, blockDecision, explainReason, MAX_CALL_ID_CHARACTERS, nameCall } from "./verdict.ts";

const CALL = { callId: "call-1", tool: "send_money", planId: "plan-1" };

describe("a block", () => {
  test("has what the model reads on two lines", () => {
    const decision = blockDecision(CALL, { reason: "not_in_plan", stage: "plan", detail: "no step uses it" });
    expect(decision).toStrictEqual({
      ...CALL,
      verdict: "block",
      reason: "not_in_plan",
      stage: "plan",
      message: "Blocked by Intentlock (not_in_plan): no step uses it\nThis action is outside what the user asked for.",
    });
  });

  test("by a rule says so, whatever the rule is called", () => {
    const block = { reason: "toString", rule: "toString", stage: "policy", detail: "d", step: 3 } as const;
    const decision = blockDecision(CALL, block);
    expect(decision).toMatchObject({ reason: "toString", rule: "toString", step: 3 });
    expect(decision.message).toBe("Blocked by Intentlock (toString): d\nA rule of the policy forbids this action.");
  });

  test("says of which step it is, by which rule, and what that rests on", () => {
    const grounds = { sources: [{ arg: "/to", from: "mail", seq: 0 }], unpinned: ["to"] };
    const { message, ...rest } = blockDecision(CALL, {
      reason: "never",
      stage: "policy",
      detail: "d",
      step: 0,
      rule: "never",
      grounds,
    });
    expect(rest).toStrictEqual({
      ...CALL,
      verdict: "block",
      reason: "never",
      stage: "policy",
      step: 0,
      rule: "never",
      ...grounds,
    });
  });

  test("takes no more of a call than its names", () => {
    const call = { ...CALL, args: { to: "SECRET" }, fingerprint: "SECRET" };
    expect(JSON.stringify(blockDecision(call, { reason: "aborted", stage: "gate", detail: "d" }))).not.toContain(
      "SECRET",
    );
  });

  test("has a message that can be stored, whatever the detail", () => {
    const decision = blockDecision(CALL, { reason: "invalid_args", stage: "schema", detail: "\ud800".repeat(1e6) });
    expect(decision.message.isWellFormed()).toBe(true);
    expect(decision.message.length).toBeLessThan(2200);
  });
});

describe("reasons", () => {
  test("all of design.md section 5, and no others", () => {
    expect([...BLOCK_REASONS].sort()).toEqual(
      [
        "not_in_plan call_limit no_matching_rule invalid_token token_expired invalid_call internal_error",
        "server_unavailable api_key_rejected gate_rejected audit_write_failed audit_backlog hold_requires_server",
        "hold_rejected hold_timeout budget_exhausted tool_changed plan_revoked aborted unknown_tool invalid_args",
      ]
        .join(" ")
        .split(" ")
        .sort(),
    );
  });

  test.each(BLOCK_REASONS)("%s is explained in one sentence or two, of its own", (reason) => {
    expect(explainReason(reason)).toMatch(/^[A-Z][^\n]+\.$/);
    expect(BLOCK_REASONS.filter((other) => explainReason(other) === explainReason(reason))).toEqual([reason]);
  });

  test.each(["no-refunds", "constructor", "__proto__", "toString", ""])("%j is a rule's", (reason) => {
    expect(explainReason(reason)).toBe("A rule of the policy forbids this action.");
  });

  test("cannot be changed", () => {
    expect(Object.isFrozen(BLOCK_REASONS)).toBe(true);
  });
});

describe("the name of a call", () => {
  test("is what it says, if it can be", () => {
    expect(nameCall({ callId: "1", tool: "t", args: {} }, "p")).toEqual({ callId: "1", tool: "t", planId: "p" });
  });

  test("has what is text of it, if the other is none", () => {
    expect(nameCall({ callId: 5, tool: "t" }, "p")).toEqual({ callId: "", tool: "t", planId: "p" });
    expect(nameCall({ callId: "1", tool: null }, "p")).toEqual({ callId: "1", tool: "", planId: "p" });
  });

  test("is cut and made well-formed", () => {
    const name = nameCall({ callId: "\ud800".repeat(2000), tool: "x".repeat(65) }, "p");
    expect(name).toEqual({ callId: "\ufffd".repeat(MAX_CALL_ID_CHARACTERS), tool: "x".repeat(64), planId: "p" });
  });

  test("never throws, and is always text", () => {
    const broken = {
      get callId() {
        throw new Error("no");
      },
    };
    for (const call of [undefined, null, 5, broken])
      expect(nameCall(call, "p")).toEqual({ callId: "", tool: "", planId: "p" });
    fc.assert(
      fc.property(anything, (value) => {
        const { callId, tool } = nameCall({ callId: value, tool: value }, "");
        return callId.isWellFormed() && tool.isWellFormed();
      }),
    );
  });
});
