import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { answerOf } from "../../src/core/audit.ts";
import { type AuditEvent, chainEntry, type DecisionRecord } from "../../src/core/index.ts";
import type {
  DecisionFilter,
  DecisionPlace,
  DecisionsRequest,
  ListedDecision,
  Store,
} from "../../src/server/store/index.ts";
import { ALICE } from "../builders.ts";
import {
  aDecision,
  addAgent,
  addPlan,
  aHold,
  anApproval,
  appendEvents,
  BOB,
  NOW_MS,
  type PlanInStore,
} from "../store-builders.ts";

const MAX_BYTES = 1_000_000;

/** The decisions of all plans: filtered, in parts, and counted. */
export function describeHistory(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });

  function decided(plan: PlanInStore, over: Partial<DecisionRecord> = {}): DecisionRecord {
    return { ...(aDecision(plan) as DecisionRecord), ...over };
  }

  async function list(request: Partial<DecisionsRequest>): Promise<string[]> {
    const { decisions } = await store.auditEntries.decisions({ limit: 100, maxBytes: MAX_BYTES, ...request });
    return decisions.map(({ entry }) => (entry.event as DecisionRecord).callId);
  }

  describe("the history", () => {
    let plan: PlanInStore;
    let other: PlanInStore;
    beforeAll(async () => {
      plan = await addPlan(store);
      other = await addPlan(store, { agentId: plan.agentId, apiKeyId: plan.apiKeyId, userEmail: BOB });
      await appendEvents(store, plan, [
        decided(plan, { callId: "allowed" }),
        { type: "outcome", decisionSeq: 1, status: "ok" },
        decided(plan, { callId: "blocked", verdict: "block", reason: "call_limit" }),
        decided(plan, { callId: "overruled", answer: "invalid_args" }),
        decided(plan, { callId: "held", verdict: "hold", tool: "post_comment" }),
        decided(plan, { callId: "hostile", verdict: "block", reason: "invalid_call", tool: "\0'; DROP" }),
        { type: "closed" },
      ]);
      await appendEvents(store, other, [decided(other, { callId: "of bob" })], { now: NOW_MS + 10 });
    });

    test("has what decisions are looked for by, as the calls were answered", async () => {
      const { agentId } = plan;
      const rows: [Partial<DecisionsRequest>, string[]][] = [
        [{}, ["of bob", "hostile", "held", "overruled", "blocked", "allowed"]],
        [{ userEmail: BOB }, ["of bob"]],
        [{ userEmail: ALICE, verdict: "allow" }, ["allowed"]],
        [{ verdict: "block" }, ["hostile", "overruled", "blocked"]],
        [{ verdict: "hold" }, ["held"]],
        [{ reason: "call_limit" }, ["blocked"]],
        [{ reason: "invalid_args" }, ["overruled"]],
        [{ tool: "post_comment" }, ["held"]],
        [{ tool: "send_money", verdict: "block" }, ["overruled", "blocked"]],
        [{ from: NOW_MS + 4 }, ["of bob", "hostile", "held"]],
        [{ to: NOW_MS + 3 }, ["blocked", "allowed"]],
        [{ from: NOW_MS + 3, to: NOW_MS + 4 }, ["overruled"]],
        [{ from: NOW_MS + 4, to: NOW_MS + 4 }, []],
        [{ tool: "none" }, []],
        [{ userEmail: "nobody@acme.dev" }, []],
      ];
      for (const [filter, expected] of rows)
        expect([filter, await list({ agentId, ...filter })]).toEqual([filter, expected]);
      expect(await list({ agentId: "none" })).toEqual([]);
    });

    test("comes back whole, with whose it is", async () => {
      const { decisions } = await store.auditEntries.decisions({
        agentId: plan.agentId,
        reason: "call_limit",
        limit: 1,
        maxBytes: MAX_BYTES,
      });
      const [entry] = await store.auditEntries.ofPlan(plan.id, { fromSeq: 3, limit: 1 });
      expect(decisions).toEqual([{ ...entry, agentId: plan.agentId, userEmail: ALICE }]);
    });

    test("has the verdict of what a client decided", async () => {
      const own = await addPlan(store);
      await appendEvents(store, own, [decided(own)], { verdictChecks: ["differs"] });
      const part = await store.auditEntries.decisions({ agentId: own.agentId, limit: 1, maxBytes: MAX_BYTES });
      expect(part).toMatchObject({ decisions: [{ verdictCheck: "differs" }], hasMore: false });
    });

    test("has decisions that were there when a plan began", async () => {
      const id = randomUUID();
      const { entry } = chainEntry({ planId: id, seq: 0, prev: null }, decided({ ...plan, id }), { at: NOW_MS });
      const { agentId } = await addPlan(store, { id, entries: [entry] });
      expect(await list({ agentId, tool: "send_money", userEmail: ALICE })).toEqual(["call"]);
    });

    test.each([1, 2, 3, 4, 5, 100])("comes in parts of %i, each decision once", async (limit) => {
      const owner = await addAgent(store);
      const all: string[] = [];
      // Two plans, and several decisions at the same time.
      for (const name of ["a", "b"]) {
        const one = await addPlan(store, { ...owner, id: `${name} ${randomUUID()}` });
        const calls = ["1", "2", "3"].map((call) => `${name}${call}`);
        const entries: AuditEvent[] = calls.map((callId) => decided(one, { callId }));
        let { head } = one;
        const chained = entries.map((event) => {
          const next = chainEntry(head, event, { at: NOW_MS });
          head = next.head;
          return next.entry;
        });
        const state = { used: [0], spent: { calls: 0, payoutMicros: 0 }, openCalls: {}, now: NOW_MS };
        await store.plans.append(one.id, { expectSeq: 1, entries: chained, head: head.prev, ...state });
        all.unshift(...calls.reverse());
      }
      const found: string[] = [];
      let request: DecisionsRequest = { agentId: owner.agentId, limit, maxBytes: MAX_BYTES };
      for (;;) {
        const { decisions, hasMore } = await store.auditEntries.decisions(request);
        expect(decisions.length).toBeLessThanOrEqual(limit);
        found.push(...decisions.map(({ entry }) => (entry.event as DecisionRecord).callId));
        const last = decisions.at(-1);
        if (!hasMore || !last) break;
        const { planId, seq } = last.entry;
        request = { ...request, before: { receivedAt: last.receivedAt, planId, seq } };
      }
      expect(found).toEqual(all);
    });

    test("is what a list of all decisions says, for any filter and in parts of any length", async () => {
      const owners = [await addAgent(store), await addAgent(store)];
      const emails = ["one@acme.dev", "two@acme.dev"];
      const all: ListedDecision[] = [];
      for (let index = 0; index < 8; index++) {
        const userEmail = emails[index % 2]!;
        const own = await addPlan(store, { ...owners[index % 3 === 0 ? 0 : 1]!, userEmail });
        const events = Array.from({ length: 6 }, (_, call) =>
          decided(own, {
            tool: ["a", "b"][call % 2]!,
            ...[{}, { verdict: "hold" as const }, { verdict: "block" as const, reason: "x" }, { answer: "y" }][
              call % 4
            ],
          }),
        );
        await appendEvents(store, own, events, { now: NOW_MS + (index % 4) * 2 });
        const entries = await store.auditEntries.ofPlan(own.id, { fromSeq: 1 });
        all.push(...entries.map((entry) => ({ ...entry, agentId: own.agentId, userEmail })));
      }
      const agentIds = owners.map(({ agentId }) => agentId);
      const newestFirst = (one: ListedDecision, other: ListedDecision): number =>
        other.receivedAt - one.receivedAt ||
        (one.entry.planId < other.entry.planId ? 1 : one.entry.planId > other.entry.planId ? -1 : 0) ||
        other.entry.seq - one.entry.seq;
      const isWanted = ({ entry, agentId, userEmail, receivedAt }: ListedDecision, filter: DecisionFilter): boolean => {
        const { verdict, reason } = answerOf(entry.event as DecisionRecord);
        const has = { agentId, userEmail, tool: (entry.event as DecisionRecord).tool, verdict, reason };
        const { from = 0, to = Number.MAX_SAFE_INTEGER, ...equal } = filter;
        const isIn = receivedAt >= from && receivedAt < to;
        return isIn && Object.entries(equal).every(([field, value]) => has[field as keyof typeof has] === value);
      };
      const moment = fc.integer({ min: NOW_MS - 1, max: NOW_MS + 14 });
      const filters = fc.record(
        {
          userEmail: fc.constantFrom(...emails, "none@acme.dev"),
          tool: fc.constantFrom("a", "b", "c"),
          verdict: fc.constantFrom("allow" as const, "hold" as const, "block" as const),
          reason: fc.constantFrom("x", "y", "z"),
          from: moment,
          to: moment,
        },
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(
          filters,
          fc.constantFrom(...agentIds),
          fc.integer({ min: 1, max: 30 }),
          async (some, agentId, limit) => {
            const filter = { ...some, agentId };
            const found: ListedDecision[] = [];
            let before: DecisionPlace | undefined;
            for (let isLast = false; !isLast; ) {
              const part = await store.auditEntries.decisions({
                ...filter,
                limit,
                maxBytes: MAX_BYTES,
                ...(before && { before }),
              });
              found.push(...part.decisions);
              const last = part.decisions.at(-1);
              isLast = !part.hasMore || !last;
              if (last) before = { receivedAt: last.receivedAt, planId: last.entry.planId, seq: last.entry.seq };
            }
            expect(found).toEqual(all.filter((one) => isWanted(one, filter)).sort(newestFirst));
          },
        ),
        { numRuns: 60 },
      );
    });

    test("ends a part with the entry that is too much for it, and has one at least", async () => {
      const own = await addPlan(store);
      const args = { text: "x".repeat(10_000) };
      await appendEvents(
        store,
        own,
        ["1", "2", "3", "4"].map((callId) => decided(own, { callId, args })),
      );
      const part = async (maxBytes: number) => {
        const given = { agentId: own.agentId, limit: 3, maxBytes };
        const { decisions, hasMore } = await store.auditEntries.decisions(given);
        return [decisions.length, hasMore];
      };
      expect(await part(1)).toEqual([1, true]);
      expect(await part(15_000)).toEqual([2, true]);
      expect(await part(1_000_000)).toEqual([3, true]);
      expect(await store.auditEntries.sizesOfPlan(own.id, { fromSeq: 3, limit: 2 })).toEqual(
        (await store.auditEntries.ofPlan(own.id, { fromSeq: 3 })).map(({ entry }) => JSON.stringify(entry).length),
      );
    });

    test.each([0, 1001, 1.5])("refuses a part of %d", async (limit) => {
      await expect(list({ limit })).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
    });

    test("is counted by part, reason and tool", async () => {
      const { agentId } = plan;
      const counts = await store.auditEntries.counts({ from: NOW_MS, partMs: 5, parts: 3, agentId });
      expect([...counts.parts].sort()).toEqual([
        [0, { allow: 1, hold: 1, block: 2 }],
        [1, { allow: 0, hold: 0, block: 1 }],
        [2, { allow: 1, hold: 0, block: 0 }],
      ]);
      expect(counts.reasons).toEqual([
        { reason: "call_limit", count: 1 },
        { reason: "invalid_args", count: 1 },
        { reason: "invalid_call", count: 1 },
      ]);
      expect(counts.tools).toEqual([
        { tool: "send_money", allow: 2, hold: 0, block: 2 },
        { tool: "post_comment", allow: 0, hold: 1, block: 0 },
      ]);
      const later = await store.auditEntries.counts({ from: NOW_MS + 9, partMs: 1, parts: 1, agentId });
      expect(later).toEqual({ parts: new Map(), reasons: [], tools: [] });
      const all = await store.auditEntries.counts({ from: NOW_MS, partMs: 1000, parts: 1 });
      expect(all.parts.get(0)?.allow).toBeGreaterThan(2);
    });

    test("is counted with the twenty most frequent names", async () => {
      const own = await addPlan(store);
      const names = Array.from({ length: 25 }, (_, index) => `tool_${String(index).padStart(2, "0")}`);
      const events = names.map((tool) => decided(own, { tool, verdict: "block", reason: tool.replace("_", "-") }));
      await appendEvents(store, own, [...events, events[24]!]);
      const { agentId } = own;
      const { tools, reasons } = await store.auditEntries.counts({ from: NOW_MS, partMs: 1000, parts: 1, agentId });
      expect(tools.map(({ tool }) => tool)).toEqual(["tool_24", ...names.slice(0, 19)]);
      expect(reasons[0]).toEqual({ reason: "tool-24", count: 2 });
      expect(reasons).toHaveLength(20);
    });
  });

  describe("what somebody should look at", () => {
    test("is counted: holds that wait, of all agents or of one", async () => {
      const plan = await addPlan(store);
      const { agentId } = plan;
      const before = await store.holds.countPending({ now: NOW_MS });
      for (const decisionSeq of [1, 2, 3]) await store.holds.open(aHold(plan, { decisionSeq }), { maxHolds: 9 });
      const [first] = await store.holds.headsOf(plan.id);
      await store.holds.decide(first!.id, anApproval());
      expect(await store.holds.countPending({ now: NOW_MS })).toBe(before + 2);
      expect(await store.holds.countPending({ now: NOW_MS, agentId })).toBe(2);
      expect(await store.holds.countPending({ now: NOW_MS + 300_000, agentId })).toBe(0);
    });

    test("is counted: plans that are flagged, without those that were revoked", async () => {
      const owner = await addAgent(store);
      const { agentId } = owner;
      const plans: PlanInStore[] = [];
      for (const index of [0, 1, 2, 3]) plans.push(await addPlan(store, { ...owner, createdAt: NOW_MS + index }));
      for (const { id } of plans.slice(1)) await store.plans.flag(id, { kind: "never_closed" });
      await store.plans.setStatus(plans[3]!.id, "revoked", { from: ["open"], now: NOW_MS });
      expect(await store.plans.countFlagged({ from: NOW_MS, agentId })).toBe(2);
      expect(await store.plans.countFlagged({ from: NOW_MS + 2, agentId })).toBe(1);
      expect(await store.plans.countFlagged({ from: NOW_MS })).toBeGreaterThanOrEqual(2);
      expect(await store.plans.countFlagged({ agentId })).toBe(2);
    });

    test("has the plans that are flagged, newest first, in parts", async () => {
      const owner = await addAgent(store);
      const { agentId } = owner;
      const ids: string[] = [];
      for (const index of [0, 0, 1, 2, 3]) {
        const { id } = await addPlan(store, { ...owner, createdAt: NOW_MS + index });
        await store.plans.flag(id, { kind: "never_closed", at: index });
        ids.unshift(id);
      }
      await store.plans.setStatus(ids[0]!, "revoked", { from: ["open"], now: NOW_MS });
      await store.plans.flag(ids[1]!, null);
      const [first, ...rest] = await store.plans.listFlagged({ agentId });
      expect(first).toMatchObject({
        id: ids[2],
        agentId,
        userEmail: ALICE,
        status: "open",
        createdAt: NOW_MS + 1,
        flagged: { kind: "never_closed", at: 1 },
      });
      const ofOneMoment = ids.slice(3).toSorted().toReversed();
      expect(rest.map(({ id }) => id)).toEqual(ofOneMoment);
      const listed: string[] = [];
      for (let before: (typeof rest)[number] | undefined; ; ) {
        const [next] = await store.plans.listFlagged({ agentId, limit: 1, ...(before && { before }) });
        if (!next) break;
        listed.push(next.id);
        before = next;
      }
      expect(listed).toEqual([ids[2], ...ofOneMoment]);
      expect(await store.plans.listFlagged({ agentId, from: NOW_MS + 1 })).toEqual([first]);
      expect(await store.plans.listFlagged({ agentId: "none" })).toEqual([]);
    });

    test("of a plan are all its holds, its own first, then in the order of its calls", async () => {
      const plan = await addPlan(store, { status: "pending" });
      const call = { decisionSeq: null, callId: null, tool: null, fingerprint: null, args: undefined };
      const rest = { step: null, rule: null, ruleReason: null };
      const own = await store.holds.open(aHold(plan, { kind: "plan", ...call, ...rest }), { maxHolds: 9 });
      await store.plans.setStatus(plan.id, "open", { from: ["pending"], now: NOW_MS });
      const ids: string[] = [];
      for (const decisionSeq of [12, 3]) {
        ids.unshift((await store.holds.open(aHold(plan, { decisionSeq }), { maxHolds: 9 })).hold!.id);
      }
      await store.holds.open(aHold(await addPlan(store)), { maxHolds: 9 });
      expect((await store.holds.headsOf(plan.id)).map(({ id }) => id)).toEqual([own.hold!.id, ...ids]);
      expect(await store.holds.headsOf("none")).toEqual([]);
    });
  });
}
