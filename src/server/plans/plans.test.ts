import { afterEach, describe, expect, test, vi } from "vitest";
import { ALICE, aPlan, aPolicy, aRule } from "../../../test/builders.ts";
import {
  aCheckBody,
  aKey,
  anAgent,
  aServer,
  aSignBody,
  PUBLIC_URL,
  ROOT,
  type ServerSetup,
  type ServerUnderTest,
  signedPlan,
} from "../../../test/servers.ts";
import { BOB } from "../../../test/store-builders.ts";
import { CSRF_HEADER } from "../../core/api/index.ts";
import { generateSigningKey, openPlanToken, verifyChain } from "../../core/index.ts";
import { writeSessionCookie } from "../people/session-cookie.ts";
import { createSecret, hashSecret } from "../secret.ts";
import type { Hold } from "../store/index.ts";

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(setup: ServerSetup = {}): Promise<ServerUnderTest> {
  const one = await aServer(setup);
  open.push(one);
  return one;
}

async function claimsOf({ server, agent }: ServerUnderTest, token: string) {
  const opened = await openPlanToken(token, await server.context.keys.publicKeys(), { audience: agent.agentId });
  if (!opened.valid) throw new Error(opened.detail);
  return opened.claims;
}

describe("signing a plan", () => {
  test("gives a token with the person, the policy, the tools and the budget as they are", async () => {
    const settings = { planTtlSeconds: 60, budget: { session: { calls: 3 } } };
    const one = await start({ settings, people: { [ALICE]: { roles: ["member"], groups: ["interns"] } } });
    const answer = await one.ask("POST", "/v1/plans", { body: aSignBody({ user: "ALICE@acme.dev" }) });
    expect(answer.status).toBe(201);
    const now = one.clock.now() / 1000;
    expect(answer.body).toMatchObject({ expiresAt: now + 60, serverTime: one.clock.now() });
    const claims = await claimsOf(one, answer.body.token);
    expect(claims).toMatchObject({
      iss: PUBLIC_URL,
      aud: one.agent.agentId,
      sub: ALICE,
      iat: now,
      exp: now + 60,
      planId: answer.body.planId,
      user: { email: ALICE, roles: ["member"], groups: ["interns"] },
      policy: aPolicy(),
      budget: settings.budget,
    });
    expect(claims.cnf).toBeUndefined();
    const entries = await one.store.auditEntries.ofPlan(answer.body.planId);
    expect(entries.map(({ entry }) => entry.event)).toEqual([{ type: "plan_signed", token: answer.body.token }]);
  });

  test("of a client that decides names its key, and leaves the chain to it", async () => {
    const one = await start();
    const { publicKey } = await generateSigningKey();
    const { planId, token } = await signedPlan(one, { clientKey: publicKey });
    expect((await claimsOf(one, token)).cnf).toEqual({ jwk: publicKey });
    expect(await one.store.auditEntries.ofPlan(planId)).toEqual([]);
    expect((await one.ask("POST", "/v1/check", { body: aCheckBody({ planId, token, expiresAt: 0 }) })).status).toBe(
      400,
    );
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["somebody unknown", { user: "eve@acme.dev" }, "unknown_user"],
    ["somebody whose name only looks the same", { user: "ali\u0441e@acme.dev" }, "unknown_user"],
    ["an address with the Kelvin sign", { user: "\u212Aate@acme.dev" }, "invalid_request"],
    ["no address", { user: "alice" }, "invalid_request"],
    ["a plan with a tool that there is not", { plan: aPlan({ tool: "rm" }) }, "invalid_plan"],
    ["a plan that is none", { plan: "pay" }, "invalid_plan"],
    [
      "a private key",
      { clientKey: { kty: "OKP", crv: "Ed25519", kid: "a", x: "a".repeat(43), d: "a" } },
      "invalid_request",
    ],
    ["a role in the request", { roles: ["admin"] }, "invalid_request"],
  ])("for %s is refused", async (_name, over, code) => {
    const { ask } = await start({ people: { "kate@acme.dev": {} } });
    expect((await ask("POST", "/v1/plans", { body: aSignBody(over) })).body.code).toBe(code);
  });

  test("for a person whom the key may not act for is refused, in whatever case it is written", async () => {
    const { ask } = await start({ mayActFor: [BOB] });
    for (const user of [ALICE, "ALICE@ACME.DEV"]) {
      expect((await ask("POST", "/v1/plans", { body: aSignBody({ user }) })).body.code).toBe("user_not_allowed");
    }
    expect((await ask("POST", "/v1/plans", { body: aSignBody({ user: "Bob@Acme.dev" }) })).status).toBe(201);
  });

  test("for a person who was disabled is refused, and so is its refresh", async () => {
    const one = await start();
    const { planId } = await signedPlan(one);
    await one.store.people.upsert({ email: ALICE, roles: [], groups: [], createdAt: 0, disabledAt: 1 });
    expect((await one.ask("POST", "/v1/plans", { body: aSignBody() })).body.code).toBe("unknown_user");
    expect((await one.ask("POST", `/v1/plans/${planId}/refresh`)).body.code).toBe("unknown_user");
  });

  test("without a policy is refused", async () => {
    const one = await start();
    vi.spyOn(one.store.policies, "latest").mockResolvedValue(undefined);
    expect((await one.ask("POST", "/v1/plans", { body: aSignBody() })).body.code).toBe("no_policy");
  });

  test("with too much for a token is refused", async () => {
    const one = await start();
    const tools = Object.fromEntries(
      Array.from({ length: 60_000 }, (_, i) => [`tool_${i}`, `sha256:${"a".repeat(64)}`]),
    );
    const body = aSignBody({ tools: { ...(aSignBody()["tools"] as object), ...tools } });
    expect((await one.ask("POST", "/v1/plans", { body })).body.code).toBe("payload_too_large");
  });
});

