import { describe, expect, test, vi } from "vitest";
import { summarize } from "../../test/builders.ts";
import { aGateCall } from "../../test/gate-conformance.ts";
import { somePlans } from "../../test/some-plans.ts";
import type { Budget, Spent } from "../core/index.ts";
import type { LocalPlansOptions } from "./local-plans.ts";

const REFUSAL = { reason: "server_unavailable", stage: "gate", detail: "no" } as const;

describe("portions of a person's budget", () => {
  const budget: Budget = { principal: { calls: 10, windowSeconds: 3600 } };
  type Portions = NonNullable<LocalPlansOptions["portions"]>;
  type Answer = ReturnType<Portions["prepare"]>;

  /** Portions of which so many calls are reserved, and which give these answers, and then that there is nothing to wait for. */
  function somePortions(calls: number, ...answers: readonly (() => Answer)[]) {
    const reserved: { now: Spent } = { now: { calls, payoutMicros: 0 } };
    const outs: boolean[] = [];
    const prepare = vi.fn<Portions["prepare"]>((_state, _opened, { isOut }) => {
      outs.push(isOut());
      return answers[outs.length - 1]?.();
    });
    const of = vi.fn(() => reserved.now);
    return { portions: { of, prepare } satisfies Portions, reserved, outs };
  }

  test("are all that a plan may take, however much its person has left", async () => {
    const { portions, outs } = somePortions(2);
    const { begin, check } = somePlans({ budget, portions });
    const state = await begin("plan-1");
    const verdicts = [await check(state), await check(state), await check(state)].map(summarize);
    expect(verdicts).toEqual(["allow", "allow", "block:budget_exhausted"]);
    expect(outs).toEqual([false, false, true]);
    expect(portions.of).toHaveBeenCalledWith("plan-1");
    expect(state.spent.calls).toBe(2);
  });

  test("of a plan without such a budget do not matter", async () => {
    const { portions } = somePortions(0);
    const { begin, check } = somePlans({ budget: { session: { calls: 1 } }, portions });
    const state = await begin("plan-1");
    expect([await check(state), await check(state)].map(summarize)).toEqual(["allow", "block:budget_exhausted"]);
  });

  test("are asked about with the call and the token, and are not out for a call that is blocked anyway", async () => {
    const { portions, outs } = somePortions(0);
    const { begin, check, peek } = somePlans({ budget, portions });
    const state = await begin("plan-1");
    await check(state, { tool: "read_file" });
    await check(state, { refusal: REFUSAL });
    await peek(state);
    expect(outs).toEqual([false, false, true]);
    expect(portions.prepare.mock.calls[0]?.slice(0, 2)).toEqual([state, state.opened]);
    expect(portions.prepare.mock.calls[0]?.[2].call).toEqual(aGateCall({ tool: "read_file" }));
  });

  test("are not asked about under a token that is none", async () => {
    const { portions } = somePortions(0);
    const { begin, plans } = somePlans({ budget, portions });
    const { signed } = await begin("plan-1");
    const decision = await plans.decide({ ...signed, token: "x" }, aGateCall(), true);
    expect(summarize(decision)).toBe("block:invalid_token");
    expect(portions.prepare).not.toHaveBeenCalled();
  });

  test("are asked again until there is nothing to wait for, since calls at once share one", async () => {
    const { portions, reserved, outs } = somePortions(
      0,
      async () => "ask again" as const,
      async () => {
        reserved.now = { calls: 1, payoutMicros: 0 };
        return "ask again" as const;
      },
    );
    const { begin, check } = somePlans({ budget, portions });
    expect(summarize(await check(await begin("plan-1")))).toBe("allow");
    expect(outs).toEqual([true, true, false]);
  });

  test("that there are none of block the call, without another question", async () => {
    const { portions, outs } = somePortions(0, async () => undefined);
    const { begin, check } = somePlans({ budget, portions });
    expect(summarize(await check(await begin("plan-1")))).toBe("block:budget_exhausted");
    expect(outs).toEqual([true]);
  });

  test("that cannot be asked for block the call, and say why", async () => {
    const { portions, outs } = somePortions(0, async () => REFUSAL);
    const { begin, check } = somePlans({ budget, portions });
    expect(await check(await begin("plan-1"))).toMatchObject({
      verdict: "block",
      reason: "server_unavailable",
      stage: "gate",
    });
    expect(outs).toEqual([true]);
  });
});
