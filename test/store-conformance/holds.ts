import { beforeAll, describe, expect, test } from "vitest";
import {
  HOLD_OPENED_SIGNAL,
  HOLD_SIGNAL,
  type NewHold,
  type OpenedHold,
  type Store,
} from "../../src/server/store/index.ts";
import { addPlan, aHold, anApproval, BOB, NOW_MS, type PlanInStore } from "../store-builders.ts";

/** Holds, from their opening to their claim. */
export function describeHolds(open: () => Promise<Store>): void {
  describe("holds", () => {
    let store: Store;
    let plan: PlanInStore;
    beforeAll(async () => {
      store = await open();
    });
    const openHold = (over: Partial<NewHold> = {}, maxHolds = 20): Promise<OpenedHold> =>
      store.holds.open(aHold(plan, over), { maxHolds });
    const newPlan = async (): Promise<void> => {
      plan = await addPlan(store);
    };

    test("come back as they were stored", async () => {
      await newPlan();
      const hold = aHold(plan, { args: { text: "\0 'x' 💥", ["__proto__"]: 1 }, ruleReason: null });
      const opened = await store.holds.open(hold, { maxHolds: 1 });
      expect(opened).toMatchObject({ outcome: "opened", hold: { ...hold, status: "pending", claimedAt: null } });
      expect(await store.holds.get(hold.id)).toEqual(opened.hold);
      expect(await store.holds.get("other")).toBeUndefined();
    });

    test("are one for each decision", async () => {
      await newPlan();
      const first = await openHold();
      expect(await openHold()).toEqual({ outcome: "existing", hold: first.hold });
      await store.holds.decide(first.hold!.id, { status: "rejected", by: BOB, comment: null, now: NOW_MS });
      expect(await openHold()).toMatchObject({ outcome: "existing", hold: { status: "rejected" } });
      expect(await store.plans.get(plan.id)).toMatchObject({ holdsCount: 1 });
    });

    test("are at most so many for a plan, whatever becomes of them", async () => {
      await newPlan();
      for (let seq = 1; seq <= 20; seq += 1) {
        const { outcome, hold } = await openHold({ decisionSeq: seq });
        expect(outcome).toBe("opened");
        await store.holds.decide(hold!.id, anApproval());
      }
      expect(await openHold({ decisionSeq: 21 })).toEqual({ outcome: "limit" });
    });

    test("of what was rejected in this plan are not opened again", async () => {
      await newPlan();
      const { hold } = await openHold();
      const again = { decisionSeq: 2 };
      expect(await openHold(again)).toMatchObject({ outcome: "opened" });
      await store.holds.decide(hold!.id, { status: "rejected", by: BOB, comment: "no", now: NOW_MS });
      expect(await openHold({ decisionSeq: 3 })).toEqual({ outcome: "rejected" });
      expect(await openHold({ decisionSeq: 3, digest: "sha256:other" })).toMatchObject({ outcome: "opened" });
      expect(await openHold({ decisionSeq: 4, fingerprint: "sha256:other" })).toMatchObject({ outcome: "opened" });
      await newPlan();
      expect(await openHold()).toMatchObject({ outcome: "opened" });
    });

    test("of a tool without fingerprint are compared too", async () => {
      await newPlan();
      const { hold } = await openHold({ fingerprint: null });
      await store.holds.decide(hold!.id, { status: "rejected", by: BOB, comment: null, now: NOW_MS });
      expect(await openHold({ fingerprint: null, decisionSeq: 2 })).toEqual({ outcome: "rejected" });
    });

    test("need a plan that is open, and of this agent", async () => {
      await newPlan();
      expect(await openHold({ agentId: "other" })).toEqual({ outcome: "plan_not_open" });
      expect(await openHold({ planId: "other" })).toEqual({ outcome: "plan_not_open" });
      expect(await openHold({ kind: "plan", decisionSeq: null })).toEqual({ outcome: "plan_not_open" });
      await store.plans.setStatus(plan.id, "revoked", { from: ["open"], now: NOW_MS });
      expect(await openHold()).toEqual({ outcome: "plan_not_open" });
    });

    test("of a plan are one", async () => {
      plan = await addPlan(store, { status: "pending" });
      const call = { callId: null, tool: null, fingerprint: null, args: undefined, step: null, rule: null };
      const ofPlan = { ...call, kind: "plan", decisionSeq: null } as const;
      expect(await openHold()).toEqual({ outcome: "plan_not_open" });
      const opened = await openHold(ofPlan);
      expect(opened).toMatchObject({ outcome: "opened", hold: { kind: "plan", args: undefined } });
      expect(await openHold(ofPlan)).toEqual({ outcome: "existing", hold: opened.hold });
    });

    test("are decided once, and in time", async () => {
      await newPlan();
      const { hold } = await openHold();
      expect(await store.holds.decide(hold!.id, anApproval(hold!.expiresAt))).toBeUndefined();
      const decided = await store.holds.decide(hold!.id, anApproval());
      expect(decided).toEqual({
        ...hold,
        status: "approved",
        decidedAt: NOW_MS,
        decidedBy: BOB,
        comment: "fine",
        approval: "token",
        approvalExpiresAt: NOW_MS + 60_000,
      });
      const reject = { status: "rejected", by: BOB, comment: null, now: NOW_MS } as const;
      expect(await store.holds.decide(hold!.id, reject)).toBeUndefined();
      expect(await store.holds.get(hold!.id)).toEqual(decided);
      expect(await store.holds.decide("other", reject)).toBeUndefined();
    });

    test("are claimed once, approved, and in time", async () => {
      await newPlan();
      const { hold } = await openHold();
      const { id } = hold!;
      expect(await store.holds.claim(id, NOW_MS)).toBe(false);
      await store.holds.decide(id, anApproval());
      expect(await store.holds.claim(id, NOW_MS + 60_000)).toBe(false);
      expect(await store.holds.claim(id, NOW_MS + 59_999)).toBe(true);
      expect(await store.holds.claim(id, NOW_MS)).toBe(false);
      expect(await store.holds.get(id)).toMatchObject({ claimedAt: NOW_MS + 59_999 });
      expect(await store.holds.claim("other", NOW_MS)).toBe(false);
    });

    test("expire, once, and only those that wait", async () => {
      await newPlan();
      const early = await openHold({ decisionSeq: 1, expiresAt: NOW_MS - 10 });
      const decided = await openHold({ decisionSeq: 2, expiresAt: NOW_MS - 5 });
      const late = await openHold({ decisionSeq: 3, expiresAt: NOW_MS - 1 });
      await store.holds.decide(decided.hold!.id, anApproval(NOW_MS - 6));
      expect(await store.holds.expire(NOW_MS - 11)).toEqual([]);
      const expired = await store.holds.expire(NOW_MS - 2);
      expect(expired).toEqual([{ ...early.hold, status: "expired", decidedAt: NOW_MS - 2 }]);
      expect(await store.holds.expire(NOW_MS - 2)).toEqual([]);
      expect(await store.holds.decide(early.hold!.id, anApproval(NOW_MS - 20))).toBeUndefined();
      expect(await store.holds.cancelOfPlan(plan.id, NOW_MS)).toMatchObject([{ id: late.hold!.id }]);
    });

    test("are listed newest first, in pages, by filters", async () => {
      await newPlan();
      const { agentId, id: planId } = plan;
      const ids = ["b", "c", "a"].map((name) => `${name} ${planId}`);
      for (const [seq, id] of ids.entries()) await openHold({ id, decisionSeq: seq + 1 });
      await store.holds.decide(ids[1]!, anApproval());
      const list = async (filter: object): Promise<string[]> =>
        (await store.holds.list({ planId, ...filter })).map(({ id }) => id);
      expect(await list({ agentId })).toEqual([ids[1], ids[0], ids[2]]);
      expect(await list({ agentId: "other" })).toEqual([]);
      expect(await list({ status: "pending" })).toEqual([ids[0], ids[2]]);
      expect(await list({ limit: 1, before: { createdAt: NOW_MS, id: ids[1] } })).toEqual([ids[0]]);
    });

    test("signal that they were opened to all instances, and not to those that wait for a decision", async () => {
      await newPlan();
      const other = await open();
      const missed: (string | undefined)[] = [];
      const stop = store.signals.listen(HOLD_SIGNAL, (id) => missed.push(id));
      const hold = aHold(plan);
      const heard = Promise.all([store, other].map((one) => listenForOpened(one, hold.id)));
      await store.holds.open(hold, { maxHolds: 1 });
      await heard;
      stop();
      expect(missed).not.toContain(hold.id);
    });

    test("signal every change to all instances", async () => {
      await newPlan();
      const other = await open();
      const opened = [await openHold({ decisionSeq: 1 }), await openHold({ decisionSeq: 2 })];
      const [decided, cancelled] = opened.map(({ hold }) => hold!.id) as [string, string];
      const here = listenFor(store, decided, cancelled);
      const there = listenFor(other, decided, cancelled);
      await store.holds.decide(decided, anApproval());
      await store.holds.cancelOfPlan(plan.id, NOW_MS);
      await here;
      await there;
    });
  });
}

/** Resolves when it was signalled that a hold was opened, or to look and it is there. */
async function listenForOpened(store: Store, id: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = async (): Promise<void> => {
    if (await store.holds.get(id)) resolve();
  };
  const stop = store.signals.listen(HOLD_OPENED_SIGNAL, (payload) => {
    if (payload === id) resolve();
    else if (payload === undefined) void look().catch(reject);
  });
  await promise.finally(stop);
}

/** Resolves when all of these holds were signalled, or it was signalled to look and they are decided. */
async function listenFor(store: Store, ...ids: readonly string[]): Promise<void> {
  const missing = new Set(ids);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = async (): Promise<void> => {
    for (const id of missing) if ((await store.holds.get(id))?.status !== "pending") missing.delete(id);
    if (missing.size === 0) resolve();
  };
  const stop = store.signals.listen(HOLD_SIGNAL, (id) => {
    if (id === undefined) return void look().catch(reject);
    missing.delete(id);
    if (missing.size === 0) resolve();
  });
  await promise.finally(stop);
}
