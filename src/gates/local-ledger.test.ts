import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALICE, NOW } from "../../test/builders.ts";
import type { Budget } from "../core/index.ts";
import { type Account, LocalLedger } from "./local-ledger.ts";

const BUDGET: Budget = { principal: { calls: 5, windowSeconds: 60 } };
const NOTHING = { calls: 0, payoutMicros: 0 };

function aSession(): Account {
  return { calls: 0, payoutMicros: 0 };
}

describe("a ledger", () => {
  test("begins with nothing", () => {
    expect(new LocalLedger(BUDGET).read(aSession(), ALICE, NOW)).toEqual({ session: NOTHING, principal: NOTHING });
  });

  test("takes from session and person, and from no one else", () => {
    const ledger = new LocalLedger(BUDGET);
    const [one, two] = [aSession(), aSession()];
    ledger.debit(one, ALICE, { now: NOW, payoutMicros: 7 });
    ledger.debit(two, ALICE, { now: NOW, payoutMicros: 5 });
    expect(ledger.read(one, ALICE, NOW)).toEqual({
      session: { calls: 1, payoutMicros: 7 },
      principal: { calls: 2, payoutMicros: 12 },
    });
    expect(ledger.read(two, "bob@acme.dev", NOW)).toEqual({
      session: { calls: 1, payoutMicros: 5 },
      principal: NOTHING,
    });
  });

  test("what was read does not change later", () => {
    const ledger = new LocalLedger(BUDGET);
    const session = aSession();
    const before = ledger.read(session, ALICE, NOW);
    ledger.debit(session, ALICE, { now: NOW, payoutMicros: 7 });
    expect(before).toEqual({ session: NOTHING, principal: NOTHING });
  });

  test("people named like what objects inherit are people", () => {
    const ledger = new LocalLedger(BUDGET);
    for (const name of ["__proto__", "constructor"])
      expect(ledger.read(aSession(), name, NOW).principal).toEqual(NOTHING);
  });

  test("puts back exactly what was taken, once", () => {
    const amount = fc.nat(1e9);
    fc.assert(
      fc.property(fc.array(fc.tuple(amount, fc.nat(3)), { maxLength: 10 }), (debits) => {
        const ledger = new LocalLedger(BUDGET);
        const session = aSession();
        const kept = debits.filter(([, times]) => times === 0);
        const credits = debits.map(([payoutMicros, times]) => {
          const credit = ledger.debit(session, ALICE, { now: NOW, payoutMicros });
          return () => Array.from({ length: times }, credit);
        });
        for (const credit of credits) credit();
        const expected = { calls: kept.length, payoutMicros: kept.reduce((sum, [micros]) => sum + micros, 0) };
        expect(ledger.read(session, ALICE, NOW)).toEqual({ session: expected, principal: expected });
      }),
    );
  });
});

test("after any calls and refunds of two plans each ledger is the sum of what ran", () => {
  const step = fc.record({ plan: fc.nat(1), payout: fc.nat(1e6), refund: fc.option(fc.nat(20)), later: fc.nat(1) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const ledger = new LocalLedger({ principal: { windowSeconds: 3600 } });
      const sessions = [aSession(), aSession()] as const;
      const ran: { plan: number; payout: number; credit: () => void }[] = [];
      let now = NOW;
      for (const { plan, payout, refund, later } of steps) {
        now += later * 60;
        ran.push({ plan, payout, credit: ledger.debit(sessions[plan]!, ALICE, { now, payoutMicros: payout }) });
        const [back] = refund === null ? [] : ran.splice(refund % ran.length, 1);
        back?.credit();
        back?.credit();
      }
      const sum = (some: typeof ran): Account =>
        some.reduce(({ calls, payoutMicros }, one) => ({ calls: calls + 1, payoutMicros: payoutMicros + one.payout }), {
          calls: 0,
          payoutMicros: 0,
        });
      for (const [plan, session] of sessions.entries()) {
        expect(ledger.read(session, ALICE, now)).toEqual({
          session: sum(ran.filter((one) => one.plan === plan)),
          principal: sum(ran),
        });
      }
    }),
    { numRuns: 10_000 },
  );
});

