import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anything } from "../../test/arbitraries.ts";
import { ALICE, aLedger } from "../../test/builders.ts";
import {
  type Budget,
  budgetSchema,
  countAllButReserved,
  type Ledger,
  parseBudget,
  refundToolCall,
  type Spent,
  tryToolCall,
} from "./budget.ts";
import type { JsonObject } from "./json.ts";

const REFUND = { tool: "issue_refund", arg: "amount", microsPerUnit: 1_000_000 };
const DOLLARS_20 = 20_000_000;

function ask(budget: Budget, args: JsonObject = {}, ledger = aLedger()): ReturnType<typeof tryToolCall> {
  return tryToolCall(ledger, budget, { tool: "issue_refund", args });
}

function spent(calls: number, payoutMicros = 0): Spent {
  return { calls, payoutMicros };
}

describe("limits on calls", () => {
  const both = { session: { calls: 3 }, principal: { calls: 5, windowSeconds: 60 } };
  test.each<[string, Budget, number, number, string]>([
    ["session: the first", { session: { calls: 3 } }, 0, 0, '{"session":{"calls":2}}'],
    ["session: the last", { session: { calls: 3 } }, 2, 9, '{"session":{"calls":0}}'],
    ["session: one too many", { session: { calls: 3 } }, 3, 0, "the budget of this task is used up"],
    ["session: none at all", { session: { calls: 0 } }, 0, 0, "the budget of this task is used up"],
    ["principal: the last", { principal: { calls: 5, windowSeconds: 60 } }, 9, 4, '{"principal":{"calls":0}}'],
    [
      "principal: one too many",
      { principal: { calls: 5, windowSeconds: 60 } },
      0,
      5,
      "the budget of this person is used up",
    ],
    ["both: enough of both", both, 2, 4, '{"session":{"calls":0},"principal":{"calls":0}}'],
    ["both: no session left", both, 3, 0, "the budget of this task is used up"],
    ["both: no principal left", both, 0, 5, "the budget of this person is used up"],
    ["both: neither", both, 3, 5, "the budget of this task is used up"],
    ["none", {}, 1e9, 1e9, "{}"],
    ["none in either", { session: {}, principal: { windowSeconds: 1 } }, 1e9, 1e9, '{"session":{},"principal":{}}'],
  ])("%s", (_name, budget, session, principal, expected) => {
    const answer = ask(budget, {}, { session: spent(session), principal: spent(principal) });
    expect(answer.refused ?? JSON.stringify(answer.remaining)).toBe(expected);
  });
});

test("what is not limited is not in what is left, not even as undefined: the verdict is strict JSON", () => {
  const limits = { session: { calls: 3 }, principal: { payoutMicros: 5, windowSeconds: 60 } };
  const answer = ask(limits) as { readonly remaining: object };
  expect(answer.remaining).toStrictEqual({ session: { calls: 2 }, principal: { payoutMicros: 5 } });
});

describe("what a person's ledger is for a plan that has some of it reserved", () => {
  test.each<[string, Parameters<typeof countAllButReserved>, Spent]>([
    ["all that is reserved is left", [{ calls: 9, payoutMicros: 90 }, spent(4, 40), spent(0, 0)], spent(5, 50)],
    ["some of it is taken", [{ calls: 9, payoutMicros: 90 }, spent(4, 40), spent(3, 15)], spent(8, 65)],
    ["nothing is left of it", [{ calls: 9, payoutMicros: 90 }, spent(4, 40), spent(4, 40)], spent(9, 90)],
    [
      "more is reserved than the limit is now",
      [{ calls: 2, payoutMicros: 20 }, spent(4, 40), spent(1, 5)],
      spent(0, 0),
    ],
    ["without a limit on calls", [{ payoutMicros: 90 }, spent(4, 40), spent(3, 15)], spent(3, 65)],
    ["without a limit on money", [{ calls: 9 }, spent(4, 40), spent(3, 15)], spent(8, 15)],
    ["a limit of nothing", [{ calls: 0, payoutMicros: 0 }, spent(0, 0), spent(0, 0)], spent(0, 0)],
  ])("%s", (_name, given, expected) => {
    expect(countAllButReserved(...given)).toEqual(expected);
  });
});

