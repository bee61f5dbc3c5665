import { beforeAll, describe, expect, test } from "vitest";
import {
  HOLD_OPENED_SIGNAL,
  HOLD_SIGNAL,
  type NewHold,
  type OpenedHold,
  type Store,
} from "../../src/server/store/index.ts";
import { ALICE, aPlan } from "../builders.ts";
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

    test("are read by their heads: what waits by its end, what is decided by when it was", async () => {
      const { agentId, apiKeyId } = await addPlan(store);
      plan = await addPlan(store, { agentId, apiKeyId, createdAt: NOW_MS - 7 });
      // Later than all that others have opened in this store: they are a part of their own.
      const later = NOW_MS + 10_000_000;
      const open = async (name: string, seq: number, expiresAt: number): Promise<string> => {
        const { hold } = await openHold({
          id: `${name} ${plan.id}`,
          decisionSeq: seq,
          digest: `sha256:${seq}`,
          expiresAt,
        });
        return hold!.id;
      };
      const a = await open("a", 1, later + 2);
      const c = await open("c", 2, later + 1);
      const b = await open("b", 3, later + 1);
      const over = await open("d", 4, later);
      const heads = async (request: object) => {
        const found = await store.holds.heads({ status: "pending", now: later, limit: 100, ...request });
        return found.filter(({ planId }) => planId === plan.id).map(({ id }) => id);
      };
      expect(await heads({})).toEqual([b, c, a]);
      expect(await heads({ after: { at: later + 1, id: b } })).toEqual([c, a]);
      expect(await heads({ after: { at: later + 1, id: c }, limit: 1 })).toEqual([a]);
      expect(await heads({ now: later - 1 })).toEqual([over, b, c, a]);

      const reject = { status: "rejected", by: BOB, comment: null } as const;
      await store.holds.decide(a, { ...reject, now: later - 3 });
      await store.holds.decide(b, { ...reject, now: later - 2 });
      await store.holds.decide(c, { ...reject, now: later - 2 });
      const rejected = { status: "rejected" };
      expect(await heads(rejected)).toEqual([c, b, a]);
      expect(await heads({ ...rejected, after: { at: later - 2, id: c } })).toEqual([b, a]);
      expect(await heads({ ...rejected, after: { at: later - 2, id: b }, limit: 1 })).toEqual([a]);

      const hold = (await store.holds.get(a))!;
      const { approvers, status, kind, createdAt, expiresAt, decidedAt, decidedBy } = hold;
      const ofPlan = { userEmail: ALICE, apiKeyId, status: "open", createdAt: NOW_MS - 7 };
      expect(await store.holds.head(a)).toEqual({
        ...{ id: a, kind, planId: plan.id, agentId, approvers, status, createdAt, expiresAt, decidedAt, decidedBy },
        plan: ofPlan,
        bytes: expect.any(Number),
      });
      expect(await store.holds.head("none")).toBeUndefined();
    });

    test("say how long what is left out of their heads is", async () => {
      await newPlan();
      const short = await openHold({ args: "" });
      const long = await openHold({ args: "é".repeat(100_000), decisionSeq: 2 });
      const bytesOf = async ({ hold }: OpenedHold): Promise<number> => (await store.holds.head(hold!.id))!.bytes;
      expect((await bytesOf(long)) - (await bytesOf(short))).toBe(200_000);
    });

    test("that were approved are found by agent and tool, the last first", async () => {
      await newPlan();
      const { agentId } = plan;
      const ids: string[] = [];
      for (const [seq, over] of [{}, { tool: "other" }, {}, {}].entries()) {
        const { hold } = await openHold({ decisionSeq: seq + 1, createdAt: NOW_MS + seq, ...over });
        ids.push(hold!.id);
        if (seq < 3) await store.holds.decide(hold!.id, anApproval());
      }
      const find = async (before: number, limit = 10): Promise<string[]> =>
        (await store.holds.approved({ agentId, tool: "send_money", before, limit })).map(({ id }) => id);
      expect(await find(NOW_MS + 9)).toEqual([ids[2], ids[0]]);
      expect(await find(NOW_MS + 2)).toEqual([ids[0]]);
      expect(await find(NOW_MS + 9, 1)).toEqual([ids[2]]);
    });

    test("are read many at once, and so is what is shown with them", async () => {
      await newPlan();
      const other = await addPlan(store);
      const opened = [await openHold({ decisionSeq: 1 }), await openHold({ decisionSeq: 2 })].map(({ hold }) => hold!);
      const byId = <Item extends { readonly id: string }>(items: readonly Item[]): Item[] =>
        items.toSorted((one, two) => (one.id < two.id ? -1 : 1));
      expect(byId(await store.holds.getAll([...opened.map(({ id }) => id), "none"]))).toEqual(byId(opened));
      const texts = byId(await store.plans.texts([plan.id, other.id, "none"]));
      const text = { userEmail: ALICE, task: { instruction: "Pay the rent" }, plan: aPlan() };
      expect(texts).toEqual(
        byId([
          { id: plan.id, ...text },
          { id: other.id, ...text },
        ]),
      );
      const agents = await store.agents.getAll([plan.agentId, other.agentId, "none"]);
      expect(new Set(agents.map(({ id }) => id))).toEqual(new Set([plan.agentId, other.agentId]));
      const keys = await store.apiKeys.listOf([plan.agentId, other.agentId, "none"]);
      expect(new Set(keys.map(({ id }) => id))).toEqual(new Set([plan.apiKeyId, other.apiKeyId]));
      for (const none of [
        store.holds.getAll([]),
        store.plans.texts([]),
        store.agents.getAll([]),
        store.apiKeys.listOf([]),
      ]) {
        expect(await none).toEqual([]);
      }
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