describe("a window", () => {
  test("slides: each call leaves it by itself, after its seconds and at most a sixtieth of them more", () => {
    const ledger = new LocalLedger(BUDGET);
    const session = aSession();
    ledger.debit(session, ALICE, { now: NOW, payoutMicros: 1 });
    ledger.debit(session, ALICE, { now: NOW + 59, payoutMicros: 2 });
    const left = [0, 60, 61, 119, 120].map((later) => ledger.read(session, ALICE, NOW + later).principal.payoutMicros);
    expect(left).toEqual([3, 3, 2, 2, 0]);
    expect(ledger.read(session, ALICE, NOW + 1000).session).toEqual({ calls: 2, payoutMicros: 3 });
  });

  test("does not get back what has left it", () => {
    const ledger = new LocalLedger(BUDGET);
    const session = aSession();
    const credit = ledger.debit(session, ALICE, { now: NOW, payoutMicros: 7 });
    ledger.debit(session, ALICE, { now: NOW + 61, payoutMicros: 1 });
    credit();
    expect(ledger.read(session, ALICE, NOW + 61)).toEqual({
      session: { calls: 1, payoutMicros: 1 },
      principal: { calls: 1, payoutMicros: 1 },
    });
  });

  test("keeps what still counts of somebody, whoever calls after some of it has left", () => {
    const ledger = new LocalLedger(BUDGET);
    ledger.debit(aSession(), ALICE, { now: NOW, payoutMicros: 1 });
    ledger.debit(aSession(), ALICE, { now: NOW + 50, payoutMicros: 2 });
    ledger.debit(aSession(), "bob@acme.dev", { now: NOW + 70, payoutMicros: 4 });
    expect(ledger.read(aSession(), ALICE, NOW + 70).principal).toEqual({ calls: 1, payoutMicros: 2 });
  });

  test("does not begin again when the clock goes back", () => {
    const ledger = new LocalLedger(BUDGET);
    ledger.debit(aSession(), ALICE, { now: NOW, payoutMicros: 1 });
    expect(ledger.read(aSession(), ALICE, NOW - 1000).principal.calls).toBe(1);
  });
});

describe("memory", () => {
  test("is freed of people whose window has ended", () => {
    const ledger = new LocalLedger(BUDGET);
    for (let index = 0; index < 1000; index++) {
      ledger.debit(aSession(), `user-${index}@acme.dev`, { now: NOW + index, payoutMicros: 0 });
      ledger.debit(aSession(), ALICE, { now: NOW + index, payoutMicros: 0 });
    }
    expect(ledger.size).toBeLessThanOrEqual(62);
    expect(ledger.read(aSession(), "user-999@acme.dev", NOW + 999).principal.calls).toBe(1);
  });

  test.each([[undefined], [{ session: { calls: 1 } }]])("is not taken for people when %j limits none", (budget) => {
    const ledger = new LocalLedger(budget);
    const session = aSession();
    for (let index = 0; index < 10; index++) ledger.debit(session, `${index}@acme.dev`, { now: NOW, payoutMicros: 1 });
    ledger.read(session, ALICE, NOW);
    expect(ledger.size).toBe(0);
    expect(session).toEqual({ calls: 10, payoutMicros: 10 });
    ledger.debit(session, ALICE, { now: NOW, payoutMicros: 5 })();
    expect([ledger.size, session]).toEqual([0, { calls: 10, payoutMicros: 10 }]);
  });

  test("that was freed of a person stays so when their call is put back", () => {
    const ledger = new LocalLedger(BUDGET);
    const session = aSession();
    const credit = ledger.debit(session, ALICE, { now: NOW, payoutMicros: 7 });
    ledger.debit(aSession(), "bob@acme.dev", { now: NOW + 100, payoutMicros: 1 });
    credit();
    expect([ledger.size, session]).toEqual([1, NOTHING]);
  });
});
