import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALICE, aPolicy } from "../../../test/builders.ts";
import { addPeople, addPerson, CAROL, createContext, type TestContext } from "../../../test/people.ts";
import { NOW_MS } from "../../../test/store-builders.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL, type TestDatabase } from "../../../test/stores.ts";
import { type AnyEndpoint, endpoints, readMessage } from "../../core/api/index.ts";
import { hashSecret } from "../secret.ts";
import { createAgent, disableAgent, listAgents, updateAgent } from "./agents.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";
import type { Operator } from "./operator.ts";
import { listPeople, removePerson, savePerson } from "./people.ts";
import { getPolicy, listPolicies, pushPolicy } from "./policies.ts";
import { listSigningKeys, PUBLISH_AHEAD_MS, RETIRE_AFTER_MS, rotateSigningKey } from "./signing-keys.ts";
import { createWebhook, listWebhooks, removeWebhook } from "./webhooks.ts";

const databases = [
  ["SQLite", createSqliteDatabase] as const,
  ...(POSTGRES_URL === undefined ? [] : [["PostgreSQL", createPostgresDatabase] as const]),
];
const ROOT = "root@acme.dev";
const POLICY = JSON.stringify(aPolicy());

describe.each(databases)("administration over %s", (_name, createDatabase) => {
  let database: TestDatabase;
  let context: TestContext;
  let operator: Operator;
  let count = 0;
  beforeAll(async () => {
    database = await createDatabase();
    context = await createContext(await database.open());
    operator = { ...context, actor: ROOT };
    await addPeople(context.store);
    await addPerson(context.store, ROOT, ["admin"]);
  });
  afterAll(() => database.drop());

  const anAgent = async () => await createAgent(operator, { name: `agent ${count++}` });
  const lastEntry = async () => (await context.store.adminAudit.list({ limit: 1 }))[0];

  /** Nothing is done and nothing is on record. */
  async function expectRefused(attempt: () => Promise<unknown>, code: string): Promise<void> {
    const before = await context.store.adminAudit.verify();
    await expect(attempt()).rejects.toMatchObject({ name: "ProblemError", code });
    expect(await context.store.adminAudit.verify()).toEqual(before);
  }

  function expectAnswer(name: keyof typeof endpoints, status: number, answer: unknown): void {
    const schema = (endpoints[name] as AnyEndpoint).answers[status]!;
    expect(readMessage(schema, JSON.parse(JSON.stringify(answer)))).toEqual({ valid: true, value: answer });
  }

  describe("of agents", () => {
    test("makes, changes, disables and enables them", async () => {
      const settings = { approvePlans: true, budget: { session: { calls: 5 } } };
      const made = await createAgent(operator, { name: "Triage", settings });
      expectAnswer("createAgent", 201, made);
      expect(made).toMatchObject({ name: "Triage", enabled: true, settings, createdAt: NOW_MS });
      expect(await lastEntry()).toMatchObject({
        action: "agent.create",
        actor: ROOT,
        target: made.agentId,
        details: { settings },
      });
      const changed = await updateAgent(operator, made.agentId, { name: "Support", settings: {} });
      expect(changed).toMatchObject({ name: "Support", settings: {} });
      expect(await disableAgent(operator, made.agentId)).toMatchObject({ enabled: false });
      expect(await disableAgent(operator, made.agentId)).toMatchObject({ enabled: false });
      expect(await updateAgent(operator, made.agentId, { enabled: true })).toMatchObject({
        enabled: true,
        name: "Support",
      });
    });

    test("gives no name twice, and changes nothing then", async () => {
      const [one, two] = [await anAgent(), await anAgent()];
      await expectRefused(() => createAgent(operator, { name: one.name }), "already_exists");
      const change = { name: one.name, settings: { maxHolds: 1 } };
      await expectRefused(() => updateAgent(operator, two.agentId, change), "already_exists");
      expect(await context.store.agents.get(two.agentId)).toMatchObject({ name: two.name, settings: {} });
    });

    test("knows no other", async () => {
      await expectRefused(() => updateAgent(operator, "none", { name: "x" }), "not_found");
      await expectRefused(() => disableAgent(operator, "none"), "not_found");
    });

    test("lists them in parts", async () => {
      const names = [(await anAgent()).name, (await anAgent()).name, (await anAgent()).name].sort();
      const all: string[] = [];
      let after: string | undefined;
      do {
        const part = await listAgents(operator, { limit: 2, ...(after !== undefined && { after }) });
        expectAnswer("listAgents", 200, part);
        all.push(...part.agents.map(({ name }) => name));
        after = part.next;
      } while (after !== undefined);
      expect(all).toEqual([...new Set(all)].sort());
      expect(all).toEqual(expect.arrayContaining(names));
      const last = all.at(-1)!;
      expect(await listAgents(operator, { after: last })).toEqual({ agents: [] });
    });
  });

  describe("of API keys", () => {
    test("shows a key once and stores its hash", async () => {
      const { agentId } = await anAgent();
      const made = await createKey(operator, agentId, { owner: "CAROL@acme.dev", actsFor: [ALICE], name: "laptop" });
      expectAnswer("createKey", 201, made);
      expect(made.key).toMatch(/^ilk_[\w-]{43}$/);
      expect(made).toMatchObject({ owner: CAROL, actsFor: [ALICE], name: "laptop" });
      const found = await context.store.apiKeys.findByHash(hashSecret(made.key));
      expect(found).toMatchObject({ key: { id: made.keyId, mayActFor: [ALICE] }, agent: { id: agentId } });
      const { keys } = await listKeys(operator, agentId);
      expect(keys).toEqual([{ ...made, key: undefined }]);
      const everything = JSON.stringify([keys, found, await context.store.adminAudit.list(), context.logged]);
      expect(everything).not.toContain(made.key.slice(8));
      expect(JSON.stringify(await context.store.adminAudit.list())).not.toContain(hashSecret(made.key));
    });

    test("gives none to who is not known, or for no agent", async () => {
      const { agentId } = await anAgent();
      await expectRefused(() => createKey(operator, agentId, { owner: "nobody@acme.dev" }), "unknown_user");
      await expectRefused(() => createKey(operator, agentId, { owner: "\u212aate@acme.dev" }), "unknown_user");
      await expectRefused(() => createKey(operator, "none", { owner: CAROL }), "not_found");
      await context.store.people.upsert({ email: "d@acme.dev", roles: [], groups: [], createdAt: 0, disabledAt: 1 });
      await expectRefused(() => createKey(operator, agentId, { owner: "d@acme.dev" }), "unknown_user");
      await expectRefused(() => listKeys(operator, "none"), "not_found");
    });

    test("revokes a key for good, and once", async () => {
      const { agentId } = await anAgent();
      const made = await createKey(operator, agentId, { owner: CAROL });
      expect(await revokeKey(operator, made.keyId)).toMatchObject({ revokedAt: NOW_MS });
      const before = await context.store.adminAudit.verify();
      expect(await revokeKey(operator, made.keyId)).toMatchObject({ revokedAt: NOW_MS });
      expect(await context.store.adminAudit.verify()).toEqual(before);
      await expectRefused(() => revokeKey(operator, "none"), "not_found");
    });

    test("lists an agent's own, in parts", async () => {
      const [{ agentId }, other] = [await anAgent(), await anAgent()];
      await createKey(operator, other.agentId, { owner: CAROL });
      const ids: string[] = [];
      for (let index = 0; index < 3; index += 1) ids.push((await createKey(operator, agentId, { owner: CAROL })).keyId);
      const first = await listKeys(operator, agentId, { limit: 2 });
      const second = await listKeys(operator, agentId, { limit: 2, after: first.next! });
      expect(second.next).toBeUndefined();
      expect([...first.keys, ...second.keys].map(({ keyId }) => keyId).sort()).toEqual(ids.sort());
    });
  });

  describe("of people", () => {
    test("adds and changes one person, in any writing of their e-mail", async () => {
      const made = await savePerson(operator, {
        email: "Dan@ACME.dev",
        roles: ["member", "member"],
        groups: ["a", "a"],
        name: "Dan",
      });
      expectAnswer("savePerson", 200, made);
      expect(made).toEqual({ email: "dan@acme.dev", roles: ["member"], groups: ["a"], name: "Dan", createdAt: NOW_MS });
      const changed = await savePerson(operator, { email: "dan@acme.dev", roles: ["approver"], groups: [] });
      expect(changed).toEqual({ email: "dan@acme.dev", roles: ["approver"], groups: [], createdAt: NOW_MS });
      expect((await lastEntry())?.details).toEqual({ roles: ["approver"], groups: [] });
      expect(await removePerson(operator, "DAN@acme.dev")).toEqual({ removed: true });
      await expectRefused(() => removePerson(operator, "dan@acme.dev"), "not_found");
    });

    test.each(["dan", "\u212aate@acme.dev", "a@b@c", ""])("refuses %j", async (email) => {
      await expectRefused(() => savePerson(operator, { email, roles: [], groups: [] }), "invalid_request");
      await expectRefused(() => removePerson(operator, email), "invalid_request");
    });

    test("keeps an administrator", async () => {
      for (const email of [ROOT, "ROOT@Acme.dev"]) {
        await expectRefused(() => removePerson(operator, email), "last_admin");
        await expectRefused(
          () => savePerson(operator, { email, roles: ["approver", "member"], groups: [] }),
          "last_admin",
        );
      }
      await context.store.people.upsert({
        email: "off@acme.dev",
        roles: ["admin"],
        groups: [],
        createdAt: 0,
        disabledAt: 1,
      });
      await expectRefused(() => removePerson(operator, ROOT), "last_admin");
      expect(await removePerson(operator, "off@acme.dev")).toEqual({ removed: true });
      await savePerson(operator, { email: ROOT, roles: ["admin", "approver"], groups: [] });
    });

    test("keeps one of two that remove each other at once", async () => {
      await savePerson(operator, { email: "second@acme.dev", roles: ["admin"], groups: [] });
      const other = { ...operator, store: await database.open() };
      const answers = await Promise.allSettled([removePerson(operator, ROOT), removePerson(other, "second@acme.dev")]);
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await context.store.people.hasAdmin()).toBe(true);
      await savePerson(operator, { email: ROOT, roles: ["admin"], groups: [] });
    });

    test("lists them in parts", async () => {
      const first = await listPeople(operator, { limit: 2 });
      expectAnswer("listPeople", 200, first);
      const second = await listPeople(operator, { limit: 1, after: first.next! });
      expect(first.people).toHaveLength(2);
      expect(second.people[0]!.email > first.people[1]!.email).toBe(true);
    });
  });

  describe("of policies", () => {
    test("keeps every version", async () => {
      const { agentId } = await anAgent();
      const first = await pushPolicy(operator, agentId, { text: POLICY, comment: "first" });
      expectAnswer("pushPolicy", 201, first);
      expect(first).toEqual({ agentId, version: 1, createdAt: NOW_MS, createdBy: ROOT, comment: "first" });
      await pushPolicy(operator, agentId, { text: `${POLICY} ` });
      expect(await lastEntry()).toMatchObject({ action: "policy.push", target: agentId, details: { version: 2 } });
      const { policies, next } = await listPolicies(operator, agentId, { limit: 1 });
      expect([policies.map(({ version }) => version), next]).toEqual([[2], "2"]);
      expect((await listPolicies(operator, agentId, { after: "2" })).policies).toEqual([first]);
      expect(await getPolicy(operator, agentId, "1")).toEqual({ ...first, text: POLICY });
      expect(await getPolicy(operator, agentId, "current")).toMatchObject({ version: 2, text: `${POLICY} ` });
      expect((await listAgents(operator, { limit: 999 })).agents).toContainEqual(
        expect.objectContaining({ agentId, policyVersion: 2 }),
      );
    });

    test("takes one that was written on the version that counts, and on no other", async () => {
      const { agentId } = await anAgent();
      const push = (baseVersion: number) => pushPolicy(operator, agentId, { text: POLICY, baseVersion });
      await expectRefused(() => push(1), "policy_changed");
      expect(await push(0)).toMatchObject({ version: 1 });
      await expectRefused(() => push(0), "policy_changed");
      await expect(push(2)).rejects.toMatchObject({ more: { detail: "Version 1 counts, not version 2" } });
      expect(await push(1)).toMatchObject({ version: 2 });
      // Nothing is left of what was refused, neither a version nor its number nor a record.
      expect((await listPolicies(operator, agentId)).policies).toHaveLength(2);
      expect(await lastEntry()).toMatchObject({ action: "policy.push", details: { version: 2 } });
    });

    test("takes one of several that are pushed at once from the same version", async () => {
      const { agentId } = await anAgent();
      const other = { ...operator, store: await database.open() };
      const answers = await Promise.allSettled(
        [operator, other, operator, other].map((by) => pushPolicy(by, agentId, { text: POLICY, baseVersion: 0 })),
      );
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await getPolicy(operator, agentId, "current")).toMatchObject({ version: 1 });
    });

    test.each(["", "version: 2", `${POLICY}}`, "version: 1\ndefault: block\nrules: []\nrules: []"])(
      "refuses %j",
      async (text) => {
        const { agentId } = await anAgent();
        const push = () => pushPolicy(operator, agentId, { text });
        await expectRefused(push, "invalid_policy");
        const issues = expect.arrayContaining([expect.objectContaining({ message: expect.any(String) })]);
        await expect(push()).rejects.toMatchObject({ more: { issues } });
        await expectRefused(() => getPolicy(operator, agentId, "current"), "not_found");
      },
    );

    test("knows no other agent or version", async () => {
      const { agentId } = await anAgent();
      await expectRefused(() => pushPolicy(operator, "none", { text: POLICY }), "not_found");
      await expectRefused(() => listPolicies(operator, "none"), "not_found");
      await expectRefused(() => getPolicy(operator, agentId, "1"), "not_found");
      await expectRefused(() => getPolicy(operator, agentId, "1 OR 1=1"), "invalid_request");
      await expectRefused(() => listPolicies(operator, agentId, { after: "x" }), "invalid_request");
    });
  });

  describe("of webhooks", () => {
    test("shows a secret once", async () => {
      const url = "https://acme.dev/hooks/hidden-path?token=hidden-token";
      const made = await createWebhook(operator, { url, events: ["hold.pending", "hold.pending"] });
      expectAnswer("createWebhook", 201, made);
      expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      const { secret, ...rest } = made;
      expect((await listWebhooks(operator)).webhooks).toContainEqual(rest);
      expect((await context.store.webhooks.list()).at(-1)).toMatchObject({ secret, url, events: ["hold.pending"] });
      const audit = JSON.stringify(await context.store.adminAudit.list());
      for (const hidden of [secret, "hidden-path", "hidden-token"]) expect(audit).not.toContain(hidden);
      expect(await removeWebhook(operator, made.webhookId)).toEqual({ removed: true });
      expect((await listWebhooks(operator)).webhooks).not.toContainEqual(rest);
      await expectRefused(() => removeWebhook(operator, made.webhookId), "not_found");
    });

    test("adds none for an agent that there is not", async () => {
      const body = { url: "https://acme.dev", events: ["hold.decided"], agentId: "none" } as const;
      await expectRefused(() => createWebhook(operator, body), "not_found");
    });
  });

  describe("of signing keys", () => {
    test("rotates them with an overlap", async () => {
      const first = await rotateSigningKey(operator);
      expectAnswer("rotateSigningKey", 201, first);
      expect((await context.store.signingKeys.current(NOW_MS))?.kid).toBe(first.kid);
      const { agentId } = await anAgent();
      const second = await rotateSigningKey(operator);
      const { keys } = await listSigningKeys(operator);
      expect(keys).toEqual([
        {
          kid: first.kid,
          status: "retiring",
          createdAt: NOW_MS,
          retiresAt: NOW_MS + PUBLISH_AHEAD_MS + RETIRE_AFTER_MS,
        },
        { kid: second.kid, status: "active", createdAt: NOW_MS },
      ]);
      const { signingKeys } = context.store;
      expect((await signingKeys.current(NOW_MS + PUBLISH_AHEAD_MS - 1))?.kid).toBe(first.kid);
      expect((await signingKeys.current(NOW_MS + PUBLISH_AHEAD_MS))?.kid).toBe(second.kid);
      expect((await signingKeys.published(NOW_MS)).map(({ kid }) => kid)).toEqual([first.kid, second.kid]);

      // A token of this agent lasts longer than keys do otherwise.
      await updateAgent(operator, agentId, { settings: { planTtlSeconds: 30 * 86_400 } });
      await rotateSigningKey(operator);
      const [, retiring] = (await listSigningKeys(operator)).keys;
      expect(retiring?.retiresAt).toBe(NOW_MS + PUBLISH_AHEAD_MS + 30 * 86_400_000);

      const all = JSON.stringify([await listSigningKeys(operator), await context.store.adminAudit.list()]);
      for (const { privateKey } of await signingKeys.list()) expect(all).not.toContain(privateKey.d);
    });
  });

  test("is one chain, which shows what was changed", async () => {
    expect((await context.store.adminAudit.verify()).problem).toBeUndefined();
    await database.tamper("UPDATE admin_audit SET actor = 'mallory@acme.dev' WHERE seq = 3");
    expect(await context.store.adminAudit.verify()).toMatchObject({ problem: { seq: 3 } });
  });
});
