import { beforeAll, describe, expect, test } from "vitest";
import type { WebhookEvent } from "../../src/core/api/index.ts";
import type { Person, Store } from "../../src/server/store/index.ts";
import { addAgent, addPlan, aHold, anApproval, BOB, NOW_MS } from "../store-builders.ts";

const PENDING: readonly WebhookEvent[] = ["hold.pending"];

/** Agents, API keys, people, policies, webhooks, sign-in and rate limits. */
export function describeRegistry(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });

  describe("agents", () => {
    test("have names of their own, settings, and can be disabled", async () => {
      const { agentId: id } = await addAgent(store);
      const agent = await store.agents.get(id);
      const name = `agent ${id}`;
      expect(agent).toEqual({ id, name, settings: {}, policyVersion: 0, createdAt: NOW_MS, disabledAt: null });
      expect(await store.agents.getByName(agent!.name)).toEqual(agent);
      expect(await store.agents.create({ ...agent!, id: `other ${id}` })).toBe(false);
      expect(await store.agents.setSettings(id, { approvePlans: true, budget: { session: { calls: 1 } } })).toBe(true);
      expect(await store.agents.setDisabled(id, NOW_MS)).toBe(true);
      const changed = await store.agents.get(id);
      expect(changed).toMatchObject({ settings: { approvePlans: true, budget: { session: { calls: 1 } } } });
      expect(changed).toMatchObject({ disabledAt: NOW_MS });
      expect(await store.agents.list()).toContainEqual(changed);
      expect(await store.agents.setDisabled("other", null)).toBe(false);
      expect(await store.agents.setSettings("other", {})).toBe(false);
      expect(await store.agents.get("other")).toBeUndefined();
    });
  });

  describe("API keys", () => {
    test("are found by their hash, with their agent, revoked or not", async () => {
      const { agentId, apiKeyId: id } = await addAgent(store);
      const found = await store.apiKeys.findByHash(`hash ${id}`);
      expect(found).toMatchObject({ key: { id, agentId, owner: BOB, mayActFor: null }, agent: { id: agentId } });
      expect(await store.apiKeys.get(id)).toEqual(found!.key);
      expect(found!.agent).toEqual(await store.agents.get(agentId));
      expect(await store.apiKeys.revoke(id, NOW_MS)).toBe(true);
      expect(await store.apiKeys.revoke(id, NOW_MS + 1)).toBe(false);
      await store.agents.setDisabled(agentId, NOW_MS);
      const gone = await store.apiKeys.findByHash(`hash ${id}`);
      expect(gone).toMatchObject({ key: { revokedAt: NOW_MS }, agent: { disabledAt: NOW_MS } });
      expect(await store.apiKeys.findByHash("hash")).toBeUndefined();
      expect(await store.apiKeys.list(agentId)).toEqual([gone!.key]);
    });

    test("act for people in one writing of their addresses", async () => {
      const { agentId } = await addAgent(store);
      const key = { id: `k ${agentId}`, agentId, hash: `h ${agentId}`, prefix: "ilk_", createdAt: NOW_MS };
      await store.apiKeys.create({ ...key, owner: "BOB@Acme.dev", mayActFor: ["Alice@ACME.dev"] });
      expect(await store.apiKeys.get(key.id)).toMatchObject({ owner: BOB, mayActFor: ["alice@acme.dev"] });
      const wrong = store.apiKeys.create({ ...key, id: "x", hash: "x", owner: "nobody", mayActFor: null });
      await expect(wrong).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
    });

    test("note their use once a minute", async () => {
      const { apiKeyId: id } = await addAgent(store);
      const touch = async (now: number): Promise<number | null | undefined> => {
        await store.apiKeys.touch(id, now);
        return (await store.apiKeys.get(id))?.lastUsedAt;
      };
      expect(await touch(NOW_MS)).toBe(NOW_MS);
      expect(await touch(NOW_MS + 59_999)).toBe(NOW_MS);
      expect(await touch(NOW_MS + 60_000)).toBe(NOW_MS + 60_000);
    });
  });

  describe("people", () => {
    test("are one person in any writing of their address", async () => {
      const email = "carol@acme.dev";
      const roles = ["approver"] as const;
      const person: Person = { email, name: "Carol", roles, groups: ["ops"], createdAt: NOW_MS, disabledAt: null };
      await store.people.upsert(person);
      await store.people.upsert({ ...person, email: "CAROL@Acme.dev", roles: ["member"], createdAt: NOW_MS + 9 });
      expect(await store.people.get("Carol@acme.DEV")).toEqual({ ...person, roles: ["member"] });
      expect((await store.people.list()).filter((one) => one.email === email)).toHaveLength(1);
      expect(await store.people.remove("cArol@acme.dev")).toBe(true);
      expect(await store.people.remove(email)).toBe(false);
      expect(await store.people.get(email)).toBeUndefined();
    });

    test.each(["", "nobody", "a@b@c", "a b@c", "a\0@b.c", `${"x".repeat(255)}@acme.dev`])(
      "are not %j",
      async (email) => {
        const upsert = store.people.upsert({ email, roles: [], groups: [], createdAt: 0, disabledAt: null });
        await expect(upsert).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
        expect(await store.people.get(email)).toBeUndefined();
        expect(await store.people.remove(email)).toBe(false);
      },
    );
  });

  describe("policies", () => {
    test("have every version kept", async () => {
      const { agentId } = await addAgent(store);
      const policy = { agentId, createdAt: NOW_MS, createdBy: BOB, comment: null };
      expect(await store.policies.latest(agentId)).toBeUndefined();
      const first = await store.policies.push({ ...policy, text: "# one" });
      const second = await store.policies.push({ ...policy, text: "# two", comment: "why" });
      expect([first?.version, second?.version]).toEqual([1, 2]);
      expect(await store.policies.latest(agentId)).toEqual({ ...policy, version: 2, text: "# two", comment: "why" });
      expect(await store.policies.get(agentId, 1)).toEqual(first);
      expect(await store.policies.get(agentId, 3)).toBeUndefined();
      expect(await store.policies.list(agentId)).toEqual([second, first]);
      expect(await store.policies.push({ ...policy, agentId: "other", text: "" })).toBeUndefined();
    });
  });

  describe("sign-in", () => {
    const email = "dora@acme.dev";
    const aSession = (hash: string): Parameters<Store["signIn"]["addSession"]>[0] => {
      const times = { createdAt: NOW_MS, expiresAt: NOW_MS + 100, lastSeenAt: NOW_MS };
      return { hash, email, csrf: "csrf", linkBy: BOB, ...times };
    };
    const setDora = (disabledAt: number | null): Promise<void> =>
      store.people.upsert({ email, roles: ["admin"], groups: [], createdAt: NOW_MS, disabledAt });

    test("takes a link once, in time, from a person in use", async () => {
      await setDora(null);
      const link = (hash: string): Promise<void> =>
        store.signIn.addLink({ hash, email, createdAt: NOW_MS, createdBy: BOB, expiresAt: NOW_MS + 10 });
      await link("one");
      await link("two");
      expect(await store.signIn.useLink("one", NOW_MS + 10)).toBeUndefined();
      expect(await store.signIn.useLink("one", NOW_MS)).toEqual({ email, createdBy: BOB });
      expect(await store.signIn.useLink("one", NOW_MS)).toBeUndefined();
      expect(await store.signIn.useLink("none", NOW_MS)).toBeUndefined();
      await setDora(NOW_MS);
      expect(await store.signIn.useLink("two", NOW_MS)).toBeUndefined();
      const unknown = { hash: "x", email: "unknown@acme.dev", createdAt: NOW_MS, createdBy: BOB, expiresAt: NOW_MS };
      await expect(store.signIn.addLink(unknown)).rejects.toMatchObject({ code: "ERR_STORE" });
    });

    test("keeps sessions until they expire, or their person is disabled or removed", async () => {
      await setDora(null);
      for (const hash of ["a", "b", "c"]) await store.signIn.addSession(aSession(hash));
      const find = (hash: string, now = NOW_MS): ReturnType<Store["signIn"]["findSession"]> =>
        store.signIn.findSession(hash, now);
      expect(await find("a")).toEqual(aSession("a"));
      expect(await find("a", NOW_MS + 100)).toBeUndefined();
      await store.signIn.touchSession("a", { now: NOW_MS + 1 });
      await store.signIn.touchSession("b", { now: NOW_MS, expiresAt: NOW_MS + 200 });
      expect(await find("a")).toMatchObject({ lastSeenAt: NOW_MS + 1, expiresAt: NOW_MS + 100 });
      await setDora(NOW_MS);
      expect(await find("a")).toBeUndefined();
      await setDora(null);
      await store.signIn.removeSession("a");
      expect(await find("a")).toBeUndefined();
      await store.signIn.sweep(NOW_MS + 150);
      expect(await find("c")).toBeUndefined();
      expect(await find("b")).toBeDefined();
      await store.people.remove(email);
      await setDora(null);
      expect(await find("b")).toBeUndefined();
      await store.signIn.addSession(aSession("d"));
      await store.signIn.removeSessionsOf("DORA@acme.dev");
      expect(await find("d")).toBeUndefined();
    });
  });

  describe("webhooks", () => {
    test("are delivered by one, until it is done or given up", async () => {
      const plan = await addPlan(store);
      const { agentId } = plan;
      const hook = (id: string, of: string | null, events = PENDING): Promise<void> =>
        store.webhooks.create({ id, agentId: of, url: `https://${id}`, events, secret: id, createdAt: NOW_MS });
      await hook("own", agentId);
      await hook("later", agentId, ["hold.decided"]);
      await hook("all", null);
      await hook("foreign", (await addAgent(store)).agentId);
      await hook("off", null);
      expect(await store.webhooks.disable("off", NOW_MS)).toBe(true);
      expect(await store.webhooks.disable("off", NOW_MS)).toBe(false);
      expect((await store.webhooks.list()).map(({ id }) => id).sort()).toEqual([
        "all",
        "foreign",
        "later",
        "off",
        "own",
      ]);
      const { hold } = await store.holds.open(aHold(plan), { maxHolds: 1 });
      const again = await store.holds.open(aHold(plan), { maxHolds: 1 });
      expect(again.outcome).toBe("existing");
      const take = async (now: number): Promise<string[]> =>
        (await store.webhooks.takeDue({ now, limit: 10, leaseMs: 1000 })).map(
          ({ url, secret, attempts, holdId, event }) => {
            expect(holdId).toBe(hold!.id);
            return `${url} ${secret} ${attempts}${event === "hold.pending" ? "" : event}`;
          },
        );
      expect(await take(NOW_MS - 1)).toEqual([]);
      expect((await take(NOW_MS)).sort()).toEqual(["https://all all 1", "https://own own 1"]);
      expect(await take(NOW_MS + 999)).toEqual([]);
      await store.webhooks.markDelivered(`own:${hold!.id}:hold-pending`, NOW_MS);
      expect(await take(NOW_MS + 1000)).toEqual(["https://all all 2"]);
      await store.webhooks.markFailed(`all:${hold!.id}:hold-pending`, { error: "503", nextAttemptAt: NOW_MS + 5000 });
      expect(await take(NOW_MS + 4999)).toEqual([]);
      expect(await take(NOW_MS + 5000)).toEqual(["https://all all 3"]);
      await store.webhooks.markFailed(`all:${hold!.id}:hold-pending`, { error: "503", nextAttemptAt: null });
      expect(await take(NOW_MS + 1e9)).toEqual([]);
      expect(await store.holds.decide(hold!.id, anApproval())).toBeDefined();
      expect(await store.holds.decide(hold!.id, anApproval())).toBeUndefined();
      expect(await take(NOW_MS)).toEqual(["https://later later 1hold.decided"]);
      for (const id of ["own", "all", "foreign", "later"]) await store.webhooks.disable(id, NOW_MS);
    });
  });

  describe("rate limits", () => {
    test("count in windows, each key and length for itself", async () => {
      const hit = (now: number, key = "a", seconds = 60): Promise<number> => store.rateLimits.hit(key, seconds, now);
      const start = NOW_MS - (NOW_MS % 60_000);
      expect([await hit(start), await hit(start + 59_999), await hit(start, "b")]).toEqual([1, 2, 1]);
      expect([await hit(start + 60_000), await hit(start, "a", 30)]).toEqual([1, 1]);
      // A clock that is behind.
      expect([await hit(start), await hit(start + 60_000)]).toEqual([2, 3]);
      await store.rateLimits.sweep(start + 60_001);
      expect(await hit(start + 60_000)).toBe(1);
      expect(await hit(start, "\0'💥\ud800".repeat(100_000))).toBe(1);
    });
  });
}
