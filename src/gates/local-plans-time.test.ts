import { describe, expect, test } from "vitest";
import { settle } from "../../test/audit-sinks.ts";
import { aPlan, NOW, summarize } from "../../test/builders.ts";
import { planOf } from "../../test/sessions.ts";
import { PLAN_TTL, somePlans } from "../../test/some-plans.ts";
import type { IssuedToken } from "./token-issuer.ts";

describe("a plan that goes on", () => {
  test("has its counts and its chain, and says so on record", async () => {
    const { begin, check, audit } = somePlans({ budget: { session: { calls: 3 } } });
    const earlier = {
      head: { planId: "plan-1", seq: 7, prev: `sha256:${"0".repeat(64)}` },
      used: [1],
      spent: { calls: 2, payoutMicros: 0 },
    };
    const state = await begin("plan-1", aPlan({ maxCalls: 3 }), { earlier });
    const events = () => audit.entries.map(({ seq, event }) => [seq, event.type]);
    expect(events()).toEqual([[7, "refresh"]]);
    expect(audit.entries[0]).toMatchObject({ prev: earlier.head.prev, event: { token: state.signed.token } });
    expect(await check(state)).toMatchObject({ verdict: "allow", seq: 8 });
    expect(summarize(await check(state))).toBe("block:budget_exhausted");
    expect(state.used).toEqual([2]);
    // What it began with is not changed by that.
    expect([earlier.used, earlier.spent.calls]).toEqual([[1], 2]);
  });

  test("that has just been signed begins with nothing, and says so on record", async () => {
    const { begin, audit } = somePlans();
    const { used, spent } = await begin("plan-1", aPlan({}, { tool: "read_file" }));
    expect([used, spent]).toEqual([[0, 0], { calls: 0, payoutMicros: 0 }]);
    expect(audit.entries.map(({ seq, event }) => [seq, event.type])).toEqual([[0, "plan_signed"]]);
  });

  test.each([
    ["in the same process", true, "allow"],
    ["in another process", false, "block:not_in_plan"],
  ])("%s: whether a call may use the result of an earlier one", async (_name, isSame, expected) => {
    const plan = planOf({ id: "read", tool: "read_file" }, { tool: "send_money", args: { to: { from: "read" } } });
    const { begin, check, plans } = somePlans();
    const reading = await check(await begin("plan-1", plan), { tool: "read_file" });
    const { planId, seq: decisionSeq = -1 } = reading;
    await plans.record({ type: "outcome", planId, decisionSeq, status: "ok", result: "DE01" });
    const earlier = { head: { planId, seq: 3, prev: null }, used: [1, 0], spent: { calls: 1, payoutMicros: 0 } };
    const next = isSame ? { begin, check } : somePlans();
    expect(summarize(await next.check(await next.begin("plan-1", plan, { earlier }), { args: { to: "DE01" } }))).toBe(
      expected,
    );
  });
});

describe("renewal by a signer that is far away", () => {
  const claim = async () => ({ refusal: { reason: "aborted", stage: "gate", detail: "no" } as const });

  test("is not waited for while the token that there is still counts, and is asked for once", async () => {
    const { begin, check, clock, renew } = somePlans({ claim });
    const state = await begin("plan-1");
    const first = state.signed.token;
    clock.advance(PLAN_TTL - 1);
    const { promise, resolve } = Promise.withResolvers<IssuedToken>();
    renew.mockReturnValueOnce(promise);
    expect(summarize(await check(state))).toBe("allow");
    expect(summarize(await check(state))).toBe("allow");
    expect([renew.mock.calls.length, state.signed.token]).toEqual([1, first]);
    resolve({ ...state, signed: { ...state.signed, token: "new", expiresAt: NOW + 2 * PLAN_TTL } });
    await settle();
    expect(state.signed.token).toBe("new");
  });

  test("is not asked for a mere look", async () => {
    const { begin, peek, clock, renew } = somePlans({ claim });
    const state = await begin("plan-1");
    clock.advance(PLAN_TTL - 1);
    expect(summarize(await peek(state))).toBe("allow");
    expect(renew).not.toHaveBeenCalled();
  });

  test("that fails is nobody's trouble while the token still counts, and is tried again with the next call", async () => {
    const { begin, check, clock, renew } = somePlans({ claim });
    const state = await begin("plan-1");
    clock.advance(PLAN_TTL - 1);
    renew.mockRejectedValue(new Error("no"));
    expect(summarize(await check(state))).toBe("allow");
    await settle();
    expect(summarize(await check(state))).toBe("allow");
    expect(renew).toHaveBeenCalledTimes(2);
    await settle();
  });

  test("is waited for once the token is over", async () => {
    const { begin, check, clock, renew } = somePlans({ claim });
    const state = await begin("plan-1");
    clock.advance(PLAN_TTL);
    expect(summarize(await check(state))).toBe("allow");
    expect(renew).toHaveBeenCalledTimes(1);
    expect(state.signed.expiresAt).toBe(NOW + 2 * PLAN_TTL);
  });

  test("of a plan that is closed meanwhile is none", async () => {
    const { begin, plans, audit, renew } = somePlans({ claim });
    const { signed, opened } = await begin("plan-1");
    const { promise, resolve } = Promise.withResolvers<IssuedToken>();
    renew.mockReturnValueOnce(promise);
    const refused = expect(plans.refresh("plan-1")).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
    await plans.record({ type: "closed", planId: "plan-1" });
    resolve({ signed, opened });
    await refused;
    expect(audit.entries.map(({ event }) => event.type)).toEqual(["plan_signed", "closed"]);
  });
});