describe("limits on money", () => {
  const budget = { session: { payoutMicros: DOLLARS_20 }, payouts: [REFUND] };

  test.each<[string, number, number, number | string]>([
    ["less than there is", 19.5, 0, 500_000],
    ["all there is", 20, 0, 0],
    ["a micro too much", 20.000001, 0, "the budget of this task is used up"],
    ["what was left", 5, 15_000_000, 0],
    ["more than was left", 5.01, 15_000_000, "the budget of this task is used up"],
    ["nothing", 0, DOLLARS_20, 0],
    ["a sum that binary arithmetic makes too large", 1.1, 18_900_000, 0],
    ["another", 8.2, 11_800_000, 0],
    ["a third, whose product is not whole", 4.35, 15_650_000, 0],
    ["the smallest that there is", 0.000001, DOLLARS_20 - 1, 0],
    ["with an exponent", 1e-6, 19_999_999, 0],
    ["-0", -0, DOLLARS_20, 0],
  ])("%s", (_name, amount, taken, expected) => {
    const answer = ask(budget, { amount }, aLedger({ session: spent(0, taken) }));
    expect(answer.refused ?? answer.remaining.session?.payoutMicros).toBe(expected);
    if (answer.refused === undefined) expect(Object.is(answer.payoutMicros, -0)).toBe(false);
  });

  test.each<[string, JsonObject]>([
    ["missing", {}],
    ["negative", { amount: -1 }],
    ["negative by little", { amount: -1e-9 }],
    ["a string", { amount: "20" }],
    ["null", { amount: null }],
    ["true", { amount: true }],
    ["a list", { amount: [20] }],
    ["an object", { amount: { value: 20 } }],
    ["NaN", { amount: Number.NaN }],
    ["infinite", { amount: Number.POSITIVE_INFINITY }],
    ["a tenth of a micro", { amount: 0.0000001 }],
    ["finer than a micro", { amount: 19.9999995 }],
    ["a sum of binary fractions", { amount: 0.1 + 0.2 }],
    ["the smallest number", { amount: Number.MIN_VALUE }],
    ["2^53 micros", { amount: 2 ** 53 / 1e6 }],
    ["2^53 units", { amount: 2 ** 53 }],
    ["1e308", { amount: 1e308 }],
    ["a number as text with an exponent", { amount: "1e-6" }],
    ["more micros than can be counted", { amount: Number.MAX_SAFE_INTEGER }],
    ["the largest number", { amount: Number.MAX_VALUE }],
    ["in another argument", { Amount: 20 }],
    ["inherited", Object.create({ amount: 20 }) as JsonObject],
  ])("an amount that is %s is refused", (_name, args) => {
    expect(ask(budget, args)).toEqual({
      refused: "the amount to pay is not a number from 0 on that is exact to a millionth of a dollar",
    });
  });

  test.each<[string, Budget]>([
    ["no limits", { payouts: [REFUND] }],
    ["limits on calls", { session: { calls: 1 }, principal: { calls: 1, windowSeconds: 1 }, payouts: [REFUND] }],
  ])("with %s alone a payment is refused, and paying nothing is not", (_name, budget) => {
    expect(ask(budget, { amount: 0.01 })).toEqual({ refused: "the budget sets no limit on payments" });
    expect(ask(budget, { amount: 0 })).toMatchObject({ payoutMicros: 0 });
  });

  test("either limit is enough, and both have to hold", () => {
    const principal = { payoutMicros: DOLLARS_20, windowSeconds: 60 };
    expect(ask({ principal, payouts: [REFUND] }, { amount: 20 })).toMatchObject({ payoutMicros: DOLLARS_20 });
    expect(ask({ principal, payouts: [REFUND] }, { amount: 21 })).toHaveProperty("refused");
    const both = { session: { payoutMicros: 30_000_000 }, principal, payouts: [REFUND] };
    expect(ask(both, { amount: 21 })).toEqual({ refused: "the budget of this person is used up" });
    expect(ask(both, { amount: 31 })).toEqual({ refused: "the budget of this task is used up" });
  });

  test("a tool that pays in several arguments pays the sum, and needs each", () => {
    const tip = { ...REFUND, arg: "tip", microsPerUnit: 10_000 };
    const several = { ...budget, payouts: [REFUND, tip] };
    expect(ask(several, { amount: 19, tip: 100 })).toMatchObject({ payoutMicros: DOLLARS_20 });
    expect(ask(several, { amount: 19, tip: 101 })).toHaveProperty("refused");
    expect(ask(several, { amount: 19 })).toHaveProperty("refused");
    expect(ask(several, { amount: 20, tip: -1 })).toHaveProperty("refused");
  });

  test("other tools pay nothing, whatever their arguments", () => {
    const call = { tool: "read_file", args: { amount: -5 } };
    expect(tryToolCall(aLedger(), budget, call)).toMatchObject({ payoutMicros: 0 });
  });

  test("a tool and an argument named like what objects inherit", () => {
    const odd = {
      session: { payoutMicros: 10 },
      payouts: [{ tool: "constructor", arg: "__proto__", microsPerUnit: 1 }],
    };
    const paying = Object.fromEntries([["__proto__", 10]]);
    expect(tryToolCall(aLedger(), odd, { tool: "constructor", args: paying })).toMatchObject({ payoutMicros: 10 });
    expect(tryToolCall(aLedger(), odd, { tool: "constructor", args: {} })).toHaveProperty("refused");
  });
});

