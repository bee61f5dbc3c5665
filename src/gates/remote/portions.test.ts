import { describe, expect, test, vi } from "vitest";
import { anUnsignedToken, PLAN_ID } from "../../../test/builders.ts";
import { aGateCall } from "../../../test/gate-conformance.ts";
import { endpoints } from "../../core/api/index.ts";
import { type Budget, type OpenedToken, openPlanToken, type Spent } from "../../core/index.ts";
import type { PlanState } from "../plan-state.ts";
import { Portions } from "./portions.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError } from "./server-error.ts";

type Limit = NonNullable<Budget["principal"]>;
type Reserve = (total: Spent) => Spent | Error | Promise<Spent>;

const DOWN = new ServerError("ERR_SERVER_UNAVAILABLE", "down");
const PAYOUTS = [{ tool: "send_money", arg: "amount", microsPerUnit: 1_000_000 }];

/** What the server has and the plan has not asked for. */
const all: Reserve = (total) => total;
const upTo = (most: Partial<Spent>): Reserve => {
  const { calls = Number.MAX_SAFE_INTEGER, payoutMicros = Number.MAX_SAFE_INTEGER } = most;
  return (total) => ({ calls: Math.min(total.calls, calls), payoutMicros: Math.min(total.payoutMicros, payoutMicros) });
};

