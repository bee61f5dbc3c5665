import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../src/server/store/index.ts";
import { ALICE } from "../builders.ts";
import { addAgent, addPlan, aHold, anAppend, BOB, NOW_MS } from "../store-builders.ts";

const HARMLESS_TO_A_STORE: readonly [string, string][] = [
  ["quotes", `'"\`''";--`],
  ["SQL", "x'); DROP TABLE plans; --"],
  ["a parameter's name", "$1 ?1 :name @name"],
  ["escapes", "\\ \\' \\\\0 %_ E'\\x00'"],
  ["emoji and other scripts", "💥 Zażółć 漢字 \u202e\u200d\ufeff"],
  ["control characters", "\u0001\u001b[31m\r\n\t\u007f"],
  ["an array of PostgreSQL", `{"a",NULL,"b\\"}`],
];

/** What attackers write, in every parameter that is text. */
export function describeHostile(open: () => Promise<Store>): void {
  describe("hostile text", () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });

    test.each(HARMLESS_TO_A_STORE)("comes back as it was: %s", async (_, text) => {
      const id = `${text} ${randomUUID()}`;
      await store.agents.create({ id, name: `name ${id}`, settings: {}, createdAt: NOW_MS });
      expect(await store.agents.getByName(`name ${id}`)).toMatchObject({ id });
      const key = { id, agentId: id, hash: `hash ${id}`, prefix: text, owner: BOB, mayActFor: null };
      await store.apiKeys.create({ ...key, createdAt: NOW_MS });
      expect(await store.apiKeys.findByHash(`hash ${id}`)).toMatchObject({ key, agent: { id } });
      const policy = { agentId: id, text, createdAt: NOW_MS, createdBy: text, comment: text };
      await store.policies.push(policy);
      expect(await store.policies.latest(id)).toMatchObject(policy);
      const task = { instruction: text, material: text, earlier: [text] };
      const plan = await addPlan(store, { id, agentId: id, apiKeyId: id, task, tools: { [text]: text } });
      expect(await store.plans.get(id)).toMatchObject({ task, tools: { [text]: text } });
      const event = { type: "decision", jti: plan.jti, callId: text, tool: text, args: { [text]: text } } as const;
      const append = anAppend(plan, { event: { ...event, used: [0], now: 1, verdict: "allow" } });
      expect(await store.plans.append(id, append)).toBe(true);
      expect((await store.auditEntries.lastDecisions(id, 1))[0]?.entry).toEqual(append.entries[0]);
      const texts = { callId: text, tool: text, fingerprint: text, rule: text, ruleReason: text, digest: text };
      const hold = aHold(plan, { id, ...texts, args: { [text]: [text] }, approvers: { emails: [text] } });
      expect(await store.holds.open(hold, { maxHolds: 1 })).toMatchObject({ outcome: "opened" });
      const decision = { status: "rejected", by: text, comment: text, now: NOW_MS } as const;
      expect(await store.holds.decide(id, decision)).toMatchObject({ ...hold, decidedBy: text, comment: text });
      expect(await store.holds.list({ planId: id })).toHaveLength(1);
      expect(await store.plans.takeLease(id, { holder: text, until: 2, now: 1 })).toBe(true);
      const event2 = { at: NOW_MS, actor: text, action: text, target: text, details: { [text]: text } };
      expect(
        (await store.adminAudit.list({ limit: 1, before: (await store.adminAudit.append(event2)).seq + 1 }))[0],
      ).toMatchObject(event2);
    });

    test.each<[string, string]>([
      ["a NUL", "a\0b"],
      ["half of a surrogate pair", "a\ud800b"],
    ])("that a database would change is refused: %s", async (_, text) => {
      const { agentId, apiKeyId } = await addAgent(store);
      const plan = await addPlan(store, { agentId, apiKeyId });
      const key = { agentId, prefix: "ilk_", owner: BOB, mayActFor: null, createdAt: NOW_MS };
      const policy = { agentId, createdAt: NOW_MS, createdBy: BOB, comment: null };
      const event = { at: NOW_MS, actor: BOB, action: "a", target: "t", details: {} };
      const writes: Record<string, () => Promise<unknown>> = {
        name: () => store.agents.create({ id: randomUUID(), name: text, settings: {}, createdAt: NOW_MS }),
        find: () => store.agents.getByName(text),
        hash: () => store.apiKeys.findByHash(text),
        key: () => store.apiKeys.create({ ...key, id: text, hash: text }),
        policy: () => store.policies.push({ ...policy, text }),
        plan: () => store.plans.get(text),
        status: () => store.plans.setStatus(text, "open", { from: ["open"], now: 0 }),
        append: () => store.plans.append(plan.id, anAppend(plan, { claimHoldId: text })),
        head: () => store.plans.append(plan.id, anAppend(plan, { head: text })),
        token: () => store.plans.append(plan.id, anAppend(plan, { token: { jti: text, token: text, expiresAt: 1 } })),
        hold: () => store.holds.open(aHold(plan, { tool: text }), { maxHolds: 1 }),
        comment: () => store.holds.decide("x", { status: "rejected", by: BOB, comment: text, now: 0 }),
        session: () => store.signIn.findSession(text, 0),
        signal: () => store.signals.notify("hold", text),
        target: () => store.adminAudit.append({ ...event, target: text }),
      };
      for (const [name, write] of Object.entries(writes)) {
        await expect(write(), name).rejects.toMatchObject({ code: "ERR_INVALID_TEXT" });
      }
      expect(await store.plans.state(plan.id)).toMatchObject({ seq: 1 });
      expect(await store.plans.get(plan.id)).toMatchObject({ holdsCount: 0 });
    });

    test("may be as long as it likes where it is not a name", async () => {
      const long = "'💥\\".repeat(300_000);
      const plan = await addPlan(store, { task: { instruction: long }, tools: { a: long } });
      const event = { type: "decision", jti: plan.jti, callId: long, tool: "t", args: { long } } as const;
      const append = anAppend(plan, { event: { ...event, used: [0], now: 1, verdict: "allow" } });
      expect(await store.plans.append(plan.id, append)).toBe(true);
      expect((await store.auditEntries.ofPlan(plan.id, { fromSeq: 1 }))[0]?.entry).toEqual(append.entries[0]);
      expect(await store.plans.get(plan.id)).toMatchObject({ task: { instruction: long } });
      expect(await store.plans.get(long)).toBeUndefined();
      expect(await store.apiKeys.findByHash(long)).toBeUndefined();
    });

    test.each<[string, string]>([
      ["empty", ""],
      ["too long", "x".repeat(301)],
    ])("is no name: %s", async (_, name) => {
      const { agentId, apiKeyId } = await addAgent(store);
      const agent = { id: randomUUID(), settings: {}, createdAt: NOW_MS };
      const key = { id: name, agentId, hash: randomUUID(), prefix: "p", owner: ALICE, mayActFor: null };
      const plan = await addPlan(store, { agentId, apiKeyId });
      for (const write of [
        store.agents.create({ ...agent, name }),
        store.apiKeys.create({ ...key, createdAt: NOW_MS }),
        addPlan(store, { agentId, apiKeyId, id: name }),
        store.holds.open(aHold(plan, { digest: name }), { maxHolds: 1 }),
        store.plans.takeLease(plan.id, { holder: name, until: 1, now: 0 }),
        store.webhooks.create({ id: name, agentId: null, url: "u", events: [], secret: "s", createdAt: 0 }),
      ]) {
        await expect(write).rejects.toMatchObject({ code: "ERR_INVALID_TEXT" });
      }
    });

    test("does not hang on a signal, nor wake another channel", async () => {
      const heard: (string | undefined)[] = [];
      const stop = store.signals.listen("mine", (payload) => heard.push(payload));
      const { promise, resolve } = Promise.withResolvers<void>();
      const stopLast = store.signals.listen("last", (payload) => payload === "end" && resolve());
      for (const text of HARMLESS_TO_A_STORE) await store.signals.notify("mine", text[1]);
      await store.signals.notify("other", "x");
      await store.signals.notify("last", "end");
      await promise;
      expect(heard.filter((text) => text !== undefined)).toEqual(HARMLESS_TO_A_STORE.map(([, text]) => text));
      for (const [channel, payload] of [
        ["Mine", "x"],
        ["a b", "x"],
        ["", "x"],
        ["mine", "x".repeat(8000)],
      ] as const) {
        await expect(store.signals.notify(channel, payload)).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
      }
      stop();
      stopLast();
    });
  });
}
