import { beforeAll, describe, expect, test } from "vitest";
import { generateSigningKey, verifyChain } from "../../src/core/index.ts";
import type { Store } from "../../src/server/store/index.ts";
import { tryToTake } from "../fixtures/take-calls.ts";
import { addAgent, addPlan, aHold, anAppend, anApproval, BOB, NOW_MS } from "../store-builders.ts";

/** What many do at once, over two instances on one database. */
export function describeConcurrency(open: () => Promise<Store>): void {
  describe("at once, over two instances,", () => {
    let stores: readonly Store[];
    beforeAll(async () => {
      stores = [await open(), await open()];
    });
    /** Does something so many times at once, on the instances in turn. */
    const atOnce = <T>(times: number, work: (store: Store, index: number) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: times }, (_, index) => work(stores[index % 2]!, index)));
    const count = (answers: readonly unknown[]): number => answers.filter(Boolean).length;

    test("64 calls take what a step has, and no more", async () => {
      const plan = await addPlan(stores[0]!);
      const taken = await atOnce(64, async (store) => {
        let answer = await tryToTake(store, plan.id, 10);
        while (answer === "late") answer = await tryToTake(store, plan.id, 10);
        return answer === "taken";
      });
      expect(count(taken)).toBe(10);
      expect(await stores[0]!.plans.state(plan.id)).toMatchObject({ used: [10], seq: 11 });
      const entries = (await stores[1]!.auditEntries.ofPlan(plan.id)).map(({ entry }) => entry);
      const { head } = verifyChain(entries, plan.id);
      expect(head?.prev).toBe((await stores[0]!.plans.state(plan.id))?.head);
    });

    test("64 appends to 64 plans all happen", async () => {
      const owner = await addAgent(stores[0]!);
      const plans = await atOnce(64, (store) => addPlan(store, owner));
      const appended = await atOnce(64, (store, index) =>
        store.plans.append(plans[index]!.id, anAppend(plans[index]!)),
      );
      expect(count(appended)).toBe(64);
    });

    test("one append of the same number happens", async () => {
      const plan = await addPlan(stores[0]!);
      expect(count(await atOnce(16, (store) => store.plans.append(plan.id, anAppend(plan))))).toBe(1);
      expect(await stores[0]!.auditEntries.ofPlan(plan.id)).toHaveLength(2);
    });

    test("one of many deciders wins, and one of many claims", async () => {
      const plan = await addPlan(stores[0]!);
      const { id } = (await stores[0]!.holds.open(aHold(plan), { maxHolds: 1 })).hold!;
      const decided = await atOnce(16, (store, index) =>
        store.holds.decide(
          id,
          index % 4 < 2 ? anApproval() : { status: "rejected", by: BOB, comment: null, now: NOW_MS },
        ),
      );
      expect(count(decided)).toBe(1);
      expect(await stores[1]!.holds.get(id)).toEqual(decided.find(Boolean));

      const other = aHold(plan, { decisionSeq: 2, digest: "sha256:other" });
      await stores[0]!.holds.open(other, { maxHolds: 2 });
      await stores[0]!.holds.decide(other.id, anApproval());
      expect(count(await atOnce(16, (store) => store.holds.claim(other.id, NOW_MS)))).toBe(1);
    });

    test("a hold is claimed by an append or by itself", async () => {
      for (let round = 0; round < 8; round += 1) {
        const plan = await addPlan(stores[0]!);
        const { id } = (await stores[0]!.holds.open(aHold(plan), { maxHolds: 1 })).hold!;
        await stores[0]!.holds.decide(id, anApproval());
        const claims = await atOnce(6, (store, index) =>
          index < 3 ? store.holds.claim(id, NOW_MS) : store.plans.append(plan.id, anAppend(plan, { claimHoldId: id })),
        );
        expect(count(claims)).toBe(1);
        // If no append has claimed, none has happened.
        const moved = claims.slice(3).some(Boolean);
        expect(await stores[0]!.plans.state(plan.id)).toMatchObject({ seq: moved ? 2 : 1 });
      }
    });

    test("a plan gets as many holds as it may, and a decision one", async () => {
      const plan = await addPlan(stores[0]!);
      const opened = await atOnce(30, (store, index) =>
        store.holds.open(aHold(plan, { decisionSeq: index + 1 }), { maxHolds: 20 }),
      );
      expect(opened.filter(({ outcome }) => outcome === "opened")).toHaveLength(20);
      expect(opened.filter(({ outcome }) => outcome === "limit")).toHaveLength(10);
      const second = await addPlan(stores[0]!);
      const same = await atOnce(8, (store) => store.holds.open(aHold(second), { maxHolds: 20 }));
      expect(new Set(same.map(({ hold }) => hold?.id)).size).toBe(1);
      expect(same.filter(({ outcome }) => outcome === "opened")).toHaveLength(1);
    });

    test("a hold expires once", async () => {
      const plan = await addPlan(stores[0]!);
      for (let seq = 1; seq <= 10; seq += 1) {
        await stores[0]!.holds.open(aHold(plan, { decisionSeq: seq, expiresAt: NOW_MS - 1 }), { maxHolds: 20 });
      }
      const expired = (await atOnce(6, (store) => store.holds.expire(NOW_MS))).flat().map(({ id }) => id);
      expect(expired).toHaveLength(10);
      expect(new Set(expired).size).toBe(10);
    });

    test("policies get one number each", async () => {
      const { agentId } = await addAgent(stores[0]!);
      const policy = { agentId, text: "", createdAt: NOW_MS, createdBy: BOB, comment: null };
      const pushed = await atOnce(16, (store) => store.policies.push(policy));
      expect(pushed.map((one) => one!.version).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 16 }, (_, i) => i + 1),
      );
    });

    test("a name is taken once, a link used once, a plan leased once", async () => {
      const { agentId } = await addAgent(stores[0]!);
      const created = await atOnce(8, (store, index) =>
        store.agents.create({ id: `${index} ${agentId}`, name: `same ${agentId}`, settings: {}, createdAt: 0 }),
      );
      expect(count(created)).toBe(1);
      const email = "erin@acme.dev";
      await stores[0]!.people.upsert({ email, roles: [], groups: [], createdAt: 0, disabledAt: null });
      await stores[0]!.signIn.addLink({ hash: agentId, email, createdAt: 0, createdBy: email, expiresAt: NOW_MS + 1 });
      expect(count(await atOnce(8, (store) => store.signIn.useLink(agentId, NOW_MS)))).toBe(1);
      const { id } = await addPlan(stores[0]!);
      const leased = await atOnce(8, (store, index) =>
        store.plans.takeLease(id, { holder: `${index}`, until: NOW_MS + 1, now: NOW_MS }),
      );
      expect(count(leased)).toBe(1);
    });

    test("rate limits count every hit", async () => {
      const hits = await atOnce(32, (store) => store.rateLimits.hit("many", 60, NOW_MS));
      expect(hits.sort((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, i) => i + 1));
    });

    test("a delivery is taken once", async () => {
      const [store] = stores as [Store, Store];
      const plan = await addPlan(store);
      const { agentId, id } = plan;
      for (let index = 0; index < 10; index += 1) {
        const names = { id: `${index} ${id}`, agentId, url: "https://acme.dev", secret: "s" };
        const events = ["hold.pending"] as const;
        await store.webhooks.create({ ...names, events, createdAt: NOW_MS });
      }
      await store.holds.open(aHold(plan), { maxHolds: 1 });
      const taken = await atOnce(8, (one) => one.webhooks.takeDue({ now: NOW_MS, limit: 2, leaseMs: 1000 }));
      expect(taken.every((some) => some.length <= 2)).toBe(true);
      const rest = await store.webhooks.takeDue({ now: NOW_MS, limit: 100, leaseMs: 1000 });
      const ids = [...taken.flat(), ...rest].map((one) => one.id);
      expect(ids).toHaveLength(10);
      expect(new Set(ids).size).toBe(10);
    });

    test("administrators' entries make one chain", async () => {
      const event = { at: NOW_MS, actor: BOB, action: "test", target: "t", details: {} };
      const before = (await stores[0]!.adminAudit.list({ limit: 1 }))[0]?.seq ?? -1;
      const entries = await atOnce(16, (store, index) => store.adminAudit.append({ ...event, details: { index } }));
      expect(new Set(entries.map(({ seq }) => seq)).size).toBe(16);
      expect(await stores[1]!.adminAudit.verify()).toMatchObject({ count: before + 17 });
    });

    test("the first key is one, and a rotation is one", async () => {
      const keys = await atOnce(8, generateSigningKey);
      const first = await atOnce(8, (store, index) =>
        store.signingKeys.addFirst({ key: keys[index]!, createdAt: NOW_MS, signsFrom: NOW_MS }),
      );
      // Another test may have been first.
      expect(count(first)).toBeLessThanOrEqual(1);
      const before = await stores[0]!.signingKeys.list();
      const next = await atOnce(8, () => generateSigningKey());
      const rotated = await atOnce(8, async (store, index) => {
        const key = { key: next[index]!, createdAt: NOW_MS, signsFrom: NOW_MS + 5 };
        return (await store.signingKeys.rotate(key, { retireOthersAt: NOW_MS + 900 })) ? next[index]!.kid : undefined;
      });
      const added = rotated.filter((kid) => kid !== undefined);
      expect(added.length).toBeGreaterThanOrEqual(1);
      const after = await stores[1]!.signingKeys.list();
      expect(
        after
          .map(({ kid }) => kid)
          .slice(before.length)
          .sort(),
      ).toEqual(added.sort());
    });
  });
}
