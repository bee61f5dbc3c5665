import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addToWindow, EMPTY_WINDOW, sumWindow } from "../../src/core/sliding-window.ts";
import type { LedgerChange, PrincipalLedger, Store } from "../../src/server/store/index.ts";
import { ALICE, NOW } from "../builders.ts";
import { addAgent, addPlan, aHold, anAppend, anApproval, BOB, NOW_MS, type Owner } from "../store-builders.ts";
import type { TestDatabase } from "../stores.ts";

/** What people have taken, together with the plans that took it. */
export function describePrincipalLedgers(database: () => TestDatabase): void {
  describe("ledgers of people", () => {
    let stores: readonly [Store, Store];
    let store: Store;
    beforeAll(async () => {
      stores = [await database().open(), await database().open()];
      [store] = stores;
    });
    // Two pools of connections more than a database of tests may have room for.
    afterAll(() => Promise.all(stores.map((one) => one.close())));

    test("begin empty, and a look makes none", async () => {
      const owner = await addAgent(store);
      const alice = { agentId: owner.agentId, userEmail: ALICE };
      expect(await store.principalLedgers.get(alice)).toEqual({ version: 0, window: EMPTY_WINDOW });
      const plan = await addPlan(store, owner);
      expect(await store.plans.append(plan.id, anAppend(plan, { ledger: aDebit() }))).toBe(false);
      expect(await store.principalLedgers.open(alice, NOW_MS)).toEqual({ version: 0, window: EMPTY_WINDOW });
      expect(await store.plans.append(plan.id, anAppend(plan, { ledger: aDebit() }))).toBe(true);
      expect(await store.principalLedgers.open(alice, NOW_MS)).toEqual({ version: 1, window: aDebit().window });
    });

    test("are of one person with one agent", async () => {
      const { owner, plan } = await aPlanWithLedger(store);
      const other = await addAgent(store);
      for (const principal of [
        { agentId: owner.agentId, userEmail: BOB },
        { agentId: other.agentId, userEmail: ALICE },
      ]) {
        await store.principalLedgers.open(principal, NOW_MS);
        expect((await store.principalLedgers.get(principal)).version).toBe(0);
      }
      expect(await store.plans.append(plan.id, anAppend(plan, { ledger: aDebit() }))).toBe(true);
      for (const [agentId, userEmail, version] of [
        [owner.agentId, ALICE, 1],
        [owner.agentId, BOB, 0],
        [other.agentId, ALICE, 0],
      ] as const) {
        expect((await store.principalLedgers.get({ agentId, userEmail })).version).toBe(version);
      }
    });

    test("change with the plan or not at all", async () => {
      const { owner, plan } = await aPlanWithLedger(store);
      const before = await ledgerOf(store, owner);
      const failing = [
        anAppend(plan, { ledger: { ...aDebit(), expectVersion: 1 } }),
        anAppend(plan, { ledger: aDebit(), whileStatus: ["closed"] }),
        anAppend(plan, { ledger: aDebit(), apiKeyId: "another" }),
        anAppend(plan, { ledger: aDebit(), claimHoldId: "none" }),
        { ...anAppend(plan, { ledger: aDebit() }), expectSeq: 2, entries: [] },
      ];
      for (const append of failing) expect(await store.plans.append(plan.id, append)).toBe(false);
      expect(await ledgerOf(store, owner)).toEqual(before);
      expect(await store.plans.state(plan.id)).toMatchObject({ seq: 1, used: [0] });
      const token = { jti: "new", token: "t", expiresAt: NOW_MS };
      await expect(store.plans.append(plan.id, anAppend(plan, { ledger: aDebit(), token }))).rejects.toMatchObject({
        code: "ERR_AUDIT_WRITE",
      });
    });

    test("change together with the claim of a hold", async () => {
      const { owner, plan } = await aPlanWithLedger(store);
      const { id } = (await store.holds.open(aHold(plan), { maxHolds: 1 })).hold!;
      await store.holds.decide(id, anApproval());
      const late = { ...aDebit(), expectVersion: 7 };
      expect(await store.plans.append(plan.id, anAppend(plan, { ledger: late, claimHoldId: id }))).toBe(false);
      expect((await store.holds.get(id))?.claimedAt).toBeNull();
      expect(await store.plans.append(plan.id, anAppend(plan, { ledger: aDebit(), claimHoldId: id }))).toBe(true);
      expect((await store.holds.get(id))?.claimedAt).toBe(NOW_MS);
      expect(await ledgerOf(store, owner)).toMatchObject({ version: 1 });
    });

    test("of 16 plans that take at once from two instances, one takes; and all do in the end", async () => {
      const { owner } = await aPlanWithLedger(store);
      const plans = await Promise.all(Array.from({ length: 16 }, () => addPlan(store, owner)));
      const first = await Promise.all(
        plans.map((plan, index) => stores[index % 2]!.plans.append(plan.id, anAppend(plan, { ledger: aDebit() }))),
      );
      expect(first.filter(Boolean)).toHaveLength(1);
      const rest = plans.filter((_, index) => !first[index]);
      await Promise.all(
        rest.map(async (plan, index) => {
          const own = stores[index % 2]!;
          for (;;) {
            const ledger = aDebit(await ledgerOf(own, owner));
            if (await own.plans.append(plan.id, anAppend(plan, { ledger }))) return;
          }
        }),
      );
      const { version, window } = await ledgerOf(store, owner);
      expect([version, sumWindow(window, 60, NOW)]).toEqual([16, { calls: 16, payoutMicros: 80 }]);
    });

    test.each([
      "",
      "null",
      "{}",
      '{"slots":[{"end":1,"calls":-5,"payoutMicros":0}],"keepSeconds":60,"keepUntil":0}',
      '{"slots":[{"end":1,"calls":"0","payoutMicros":0}],"keepSeconds":60,"keepUntil":0}',
      '{"slots":[],"keepSeconds":60}',
    ])("that are damaged are not read as empty: %s", async (text) => {
      const { owner } = await aPlanWithLedger(store);
      await database().tamper(`UPDATE principal_ledgers SET ledger = '${text}' WHERE agent_id = '${owner.agentId}'`);
      await expect(ledgerOf(store, owner)).rejects.toMatchObject({ code: "ERR_STORE" });
    });
  });
}

async function aPlanWithLedger(store: Store) {
  const owner = await addAgent(store);
  await store.principalLedgers.open({ agentId: owner.agentId, userEmail: ALICE }, NOW_MS);
  return { owner, plan: await addPlan(store, owner) };
}

async function ledgerOf(store: Store, { agentId }: Owner): Promise<PrincipalLedger> {
  return await store.principalLedgers.get({ agentId, userEmail: ALICE });
}

/** What {@link anAppend} takes. */
function aDebit({ version, window }: PrincipalLedger = { version: 0, window: EMPTY_WINDOW }): LedgerChange {
  const taken = { windowSeconds: 60, now: NOW, payoutMicros: 5 };
  return { expectVersion: version, window: addToWindow(window, taken).window };
}
