import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../src/server/store/index.ts";
import { addAgent, addPlan, aHold, anApproval, BOB, NOW_MS } from "../store-builders.ts";

/** What people do, in transactions, and the lists that they look at. */
export function describeAdminister(open: () => Promise<Store>): void {
  let stores: readonly [Store, Store];
  beforeAll(async () => {
    stores = [await open(), await open()];
  });

  const event = { at: NOW_MS, actor: BOB, action: "person.save", details: {} };
  const addPerson = (email: string, over: object = {}): Promise<void> =>
    stores[0].people.upsert({ email, roles: ["admin"], groups: [], createdAt: NOW_MS, disabledAt: null, ...over });

  describe("a transaction", () => {
    test("happens with its entry, or not at all", async () => {
      const [store] = stores;
      const email = `${randomUUID()}@acme.dev`;
      const before = await store.adminAudit.verify();
      const failed = store.administer(async (inside) => {
        await inside.people.upsert({ email, roles: [], groups: [], createdAt: NOW_MS, disabledAt: null });
        await inside.adminAudit.append({ ...event, target: email });
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      expect(await store.people.get(email)).toBeUndefined();
      expect(await store.adminAudit.verify()).toEqual(before);

      const answer = await store.administer(async (inside) => {
        await inside.people.upsert({ email, roles: [], groups: [], createdAt: NOW_MS, disabledAt: null });
        await inside.adminAudit.append({ ...event, target: email });
        return 5;
      });
      expect(answer).toBe(5);
      expect(await stores[1].people.get(email)).toBeDefined();
      expect((await stores[1].adminAudit.list({ limit: 1 }))[0]).toMatchObject({ target: email });
    });

    test("sees what the one before has done, on any instance", async () => {
      const group = randomUUID();
      const emails = Array.from({ length: 16 }, (_, index) => `${index}@${group}.dev`);
      for (const email of emails) await addPerson(email);
      const others = (all: readonly { email: string }[]) => all.filter(({ email }) => email.endsWith(`@${group}.dev`));
      const removed = await Promise.all(
        emails.map((email, index) =>
          stores[index % 2]!.administer(async (inside) => {
            if (others(await inside.people.list()).length === 1) return false;
            return await inside.people.remove(email);
          }),
        ),
      );
      expect(removed.filter(Boolean)).toHaveLength(15);
      expect(others(await stores[0].people.list())).toHaveLength(1);
    });

    test("decides a hold with what is written beside it", async () => {
      const [store] = stores;
      const { hold } = await store.holds.open(aHold(await addPlan(store)), { maxHolds: 1 });
      const { promise: told, resolve } = Promise.withResolvers<void>();
      const stop = stores[1].signals.listen("hold", () => resolve());
      const failed = store.administer(async (inside) => {
        await inside.holds.decide(hold!.id, anApproval());
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      expect(await store.holds.get(hold!.id)).toMatchObject({ status: "pending" });
      await store.administer((inside) => inside.holds.decide(hold!.id, anApproval()));
      expect(await store.holds.get(hold!.id)).toMatchObject({ status: "approved" });
      await told;
      stop();
    });
  });

  describe("lists", () => {
    test("of people and agents come in parts, in the same order everywhere", async () => {
      const [store] = stores;
      const names = ["Z", "a", "é", "-x"].map((letter) => `~${letter}`);
      for (const name of names) {
        await addPerson(`${name}@acme.dev`);
        await store.agents.create({ id: randomUUID(), name, settings: {}, createdAt: NOW_MS });
      }
      const people = await store.people.list({ after: "~", limit: 10 });
      expect(people.map(({ email }) => email)).toEqual(["~-x@acme.dev", "~a@acme.dev", "~z@acme.dev", "~é@acme.dev"]);
      const rest = await store.people.list({ after: "~a@acme.dev", limit: 1 });
      expect(rest.map(({ email }) => email)).toEqual(["~z@acme.dev"]);
      const agents = await store.agents.list({ after: "~Z", limit: 2 });
      expect(agents.map(({ name }) => name)).toEqual(["~a", "~é"]);
      await expect(store.people.list({ limit: 0 })).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
    });

    test("of policies begin with the newest", async () => {
      const [store] = stores;
      const { agentId } = await addAgent(store);
      const policy = { agentId, text: "", createdAt: NOW_MS, createdBy: BOB, comment: null };
      for (let version = 1; version <= 3; version += 1) await store.policies.push(policy);
      const versions = (await store.policies.list(agentId, { before: 3, limit: 1 })).map(({ version }) => version);
      expect(versions).toEqual([2]);
      expect(await store.agents.get(agentId)).toMatchObject({ policyVersion: 3 });
    });

    test("of plans' states leave out what there is not", async () => {
      const [one, two] = [await addPlan(stores[0]), await addPlan(stores[0])];
      const found = await stores[1].plans.states([one.id, "none", two.id]);
      expect(found.map(({ id }) => id).sort()).toEqual([one.id, two.id].sort());
      expect(await stores[1].plans.states([])).toEqual([]);
    });
  });

  test("an agent gets another name, unless another agent has it", async () => {
    const [store] = stores;
    const [one, two] = [await addAgent(store), await addAgent(store)];
    const name = randomUUID();
    expect(await store.agents.rename(one.agentId, name)).toBe(true);
    expect(await store.agents.rename(one.agentId, name)).toBe(true);
    expect(await store.agents.rename(two.agentId, name)).toBe(false);
    expect(await store.agents.rename("none", randomUUID())).toBe(false);
    expect(await store.agents.getByName(name)).toMatchObject({ id: one.agentId });
  });

  test("an API key keeps its name", async () => {
    const [store] = stores;
    const { agentId } = await addAgent(store);
    const id = randomUUID();
    const key = { id, agentId, hash: id, prefix: "ilk_", owner: BOB, mayActFor: null, createdAt: NOW_MS };
    await store.apiKeys.create({ ...key, name: "laptop" });
    expect(await store.apiKeys.findByHash(id)).toMatchObject({ key: { name: "laptop" }, agent: { id: agentId } });
  });

  test("an administrator remains who is in use", async () => {
    const [store] = stores;
    for (const { email } of await store.people.list()) await store.people.remove(email);
    expect(await store.people.hasAdmin()).toBe(false);
    await addPerson("one@acme.dev");
    expect(await store.people.hasAdmin()).toBe(true);
    expect(await store.people.hasAdmin({ beside: "ONE@acme.dev" })).toBe(false);
    await addPerson("two@acme.dev", { disabledAt: NOW_MS });
    await addPerson("three@acme.dev", { roles: ["approver"], groups: ["admin"] });
    expect(await store.people.hasAdmin({ beside: "one@acme.dev" })).toBe(false);
    await addPerson("two@acme.dev");
    expect(await store.people.hasAdmin({ beside: "one@acme.dev" })).toBe(true);
  });
}