/** A plan of which nothing was taken yet, and the portions that a server gives of its budget; the last answer again and again. */
function aPlanWith(budget: Budget, ...answers: readonly Reserve[]) {
  const totals: Spent[] = [];
  const asks: unknown[] = [];
  const ask = vi.fn(async (endpoint: unknown, asked: { readonly body: { readonly total: Spent } }) => {
    asks.push(endpoint, asked);
    totals.push(asked.body.total);
    const reserved = await (answers[Math.min(totals.length, answers.length) - 1] ?? all)(asked.body.total);
    if (reserved instanceof Error) throw reserved;
    return { reserved };
  });
  const portions = new Portions({ ask } as unknown as ServerClient);
  const state = { planId: PLAN_ID, spent: { calls: 0, payoutMicros: 0 } } as unknown as PlanState;
  const opened = anUnsignedToken({ budget });
  const look = (amount: unknown = 1, isOut = true, token: OpenedToken = opened) => {
    const call = aGateCall({ args: { to: "landlord", amount } as never });
    return portions.prepare(state, token, { call, isOut: () => isOut });
  };
  /** Goes on as a gate does. @returns whether the call is allowed, or why not */
  const take = async (amount = 1): Promise<unknown> => {
    const payoutMicros = budget.payouts ? amount * 1_000_000 : 0;
    const fits = (): boolean => {
      const { principal } = budget;
      const reserved = portions.of(PLAN_ID);
      return (
        (principal?.calls === undefined || reserved.calls >= state.spent.calls + 1) &&
        (principal?.payoutMicros === undefined || reserved.payoutMicros >= state.spent.payoutMicros + payoutMicros)
      );
    };
    for (let round = 0; round < 10; round++) {
      const asked = look(amount, !fits());
      const answer = asked && (await asked);
      if (answer === "ask again") continue;
      if (answer) return answer;
      if (!fits()) return false;
      state.spent.calls += 1;
      state.spent.payoutMicros += payoutMicros;
      return true;
    }
    throw new Error("asked again and again");
  };
  /** Lets what was asked for ahead of time come. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { portions, state, look, take, settle, totals, asks };
}

const ofCalls = (calls: number, more: Partial<Budget> = {}): Budget => {
  return { principal: { calls, windowSeconds: 60 }, ...more };
};
const ofMoney = (payoutMicros: number): Budget => {
  return { principal: { payoutMicros, windowSeconds: 60 }, payouts: PAYOUTS };
};

describe("a portion", () => {
  test.each<[string, Budget, Spent]>([
    ["a twentieth of the calls", ofCalls(100), { calls: 5, payoutMicros: 0 }],
    ["rounded up", ofCalls(101), { calls: 6, payoutMicros: 0 }],
    ["at least one", ofCalls(1), { calls: 1, payoutMicros: 0 }],
    ["at most fifty", ofCalls(100_000), { calls: 50, payoutMicros: 0 }],
    [
      "a twentieth of the money beside what the call takes",
      ofMoney(100_000_000),
      { calls: 1, payoutMicros: 6_000_000 },
    ],
    ["no more calls than the plan may make", ofCalls(100, { session: { calls: 3 } }), { calls: 3, payoutMicros: 0 }],
    [
      "no more money than the plan may spend",
      { ...ofMoney(100_000_000), session: { payoutMicros: 2_000_000 } },
      { calls: 1, payoutMicros: 2_000_000 },
    ],
  ])("is %s", async (_name, budget, total) => {
    const { take, totals, asks } = aPlanWith(budget);
    expect(await take()).toBe(true);
    expect(totals[0]).toEqual(total);
    expect(asks.slice(0, 2)).toEqual([
      endpoints.reserveBudget,
      { params: { planId: PLAN_ID }, body: { total }, isRepeatable: true },
    ]);
  });

  test("is asked for on top of what the plan has taken", async () => {
    const { take, state, totals } = aPlanWith(ofCalls(100));
    state.spent.calls = 40;
    await take();
    expect(totals[0]).toEqual({ calls: 45, payoutMicros: 0 });
  });
});

describe("nothing is asked for", () => {
  test.each<[string, Budget]>([
    ["without a budget", {}],
    ["for a budget of the plan alone", { session: { calls: 1 } }],
  ])("%s", (_name, budget) => {
    const { look, totals } = aPlanWith(budget);
    expect(look()).toBeUndefined();
    expect(totals).toEqual([]);
  });

  test("under a token that is none", async () => {
    const { look, totals } = aPlanWith(ofCalls(100));
    expect(look(1, true, await openPlanToken("none", [], { audience: "agent" }))).toBeUndefined();
    expect(totals).toEqual([]);
  });

  test("by a call that other things are in the way of", () => {
    const { look, totals } = aPlanWith(ofCalls(100));
    expect(look(1, false)).toBeUndefined();
    expect(totals).toEqual([]);
  });
});

test.each([[-1], ["20"], [null], [2 ** 53]])("an amount that is none is waited for by nobody: %j", async (amount) => {
  const { look, totals } = aPlanWith(ofMoney(100_000_000));
  // That it cannot be taken is not decided here.
  expect(look(amount)).toBeUndefined();
  expect(totals).toEqual([{ calls: 0, payoutMicros: 5_000_000 }]);
});

describe("while there is enough", () => {
  test("nothing is waited for, and the next portion is asked for when half of one is left", async () => {
    const { take, look, settle, totals, portions } = aPlanWith(ofCalls(80));
    expect(await take()).toBe(true);
    expect(portions.of(PLAN_ID)).toEqual({ calls: 4, payoutMicros: 0 });
    await take();
    await settle();
    expect(totals).toHaveLength(1);
    await take();
    // One is left, which is less than half of four.
    expect([look(), look()]).toEqual([undefined, undefined]);
    await settle();
    expect(totals.slice(1)).toEqual([{ calls: 7, payoutMicros: 0 }]);
    expect(portions.of(PLAN_ID).calls).toBe(7);
  });

  test("money is asked for ahead of time like calls", async () => {
    const { take, look, settle, totals } = aPlanWith(ofMoney(80_000_000));
    await take(2);
    await take(2.5);
    expect(look(0.5)).toBeUndefined();
    await settle();
    expect(totals).toEqual([
      { calls: 1, payoutMicros: 6_000_000 },
      { calls: 2, payoutMicros: 8_500_000 },
    ]);
  });

  test("a portion of one is not asked for ahead of time: others may want it", async () => {
    const { take, settle, totals } = aPlanWith(ofCalls(5));
    await take();
    await settle();
    expect(totals).toHaveLength(1);
    await take();
    expect(totals).toEqual([1, 2].map((calls) => ({ calls, payoutMicros: 0 })));
  });

  test("what cannot be had ahead of time is no trouble yet", async () => {
    const { take, look, settle, totals } = aPlanWith(ofCalls(80), all, () => DOWN);
    await take();
    await take();
    await take();
    expect(look()).toBeUndefined();
    await settle();
    expect(totals).toHaveLength(2);
    expect(await take()).toBe(true);
    expect(await take()).toMatchObject({ reason: "server_unavailable" });
  });

  test("nothing more is asked for where there was less than that the last time", async () => {
    const { take, settle, totals } = aPlanWith(ofCalls(80), upTo({ calls: 3 }));
    for (let call = 0; call < 3; call++) expect(await take()).toBe(true);
    await settle();
    expect(totals).toHaveLength(1);
  });
});

describe("when there is not enough", () => {
  test("a call waits for the server, and is refused if it cannot be asked", async () => {
    const { take } = aPlanWith(ofCalls(80), () => DOWN, all);
    expect(await take()).toEqual({ reason: "server_unavailable", stage: "gate", detail: "the server did not answer" });
    expect(await take()).toBe(true);
  });

  test("a call that gets less than it needs is not to ask again", async () => {
    const { look } = aPlanWith(ofMoney(100_000_000), upTo({ payoutMicros: 500_000 }));
    expect(await look(1)).toBeUndefined();
  });

  test("a call that gets what it needs asks again", async () => {
    expect(await aPlanWith(ofMoney(100_000_000)).look(1)).toBe("ask again");
    expect(await aPlanWith(ofMoney(100_000_000), upTo({ payoutMicros: 1_000_000 })).look(1)).toBe("ask again");
  });

  test("calls at once share one request", async () => {
    const { take, totals } = aPlanWith(ofCalls(80));
    expect(await Promise.all([take(), take(), take()])).toEqual([true, true, true]);
    expect(totals).toHaveLength(1);
  });

  test("one that waited for another's portion asks by itself if that failed", async () => {
    const { take, totals } = aPlanWith(ofCalls(80), () => DOWN, all);
    expect(await Promise.all([take(), take()])).toEqual([expect.objectContaining({ stage: "gate" }), true]);
    expect(totals).toHaveLength(2);
  });

  test("and that also where there was less than asked for before", async () => {
    const { take } = aPlanWith(ofCalls(80), upTo({ calls: 1 }), () => DOWN, all);
    await take();
    expect(await Promise.all([take(), take()])).toEqual([expect.objectContaining({ stage: "gate" }), true]);
  });

  test("one that waited for another's portion does not ask again if there is no more", async () => {
    const { look, totals } = aPlanWith(ofCalls(80), upTo({ calls: 0 }));
    expect(await Promise.all([look(), look(), look()])).toEqual([undefined, undefined, undefined]);
    expect(totals).toHaveLength(1);
  });

  test("but does if the other has asked for too little", async () => {
    const { look } = aPlanWith(ofMoney(100_000_000));
    const [small, large] = [look(1), look(50)];
    expect([await small, await large]).toEqual(["ask again", "ask again"]);
  });

  test.each<[string, Budget, Partial<Spent>]>([
    [
      "there are just enough, and no more",
      { ...ofMoney(1e8), principal: { calls: 100, payoutMicros: 1e8, windowSeconds: 60 } },
      { calls: 1 },
    ],
    ["are not limited", ofMoney(1e8), { calls: 0 }],
  ])("be it that of calls %s", async (_name, budget, most) => {
    const { look } = aPlanWith(budget, upTo(most));
    const [small, large] = [look(1), look(50)];
    expect([await small, await large]).toEqual(["ask again", "ask again"]);
  });

  test("money that is not limited is not asked for", async () => {
    const { take, look, totals } = aPlanWith({ ...ofCalls(80), payouts: PAYOUTS });
    expect([await take(5), look(5)]).toEqual([true, undefined]);
    expect(totals).toHaveLength(1);
  });

  test("as many are allowed as there are, by calls at once", async () => {
    const { take } = aPlanWith(ofCalls(100), upTo({ calls: 7 }));
    const taken = await Promise.all(Array.from({ length: 20 }, () => take()));
    expect(taken.filter((one) => one === true)).toHaveLength(7);
    expect(taken.filter((one) => one === false)).toHaveLength(13);
  });
});

test("a plan that is forgotten begins with nothing", async () => {
  const { take, portions, totals } = aPlanWith(ofCalls(80), upTo({ calls: 1 }), all);
  await take();
  expect(portions.of(PLAN_ID)).toEqual({ calls: 1, payoutMicros: 0 });
  portions.forget(PLAN_ID);
  expect(portions.of(PLAN_ID)).toEqual({ calls: 0, payoutMicros: 0 });
  await take();
  expect(totals).toHaveLength(2);
});

test("plans have portions of their own", async () => {
  const { take, portions } = aPlanWith(ofCalls(80));
  await take();
  expect(portions.of("plan-2")).toEqual({ calls: 0, payoutMicros: 0 });
});

test("a limit of nothing is one", async () => {
  const limit: Limit = { calls: 0, windowSeconds: 60 };
  const { take, totals } = aPlanWith({ principal: limit }, upTo({ calls: 0 }));
  expect(await take()).toBe(false);
  expect(totals).toEqual([{ calls: 1, payoutMicros: 0 }]);
});