test("no series of calls takes more than a limit, and what is left is what was not taken", () => {
  const amount = fc.oneof(
    fc.double({ min: 0, max: 8, noNaN: true }),
    fc.nat(8e6).map((micros) => micros / 1e6),
  );
  const limits = fc.record({ calls: fc.nat(8), payoutMicros: fc.nat(DOLLARS_20) }, { requiredKeys: ["payoutMicros"] });
  fc.assert(
    fc.property(limits, limits, fc.array(amount, { maxLength: 20 }), (session, limit, amounts) => {
      const principal = { ...limit, windowSeconds: 60 };
      const budget = { session, principal, payouts: [REFUND] };
      let taken = spent(0);
      let paid = 0;
      for (const amount of amounts) {
        const answer = ask(budget, { amount }, { session: taken, principal: taken });
        if (answer.refused !== undefined) continue;
        taken = spent(taken.calls + 1, taken.payoutMicros + answer.payoutMicros);
        paid += Math.round(amount * 1e6);
        for (const [limit, left] of [
          [session, answer.remaining.session],
          [principal, answer.remaining.principal],
        ]) {
          expect(left?.payoutMicros).toBe((limit?.payoutMicros ?? 0) - taken.payoutMicros);
          expect(left?.calls).toBe(limit?.calls === undefined ? undefined : limit.calls - taken.calls);
        }
      }
      for (const limit of [session, principal]) {
        expect(taken.payoutMicros).toBeLessThanOrEqual(limit.payoutMicros);
        if (limit.calls !== undefined) expect(taken.calls).toBeLessThanOrEqual(limit.calls);
      }
      expect(taken.payoutMicros).toBe(paid);
    }),
  );
});

describe("money beyond what can be counted", () => {
  const nearly = Number.MAX_SAFE_INTEGER - 5;
  const paying = { session: { payoutMicros: Number.MAX_SAFE_INTEGER }, payouts: [{ ...REFUND, microsPerUnit: 1 }] };

  test.each([
    [5, Number.MAX_SAFE_INTEGER],
    [6, "more was spent than can be counted"],
  ])("%d more", (amount, expected) => {
    const answer = ask(paying, { amount }, aLedger({ session: spent(0, nearly) }));
    expect(answer.refused ?? answer.ledger.session.payoutMicros).toBe(expected);
  });

  test("of a person, where only the task has a limit on it", () => {
    const budget = { ...paying, principal: { calls: 9, windowSeconds: 60 } };
    expect(ask(budget, { amount: 6 }, aLedger({ principal: spent(0, nearly) }))).toHaveProperty("refused");
  });
});

