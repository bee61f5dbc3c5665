import { beforeAll, describe, expect, test } from "vitest";
import type { AuditEntry } from "../../src/core/index.ts";
import type { PlanAppend, PlanStatus, Store } from "../../src/server/store/index.ts";
import { ALICE } from "../builders.ts";
import { addAgent, addPlan, aHold, anAppend, anApproval, BOB, NOW_MS } from "../store-builders.ts";

/** Plans, their entries and their leases. */
export function describePlans(open: () => Promise<Store>): void {
  describe("plans", () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });

    test("come back as they were stored", async () => {
      const task = { instruction: 'Pay "it"; DROP TABLE plans --\0', material: "💥", earlier: ["before"] };
      const plan = await addPlan(store, { task, tools: { ["__proto__"]: "sha256:1" } });
      const stored = await store.plans.get(plan.id);
      expect(stored).toMatchObject({ task, userEmail: ALICE, status: "open", seq: 1, used: [0], openCalls: {} });
      expect(stored).toMatchObject({ createdAt: NOW_MS, tokenExpiresAt: NOW_MS + 900_000, head: plan.head.prev });
      expect(Object.keys(stored!.tools)).toEqual(["__proto__"]);
      expect(await store.plans.state(plan.id)).toMatchObject({ id: plan.id, seq: 1, spent: { calls: 0 } });
      expect(await store.plans.token(plan.jti)).toEqual({ planId: plan.id, token: `token ${plan.id}` });
      expect(await store.plans.get("other")).toBeUndefined();
      expect(await store.plans.state("other")).toBeUndefined();
      expect(await store.plans.token("other")).toBeUndefined();
    });

    test("move with what is appended", async () => {
      const plan = await addPlan(store);
      const append = anAppend(plan);
      expect(await store.plans.append(plan.id, append)).toBe(true);
      expect(await store.plans.state(plan.id)).toMatchObject({
        seq: 2,
        head: append.head,
        used: [1],
        spent: { calls: 1, payoutMicros: 5 },
        openCalls: { 1: { step: 0, payoutMicros: 5, at: NOW_MS } },
        status: "open",
      });
      const entries = await store.auditEntries.ofPlan(plan.id);
      expect(entries.map(({ entry }) => entry.seq)).toEqual([0, 1]);
      expect(entries[1]).toEqual({ entry: append.entries[0], receivedAt: NOW_MS, verdictCheck: null });
      expect(await store.auditEntries.ofPlan(plan.id, { fromSeq: 1 })).toHaveLength(1);
    });

    test.each<[string, Partial<PlanAppend>]>([
      ["the number is that of an append that was", { expectSeq: 0, entries: [] }],
      ["the number is one to come", { expectSeq: 2, entries: [] }],
      ["the plan has another status", { whileStatus: ["closed", "pending"] }],
      ["no status will do", { whileStatus: [] }],
      ["the hold to claim is none", { claimHoldId: "none" }],
    ])("stay as they are if %s", async (_, over) => {
      const plan = await addPlan(store);
      const before = await store.plans.get(plan.id);
      expect(await store.plans.append(plan.id, anAppend(plan, over))).toBe(false);
      expect(await store.plans.get(plan.id)).toEqual(before);
      expect(await store.auditEntries.ofPlan(plan.id)).toHaveLength(1);
    });

    test("take no entries but the next ones", async () => {
      const plan = await addPlan(store);
      const { entries } = anAppend(plan);
      const wrong: AuditEntry[][] = [
        [{ ...entries[0]!, planId: "other" }],
        [{ ...entries[0]!, seq: 2 }],
        [entries[0]!, entries[0]!],
      ];
      for (const some of wrong) {
        const append = anAppend(plan, { entries: some });
        await expect(store.plans.append(plan.id, append)).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
      }
      expect(await store.plans.append("other", { ...anAppend(plan), entries: [] })).toBe(false);
    });

    test("are closed, and later outcomes still come", async () => {
      const plan = await addPlan(store);
      const append = anAppend(plan, { event: { type: "closed" }, status: "closed" });
      expect(await store.plans.append(plan.id, append)).toBe(true);
      const outcome = { ...anAppend(plan), expectSeq: 2, entries: [] };
      expect(await store.plans.append(plan.id, outcome)).toBe(false);
      expect(await store.plans.append(plan.id, { ...outcome, whileStatus: ["open", "closed"] })).toBe(true);
      expect(await store.plans.state(plan.id)).toMatchObject({ status: "closed", seq: 2 });
    });

    test("get their tokens with the entries that say so", async () => {
      const plan = await addPlan(store, { status: "pending" });
      expect(await store.plans.state(plan.id)).toMatchObject({ status: "pending", tokenJti: null });
      const token = { jti: `first ${plan.id}`, token: "signed", expiresAt: NOW_MS + 1 };
      const append = anAppend(plan, { token });
      expect(await store.plans.append(plan.id, append)).toBe(false);
      expect(await store.plans.token(token.jti)).toBeUndefined();
      expect(await store.plans.append(plan.id, { ...append, whileStatus: ["pending"], status: "open" })).toBe(true);
      expect(await store.plans.get(plan.id)).toMatchObject({ status: "open", token: "signed", tokenJti: token.jti });
      expect(await store.plans.get(plan.id)).toMatchObject({ tokenExpiresAt: NOW_MS + 1 });
      expect(await store.plans.token(token.jti)).toEqual({ planId: plan.id, token: "signed" });
      const both = store.plans.append(plan.id, { ...append, claimHoldId: "x" });
      await expect(both).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    });

    test("claim a hold and move together, or neither", async () => {
      const plan = await addPlan(store);
      const other = await addPlan(store);
      const hold = aHold(plan);
      const foreign = aHold(other);
      for (const one of [hold, foreign]) await store.holds.open(one, { maxHolds: 1 });
      const claim = (over: Partial<PlanAppend> = {}): Promise<boolean> =>
        store.plans.append(plan.id, anAppend(plan, { claimHoldId: hold.id, ...over }));
      expect(await claim()).toBe(false);
      for (const one of [hold, foreign]) await store.holds.decide(one.id, anApproval());
      expect(await claim({ claimHoldId: foreign.id })).toBe(false);
      expect(await claim({ now: NOW_MS + 60_000 })).toBe(false);
      expect(await claim({ expectSeq: 2, entries: [] })).toBe(false);
      expect(await store.holds.get(hold.id)).toMatchObject({ claimedAt: null });
      expect(await claim()).toBe(true);
      expect(await store.holds.get(hold.id)).toMatchObject({ claimedAt: NOW_MS });
      expect(await store.holds.get(foreign.id)).toMatchObject({ claimedAt: null });
      expect(await claim({ expectSeq: 2, entries: [] })).toBe(false);
      expect(await store.holds.claim(hold.id, NOW_MS)).toBe(false);
    });

    test("change their status only from where it may be", async () => {
      const plan = await addPlan(store);
      const set = (status: PlanStatus, ...from: PlanStatus[]): Promise<boolean> =>
        store.plans.setStatus(plan.id, status, { from, now: NOW_MS });
      expect(await set("rejected", "pending")).toBe(false);
      expect(await set("revoked", "pending", "open")).toBe(true);
      expect(await set("revoked", "pending", "open")).toBe(false);
      expect(await store.plans.append(plan.id, anAppend(plan))).toBe(false);
    });

    test("are worked on by one holder at a time", async () => {
      const { id } = await addPlan(store);
      const take = (holder: string, now: number): Promise<boolean> =>
        store.plans.takeLease(id, { holder, now, until: now + 100 });
      expect(await take("one", NOW_MS)).toBe(true);
      expect(await take("one", NOW_MS + 50)).toBe(true);
      expect(await take("two", NOW_MS + 149)).toBe(false);
      expect(await store.plans.releaseLease(id, "two")).toBe(false);
      expect(await take("two", NOW_MS + 150)).toBe(true);
      expect(await store.plans.releaseLease(id, "one")).toBe(false);
      expect(await store.plans.releaseLease(id, "two")).toBe(true);
      expect(await store.plans.state(id)).toMatchObject({ leaseHolder: null, leaseUntil: null });
      expect(await store.plans.takeLease("other", { holder: "one", now: 0, until: 1 })).toBe(false);
    });

    test("are listed newest first, in pages, by filters", async () => {
      const owner = await addAgent(store);
      const ids = ["c", "a", "b"].map((name) => `${name} ${owner.agentId}`);
      // Two of them at the same time.
      const times = [NOW_MS, NOW_MS, NOW_MS + 1];
      for (const [index, id] of ids.entries()) await addPlan(store, { ...owner, id, createdAt: times[index]! });
      const { agentId } = owner;
      const list = async (filter: object): Promise<string[]> =>
        (await store.plans.list({ agentId, ...filter })).map(({ id }) => id);
      const [c, a, b] = ids as [string, string, string];
      expect(await list({})).toEqual([b, c, a]);
      expect(await list({ limit: 1 })).toEqual([b]);
      expect(await list({ limit: 1, before: { createdAt: NOW_MS + 1, id: b } })).toEqual([c]);
      expect(await list({ before: { createdAt: NOW_MS, id: c } })).toEqual([a]);
      await store.plans.setStatus(a, "revoked", { from: ["open"], now: NOW_MS + 9 });
      await store.plans.flag(c, { why: "never closed" });
      expect(await list({ status: "revoked" })).toEqual([a]);
      expect(await list({ flagged: true })).toEqual([c]);
      expect(await list({ flagged: false })).toEqual([b, a]);
      expect(await list({ idleSince: NOW_MS + 1 })).toEqual([c]);
      expect(await list({ userEmail: BOB })).toEqual([]);
      await store.plans.flag(c, null);
      expect(await list({ flagged: true })).toEqual([]);
      await expect(list({ limit: 1001 })).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
    });
  });

  describe("the last decisions of an agent", () => {
    test("come newest first with their tokens, and only under tokens of their own plans", async () => {
      const store = await open();
      const plan = await addPlan(store);
      const second = await addPlan(store, { agentId: plan.agentId, apiKeyId: plan.apiKeyId });
      const foreign = await addPlan(store);
      await store.plans.append(plan.id, anAppend(plan, { now: NOW_MS + 5, verdictChecks: ["recomputed"] }));
      await store.plans.append(second.id, anAppend(second, { now: NOW_MS + 9 }));
      // A client can name any token in the entries that it uploads.
      const stolen = { ...anAppend({ ...plan, jti: foreign.jti, head: { ...plan.head, seq: 2 } }), expectSeq: 2 };
      expect(await store.plans.append(plan.id, stolen)).toBe(true);
      const decisions = await store.auditEntries.lastDecisions(plan.agentId, 10);
      expect(decisions.map(({ entry, token, verdictCheck }) => [entry.planId, token, verdictCheck])).toEqual([
        [second.id, `token ${second.id}`, null],
        [plan.id, `token ${plan.id}`, "recomputed"],
      ]);
      expect(await store.auditEntries.lastDecisions(plan.agentId, 1)).toHaveLength(1);
    });
  });
}