describe("a plan of another", () => {
  test.each([
    ["GET", "", undefined],
    ["POST", "/refresh", undefined],
    ["POST", "/revoke", {}],
  ])("agent is not there: %s %s", async (method, path, body) => {
    const one = await start();
    const { planId } = await signedPlan(one);
    const { apiKey } = await anAgent(one.store);
    expect((await one.ask(method, `/v1/plans/${planId}${path}`, { apiKey, body })).body.code).toBe("not_found");
  });

  test("agent cannot be checked with its token", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    const { apiKey } = await anAgent(one.store);
    expect((await one.ask("POST", "/v1/check", { apiKey, body: aCheckBody(plan) })).body.code).toBe("not_found");
  });

  test("person is not for a key that may not act for them", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    const { apiKey } = await aKey(one.store, one.agent.agentId, { mayActFor: [BOB] });
    for (const [method, path, body] of [
      ["GET", `/v1/plans/${plan.planId}`, undefined],
      ["POST", `/v1/plans/${plan.planId}/refresh`, undefined],
      ["POST", "/v1/check", aCheckBody(plan)],
    ] as const) {
      expect((await one.ask(method, path, { apiKey, body })).body.code).toBe("user_not_allowed");
    }
  });
});

describe("a refresh", () => {
  test("has the person and the policy as they are now, and is on record", async () => {
    const one = await start();
    const { planId, token } = await signedPlan(one);
    await one.store.people.upsert({ email: ALICE, roles: ["approver"], groups: [], createdAt: 0, disabledAt: null });
    const stricter = aPolicy(aRule({ id: "nothing", decision: "block" }));
    const { agentId } = one.agent;
    await one.store.policies.push({
      agentId,
      text: JSON.stringify(stricter),
      createdAt: 1,
      createdBy: BOB,
      comment: null,
    });
    one.clock.advance(10);
    const { status, body } = await one.ask("POST", `/v1/plans/${planId}/refresh`);
    expect(status).toBe(201);
    expect(body.token).not.toBe(token);
    expect(await claimsOf(one, body.token)).toMatchObject({ planId, user: { roles: ["approver"] }, policy: stricter });
    const entries = (await one.store.auditEntries.ofPlan(planId)).map(({ entry }) => entry);
    expect(entries.map(({ event }) => event.type)).toEqual(["plan_signed", "refresh"]);
    expect(verifyChain(entries, planId).problem).toBeUndefined();
  });

  test("keeps the client's key", async () => {
    const one = await start();
    const { publicKey } = await generateSigningKey();
    const { planId } = await signedPlan(one, { clientKey: publicKey });
    const { body } = await one.ask("POST", `/v1/plans/${planId}/refresh`);
    expect((await claimsOf(one, body.token)).cnf).toEqual({ jwk: publicKey });
  });

  test("is refused once the plan is too old", async () => {
    const one = await start({ settings: { planMaxAgeSeconds: 1000 } });
    const { planId } = await signedPlan(one);
    one.clock.advance(999);
    expect((await one.ask("POST", `/v1/plans/${planId}/refresh`)).status).toBe(201);
    one.clock.advance(1);
    expect((await one.ask("POST", `/v1/plans/${planId}/refresh`)).body.code).toBe("plan_expired");
    expect((await one.ask("GET", `/v1/plans/${planId}`)).body.status).toBe("open");
    one.clock.advance(1000);
    expect((await one.ask("GET", `/v1/plans/${planId}`)).body.status).toBe("expired");
  });
});

describe("a plan that was revoked", () => {
  test("allows nothing from then on, on any server, and takes its holds back", async () => {
    const one = await start();
    const other = await aServer({ store: one.store, clock: one.clock });
    const plan = await signedPlan(one);
    const send = async (server: ServerUnderTest) =>
      (await server.ask("POST", "/v1/check", { apiKey: one.agent.apiKey, body: aCheckBody(plan) })).body.decision;
    expect([(await send(one)).verdict, (await send(other)).verdict]).toEqual(["allow", "allow"]);
    const revoked = await one.ask("POST", `/v1/plans/${plan.planId}/revoke`, { body: { reason: "wrong person" } });
    expect(revoked.body).toMatchObject({ status: "revoked", reason: "wrong person" });
    expect([(await send(other)).reason, (await send(one)).reason]).toEqual(["plan_revoked", "plan_revoked"]);
    expect((await one.ask("POST", `/v1/plans/${plan.planId}/refresh`)).body.code).toBe("plan_revoked");
    expect((await one.ask("POST", `/v1/plans/${plan.planId}/revoke`, { body: {} })).body.status).toBe("revoked");
  });
});