describe("what a call takes", () => {
  const principal = { calls: 9, windowSeconds: 60 };
  const budget = { session: { payoutMicros: DOLLARS_20 }, principal, payouts: [REFUND] };

  test("is in the ledger after it, and the one before does not change", () => {
    const before = Object.freeze(
      aLedger({ session: Object.freeze(spent(1, 5)), principal: Object.freeze(spent(2, 7)) }),
    );
    expect(ask(budget, { amount: 1 }, before)).toMatchObject({
      ledger: { session: spent(2, 1_000_005), principal: spent(3, 1_000_007) },
    });
    const { principal: _, ...ofSession } = budget;
    expect(ask(ofSession, { amount: 1 }, before)).toMatchObject({
      ledger: { session: spent(2, 1_000_005), principal: spent(2, 7) },
    });
    expect(before).toEqual({ session: spent(1, 5), principal: spent(2, 7) });
  });

  test.each([[{ payoutMicros: 8 }], [{ payoutMicros: 7, principalId: ALICE }]])(
    "is not given back twice: %j",
    (debit) => {
      expect(() => refundToolCall({ session: spent(1, 7), principal: spent(1, 6) }, debit)).toThrow(RangeError);
      expect(() => refundToolCall(aLedger(), {})).toThrow(RangeError);
    },
  );

  test("and what is given back: in any order, both ledgers are the sum of what ran", () => {
    const step = fc.oneof(
      fc.record({ amount: fc.constantFrom(0, 1.1, 0.29, 3, 1e-7, -1, 1e308, "20", 2 ** 53, 0.000001) }),
      fc.record({ refund: fc.nat(30) }),
    );
    const hasPrincipal = fc.boolean();
    fc.assert(
      fc.property(hasPrincipal, fc.array(step, { maxLength: 40 }), (hasPrincipal, steps) => {
        const { principal: _, ...ofSession } = budget;
        let ledger: Ledger = aLedger();
        const running: { payoutMicros: number; principalId?: string }[] = [];
        for (const step of steps) {
          if ("amount" in step) {
            const answer = ask(hasPrincipal ? budget : ofSession, { amount: step.amount }, ledger);
            if (answer.refused !== undefined) continue;
            ledger = answer.ledger;
            running.push({ payoutMicros: answer.payoutMicros, ...(hasPrincipal && { principalId: ALICE }) });
          } else {
            const [debit] = running.splice(step.refund % (running.length || 1), 1);
            if (debit) ledger = refundToolCall(ledger, debit);
          }
        }
        const sum = running.reduce(
          (sum, { payoutMicros }) => spent(sum.calls + 1, sum.payoutMicros + payoutMicros),
          spent(0),
        );
        expect(ledger).toEqual({ session: sum, principal: hasPrincipal ? sum : spent(0) });
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("a ledger that cannot be one", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an empty one", {}],
    ["only the session", { session: spent(0) }],
    ["only the principal", { principal: spent(0) }],
    ["negative calls", { session: spent(-1), principal: spent(0) }],
    ["negative money", { session: spent(0), principal: spent(0, -1) }],
    ["a fraction", { session: spent(0.5), principal: spent(0) }],
    ["NaN", { session: spent(0, Number.NaN), principal: spent(0) }],
    ["text", { session: { calls: "0", payoutMicros: "0" }, principal: spent(0) }],
    ["too large to be exact", { session: spent(0, 2 ** 53), principal: spent(0) }],
  ])("%s", (_name, ledger) => {
    expect(tryToolCall(ledger as never, { session: { calls: 9 } }, { tool: "t", args: {} })).toEqual({
      refused: "what was spent so far is not known",
    });
  });

  test("anything", () => {
    fc.assert(
      fc.property(anything, (value) => {
        for (const ledger of [
          value,
          { session: value, principal: spent(0) },
          { session: { calls: value, payoutMicros: 0 } },
        ]) {
          expect(tryToolCall(ledger as never, { session: { calls: 9 } }, { tool: "t", args: {} })).toHaveProperty(
            "refused",
          );
        }
      }),
    );
  });
});

describe("what a budget may be", () => {
  test("is copied and frozen", () => {
    const given = { session: { calls: 1 }, payouts: [{ ...REFUND }] };
    const budget = parseBudget(given);
    given.session.calls = 1000;
    expect(budget).toEqual({ session: { calls: 1 }, payouts: [REFUND] });
    expect([budget, budget.session, budget.payouts?.[0]].every(Object.isFrozen)).toBe(true);
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, ""],
    ["a number", 5, ""],
    ["an unknown field", { sessions: {} }, "sessions"],
    ["a negative limit", { session: { calls: -1 } }, "session.calls"],
    ["a fraction of a micro", { session: { payoutMicros: 0.5 } }, "session.payoutMicros"],
    ["a limit that is no number", { session: { calls: Number.NaN } }, "session.calls"],
    ["a limit as text", { session: { calls: "5" } }, "session.calls"],
    ["a window without end", { principal: { calls: 1 } }, "principal.windowSeconds"],
    ["a window of nothing", { principal: { calls: 1, windowSeconds: 0 } }, "principal.windowSeconds"],
    ["money that is worth nothing", { payouts: [{ ...REFUND, microsPerUnit: 0 }] }, "payouts[0].microsPerUnit"],
    ["money that is worth less", { payouts: [{ ...REFUND, microsPerUnit: -1 }] }, "payouts[0].microsPerUnit"],
    ["an own __proto__", Object.fromEntries([["__proto__", {}]]), ""],
  ])("not %s", (_name, value, path) => {
    expect(() => parseBudget(value)).toThrow(
      expect.objectContaining({
        code: "ERR_INVALID_OPTIONS",
        message: expect.stringContaining(`The budget is not valid: ${path}`),
      }),
    );
  });

  test("the one of the design", () => {
    const budget = {
      session: { calls: 50, payoutMicros: 20_000_000 },
      principal: { calls: 500, payoutMicros: 100_000_000, windowSeconds: 86_400 },
      payouts: [REFUND],
    };
    expect(budgetSchema.safeParse(budget).success).toBe(true);
  });
});