describe("a person who is signed in", () => {
  async function signedIn(one: ServerUnderTest, email: string): Promise<Record<string, string>> {
    const [token, csrf] = [createSecret(), createSecret()];
    const now = one.clock.now();
    const times = { createdAt: now, expiresAt: now + 1e6, lastSeenAt: now };
    const session = { hash: hashSecret(token), email, csrf, linkBy: "cli:root", ...times };
    await one.store.signIn.addSession(session);
    const { publicUrl } = one.server.context;
    const cookie = writeSessionCookie(token, { publicUrl, maxAgeSeconds: 1000 }).split(";")[0] ?? "";
    return { cookie, [CSRF_HEADER]: csrf };
  }

  test("revokes a plan as an administrator, and only with the session's own token", async () => {
    const one = await start();
    const path = `/v1/plans/${(await signedPlan(one)).planId}/revoke`;
    const asBob = await one.ask("POST", path, { apiKey: null, headers: await signedIn(one, BOB), body: {} });
    expect(asBob.body.code).toBe("forbidden");
    const { [CSRF_HEADER]: _, ...cookie } = await signedIn(one, ROOT);
    expect((await one.ask("POST", path, { apiKey: null, headers: cookie, body: {} })).body.code).toBe("forbidden");
    const headers = await signedIn(one, ROOT);
    const { status, body } = await one.ask("POST", path, { apiKey: null, headers, body: { reason: "leaked" } });
    expect([status, body.status, body.reason]).toEqual([200, "revoked", "leaked"]);
  });

  test("sees their own plans, and all as an administrator", async () => {
    const one = await start();
    const { planId } = await signedPlan(one);
    const see = async (email: string) =>
      (await one.ask("GET", `/v1/plans/${planId}`, { apiKey: null, headers: await signedIn(one, email) })).status;
    expect([await see(ROOT), await see(ALICE), await see(BOB)]).toEqual([200, 200, 404]);
  });
});

describe("a plan that a person has to see", () => {
  async function pending(setup: ServerSetup = {}, over: Record<string, unknown> = { approvePlan: true }) {
    const one = await start(setup);
    const answer = await one.ask("POST", "/v1/plans", { body: aSignBody(over) });
    expect(answer.status).toBe(202);
    const hold = (await one.store.holds.get(answer.body.holdId)) as Hold;
    const refresh = () => one.ask("POST", `/v1/plans/${answer.body.planId}/refresh`);
    return { ...one, planId: answer.body.planId as string, hold, refresh };
  }

  test.each<[string, ServerSetup, Record<string, unknown>]>([
    ["the request", {}, { approvePlan: true }],
    ["the agent's settings", { settings: { approvePlans: true } }, { approvePlan: false }],
    ["the settings of an agent without holds of calls", { settings: { approvePlans: true, maxHolds: 0 } }, {}],
  ])("because of %s is not signed before", async (_name, setup, over) => {
    const { hold, planId, refresh, ask, store } = await pending(setup, over);
    expect(hold).toMatchObject({ kind: "plan", status: "pending", planId });
    expect((await refresh()).body.code).toBe("plan_pending");
    expect((await store.plans.get(planId))?.token).toBeNull();
    expect((await ask("GET", `/v1/plans/${planId}`)).body.status).toBe("pending");
  });

  test("is signed by a refresh once it is approved, and starts its chain with that", async () => {
    const { hold, planId, refresh, store, clock, ask } = await pending();
    const now = clock.now();
    const approved = { status: "approved", approval: "none", approvalExpiresAt: now + 1000 } as const;
    await store.holds.decide(hold.id, { ...approved, by: BOB, comment: null, now });
    const { status, body } = await refresh();
    expect(status).toBe(201);
    const entries = await store.auditEntries.ofPlan(planId);
    expect(entries.map(({ entry }) => entry.event.type)).toEqual(["plan_signed"]);
    expect((await ask("POST", "/v1/check", { body: aCheckBody(body) })).body.decision.verdict).toBe("allow");
  });

  test("is never signed if it is rejected, or nobody says anything", async () => {
    const one = await pending();
    await one.store.holds.decide(one.hold.id, { status: "rejected", by: BOB, comment: null, now: one.clock.now() });
    expect((await one.refresh()).body.code).toBe("plan_rejected");
    const two = await pending();
    two.clock.advance(3600);
    expect((await two.refresh()).body.code).toBe("plan_rejected");
  });
});
