import { afterEach, describe, expect, test } from "vitest";
import { aPolicy, aRule, summarize } from "../../../test/builders.ts";
import {
  aCheckBody,
  aHoldPolicy,
  aKey,
  anAgent,
  approveHold,
  aServer,
  COMMENTS,
  type ServerSetup,
  type ServerUnderTest,
  signedPlan,
  type TestPlan,
} from "../../../test/servers.ts";
import { BOB } from "../../../test/store-builders.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "../../../test/stores.ts";
import { type Decision, verifyAudit } from "../../core/index.ts";

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const ARGS = { issue: 7, body: "Hello" };

/** A server with a plan whose comments are held. */
async function start(setup: ServerSetup = {}) {
  const one = await aServer({ policy: aHoldPolicy(), ...setup });
  open.push(one);
  return holding(one, await signedPlan(one, COMMENTS));
}

function holding(one: ServerUnderTest, plan: TestPlan) {
  const check = async (call: Record<string, unknown> = {}): Promise<Decision> => {
    const body = aCheckBody(plan, { tool: "post_comment", args: ARGS, ...call });
    return (await one.ask("POST", "/v1/check", { body })).body.decision;
  };
  const openHold = async (decision: Decision, over: Record<string, unknown> = {}) =>
    await one.ask("POST", "/v1/holds", {
      body: { planId: plan.planId, decisionSeq: decision.seq, args: ARGS, ...over },
    });
  const held = async (): Promise<string> => {
    const answer = await openHold(await check());
    expect(answer.status).toBe(201);
    return answer.body.holdId;
  };
  const reject = (holdId: string, now = one.clock.now()) =>
    one.store.holds.decide(holdId, { status: "rejected", by: BOB, comment: "no", now });
  return { ...one, plan, check, openHold, held, reject };
}

describe("a hold", () => {
  test("binds exactly the call, waits for as long as the rule says, and is on record", async () => {
    const one = await start({ policy: aHoldPolicy({ timeoutSeconds: 60 }) });
    const decision = await one.check();
    expect(decision).toMatchObject({ verdict: "hold", seq: 1, rule: "hold-comments", timeoutSeconds: 60 });
    const { body } = await one.openHold(decision);
    expect(body).toEqual({ holdId: body.holdId, status: "pending", expiresAt: one.clock.now() / 1000 + 60 });
    expect(await one.store.holds.get(body.holdId)).toMatchObject({
      args: ARGS,
      digest: decision.digest,
      ruleReason: "Others read it",
      approvers: { roles: ["approver"] },
    });
    const entries = (await one.store.auditEntries.ofPlan(one.plan.planId)).map(({ entry }) => entry);
    expect(entries.at(-1)?.event).toEqual({ type: "hold", decisionSeq: 1, holdId: body.holdId });
    const keys = await one.server.context.keys.publicKeys();
    expect((await verifyAudit(entries, { keys, audience: one.agent.agentId }))[0]?.problems).toEqual([]);
  });

  test("of one decision is one, however often it is asked for", async () => {
    const one = await start();
    const decision = await one.check();
    const answers = await Promise.all([1, 2, 3].map(() => one.openHold(decision)));
    expect(new Set(answers.map(({ body }) => body.holdId)).size).toBe(1);
  });

  test("is refused for a decision that is none, or another one's", async () => {
    const one = await start();
    const decision = await one.check();
    const allowed = await one.check({ tool: "send_money" });
    expect(allowed.verdict).toBe("allow");
    const code = async (over: Record<string, unknown>) => (await one.openHold(decision, over)).body.code;
    expect(await code({ decisionSeq: 0 })).toBe("not_held");
    expect(await code({ decisionSeq: allowed.seq })).toBe("not_held");
    expect(await code({ decisionSeq: 99 })).toBe("not_found");
    expect(await code({ planId: "none" })).toBe("not_found");
    expect(await code({ args: { ...ARGS, body: "Other" } })).toBe("invalid_request");
    const refusal = { reason: "invalid_args", stage: "schema", detail: "no" };
    expect(await code({ decisionSeq: (await one.check({ refusal })).seq })).toBe("not_held");
  });

  test("is refused once the policy does not hold the call any more", async () => {
    const one = await start();
    const decision = await one.check();
    const text = JSON.stringify(aPolicy(aRule({ decision: "block" })));
    const version = { agentId: one.agent.agentId, text, createdAt: 1, createdBy: BOB, comment: null };
    await one.store.policies.push(version);
    // Not before the next token.
    await one.ask("POST", `/v1/plans/${one.plan.planId}/refresh`);
    const answer = await one.openHold(decision);
    expect([answer.body.code, answer.body.detail]).toEqual(["not_held", "decided again, it is block: allow-in-plan"]);
  });

  test("of another agent is not there, nor for a key that may not act for the person", async () => {
    const one = await start();
    const decision = await one.check();
    const holdId = await one.held();
    const { apiKey: foreign } = await anAgent(one.store);
    const { apiKey: narrow } = await aKey(one.store, one.agent.agentId, { mayActFor: [BOB] });
    const approval = await approveHold(one, holdId);
    const body = { planId: one.plan.planId, decisionSeq: decision.seq, args: ARGS };
    for (const [apiKey, code] of [
      [foreign, "not_found"],
      [narrow, "user_not_allowed"],
    ] as const) {
      expect((await one.ask("POST", "/v1/holds", { apiKey, body })).body.code).toBe(code);
      expect((await one.ask("GET", `/v1/holds/${holdId}`, { apiKey })).body.code).toBe(code);
      const claim = await one.ask("POST", `/v1/holds/${holdId}/claim`, { apiKey, body: { approval } });
      expect(claim.body.code).toBe(code);
    }
  });

  test("is the 21st of a plan: refused", async () => {
    const one = await start();
    for (let i = 0; i < 20; i++) await one.held();
    expect((await one.openHold(await one.check())).body.code).toBe("hold_limit");
    const other = await start({ settings: { maxHolds: 0 } });
    expect((await other.openHold(await other.check())).body.code).toBe("hold_limit");
  });

  test("is not opened for what a person has rejected in this plan", async () => {
    const one = await start();
    await one.reject(await one.held());
    expect((await one.openHold(await one.check())).body.code).toBe("hold_rejected_before");
    const args = { ...ARGS, body: "Something else" };
    expect((await one.openHold(await one.check({ args }), { args })).status).toBe(201);
  });

  test("is taken back when its plan is revoked or closed, and none is opened after", async () => {
    const one = await start();
    const decision = await one.check();
    const holdId = await one.held();
    await one.ask("POST", `/v1/plans/${one.plan.planId}/revoke`, { body: {} });
    expect((await one.ask("GET", `/v1/holds/${holdId}`)).body.status).toBe("cancelled");
    expect((await one.openHold(decision)).body.code).toBe("plan_revoked");
    const two = await start();
    const other = await two.check();
    const otherHold = await two.held();
    await two.ask("POST", "/v1/outcomes", { body: { outcome: { type: "closed", planId: two.plan.planId } } });
    expect((await two.ask("GET", `/v1/holds/${otherHold}`)).body.status).toBe("cancelled");
    expect((await two.openHold(other)).body.code).toBe("plan_closed");
  });
});

describe("an approval", () => {
  test("lets exactly its call through, once", async () => {
    const one = await start();
    const approval = await approveHold(one, await one.held());
    expect(summarize(await one.check({ approval, args: { ...ARGS, body: "Other" } }))).toBe("hold:hold-comments");
    const allowed = await one.check({ approval });
    expect(allowed).toMatchObject({ verdict: "allow", approvedBy: BOB });
    expect(summarize(await one.check({ approval }))).toBe("hold:hold-comments");
    const entries = (await one.store.auditEntries.ofPlan(one.plan.planId)).map(({ entry }) => entry);
    const keys = await one.server.context.keys.publicKeys();
    const [report] = await verifyAudit(entries, { keys, audience: one.agent.agentId });
    expect(report).toMatchObject({ decisions: 4, recomputed: 4, problems: [] });
  });

  test("lets one of many through that come at once", async () => {
    const one = await start();
    const approval = await approveHold(one, await one.held());
    const decisions = await Promise.all(Array.from({ length: 16 }, () => one.check({ approval })));
    expect(decisions.filter(({ verdict }) => verdict === "allow")).toHaveLength(1);
  });

  test.each<[string, (approval: string) => string]>([
    ["is forged", (approval) => approval.replace(/.{20}$/, "A".repeat(20))],
    ["is none", () => "approval"],
    ["is empty", () => ""],
  ])("that %s is none", async (_name, change) => {
    const one = await start();
    const approval = change(await approveHold(one, await one.held()));
    expect(summarize(await one.check({ approval }))).toBe("hold:hold-comments");
  });

  test("of another plan, another agent or the past is none", async () => {
    const one = await start();
    const other = holding(one, await signedPlan(one, COMMENTS));
    const approval = await approveHold(one, await one.held());
    expect(summarize(await other.check({ approval }))).toBe("hold:hold-comments");
    one.clock.advance(300);
    expect(summarize(await one.check({ approval }))).toBe("hold:hold-comments");
    const two = await start({ store: one.store });
    expect(summarize(await two.check({ approval }))).toBe("hold:hold-comments");
  });

  test("does not help a call that a new policy blocks, and is not used up by it", async () => {
    const one = await start();
    const holdId = await one.held();
    const approval = await approveHold(one, holdId);
    const text = JSON.stringify(aPolicy(aRule({ id: "no-comments", decision: "block" })));
    const version = { agentId: one.agent.agentId, text, createdAt: 1, createdBy: BOB, comment: null };
    await one.store.policies.push(version);
    await one.ask("POST", `/v1/plans/${one.plan.planId}/refresh`);
    expect(summarize(await one.check({ approval }))).toBe("block:no-comments");
    expect((await one.store.holds.get(holdId))?.claimedAt).toBeNull();
  });
});

describe("a claim", () => {
  test("is made once, of however many at once", async () => {
    const one = await start();
    const holdId = await one.held();
    const approval = await approveHold(one, holdId);
    const claim = () => one.ask("POST", `/v1/holds/${holdId}/claim`, { body: { approval } });
    const answers = await Promise.all(Array.from({ length: 8 }, claim));
    expect(answers.filter(({ status }) => status === 200).map(({ body }) => body)).toEqual([{ claimed: true }]);
    expect((await claim()).body.code).toBe("already_claimed");
    expect(summarize(await one.check({ approval }))).toBe("hold:hold-comments");
  });

  test("is refused with what is no approval of this hold", async () => {
    const one = await start();
    const [holdId, otherId] = [await one.held(), await one.held()];
    const [approval, other] = [await approveHold(one, holdId), await approveHold(one, otherId)];
    const code = async (given: string) =>
      (await one.ask("POST", `/v1/holds/${holdId}/claim`, { body: { approval: given } })).body.code;
    for (const given of ["", "a.b.c", approval.replace(/.{20}$/, "A".repeat(20)), other]) {
      expect(await code(given)).toBe("approval_invalid");
    }
    one.clock.advance(300);
    expect(await code(approval)).toBe("approval_invalid");
    expect((await one.store.holds.get(holdId))?.claimedAt).toBeNull();
  });

  test("is refused under a plan that is over", async () => {
    const one = await start();
    const holdId = await one.held();
    const approval = await approveHold(one, holdId);
    await one.ask("POST", `/v1/plans/${one.plan.planId}/revoke`, { body: {} });
    expect((await one.ask("POST", `/v1/holds/${holdId}/claim`, { body: { approval } })).body.code).toBe("plan_revoked");
  });
});

describe("waiting for a hold", () => {
  test("ends when a person decides", async () => {
    const one = await start();
    const holdId = await one.held();
    const waiting = one.ask("GET", `/v1/holds/${holdId}?waitSeconds=60`);
    await settle();
    const approval = await approveHold(one, holdId);
    expect((await waiting).body).toMatchObject({ status: "approved", approval, approvedBy: BOB });
    const other = await one.held();
    const rejected = one.ask("GET", `/v1/holds/${other}?waitSeconds=60`);
    await settle();
    await one.reject(other);
    expect((await rejected).body).toMatchObject({ status: "rejected", comment: "no" });
  });

  test("does not start for one that was decided, and without waitSeconds says how it is", async () => {
    const one = await start();
    const holdId = await one.held();
    expect((await one.ask("GET", `/v1/holds/${holdId}`)).body.status).toBe("pending");
    await one.reject(holdId);
    expect((await one.ask("GET", `/v1/holds/${holdId}?waitSeconds=60`)).body.status).toBe("rejected");
  });

  test("ends with the time of the hold, by the server's clock, and nobody can decide after", async () => {
    const one = await start();
    const holdId = await one.held();
    one.clock.advance(300);
    expect((await one.ask("GET", `/v1/holds/${holdId}?waitSeconds=60`)).body.status).toBe("expired");
    expect((await one.store.holds.get(holdId))?.status).toBe("expired");
    expect(await one.reject(holdId)).toBeUndefined();
  });

  test("ends when the server stops, without an answer that it has not", async () => {
    const one = await start();
    const holdId = await one.held();
    const waiting = one.ask("GET", `/v1/holds/${holdId}?waitSeconds=60`);
    await settle();
    await one.close();
    expect((await waiting).body.status).toBe("pending");
  });

  test("ends when whoever waits is gone", async () => {
    const one = await start();
    const holdId = await one.held();
    const gone = new AbortController();
    const waiting = one.ask("GET", `/v1/holds/${holdId}?waitSeconds=60`, { signal: gone.signal });
    await settle();
    gone.abort();
    expect((await waiting).body.status).toBe("pending");
  });
});

test("a sweep ends holds that nobody decided, and flags plans that nobody closed", async () => {
  const one = await start({ settings: { planMaxAgeSeconds: 1000 } });
  const holdId = await one.held();
  await one.server.sweep();
  expect((await one.store.holds.get(holdId))?.status).toBe("pending");
  one.clock.advance(300);
  await one.server.sweep();
  expect((await one.store.holds.get(holdId))?.status).toBe("expired");
  expect((await one.store.plans.get(one.plan.planId))?.flagged).toBeNull();
  one.clock.advance(1000);
  await one.server.sweep();
  expect((await one.store.plans.get(one.plan.planId))?.flagged).toMatchObject({ kind: "never_closed" });
});

describe("a lease", () => {
  test("is given back by its holder, and by nobody else", async () => {
    const one = await start();
    const lease = (body: object) => one.ask("POST", `/v1/plans/${one.plan.planId}/lease`, { body });
    await lease({ holder: "a" });
    expect((await lease({ holder: "b", release: true })).body.code).toBe("lease_held");
    expect((await lease({ holder: "b" })).body.code).toBe("lease_held");
    expect((await lease({ holder: "a", release: true })).status).toBe(200);
    expect((await lease({ holder: "b" })).status).toBe(200);
  });

  test("is one holder's at a time, until it ends", async () => {
    const one = await start();
    const lease = (holder: string) => one.ask("POST", `/v1/plans/${one.plan.planId}/lease`, { body: { holder } });
    const { body } = await lease("a");
    expect(body.leaseUntil).toBeGreaterThan(one.clock.now());
    expect((await lease("b")).body.code).toBe("lease_held");
    expect((await lease("a")).status).toBe(200);
    one.clock.advance((body.leaseUntil - one.clock.now()) / 1000);
    expect((await lease("b")).status).toBe(200);
    const { apiKey } = await anAgent(one.store);
    const foreign = await one.ask("POST", `/v1/plans/${one.plan.planId}/lease`, { apiKey, body: { holder: "b" } });
    expect(foreign.body.code).toBe("not_found");
  });

  test("comes with a plan that goes on: its counts and holds, from the records", async () => {
    const one = await start();
    await one.check({ tool: "send_money" });
    const [pending, approved, used] = [await one.held(), await one.held(), await one.held()];
    await approveHold(one, approved);
    const approval = await approveHold(one, used);
    await one.check({ approval });
    await one.reject(await one.held());
    const { status, body } = await one.ask("POST", `/v1/plans/${one.plan.planId}/resume`, { body: { holder: "b" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ planId: one.plan.planId, used: [1, 1], spent: { calls: 2, payoutMicros: 0 } });
    expect(new Set(body.openHolds.map(({ holdId }: { holdId: string }) => holdId))).toEqual(
      new Set([pending, approved]),
    );
    const state = await one.store.plans.state(one.plan.planId);
    expect([body.seq, body.head]).toEqual([state?.seq, state?.head]);
    expect(body.token).not.toBe(one.plan.token);
    const other = await one.ask("POST", `/v1/plans/${one.plan.planId}/resume`, { body: { holder: "c" } });
    expect(other.body.code).toBe("lease_held");
  });
});

describe.each([
  ["SQLite", createSqliteDatabase, true],
  ["PostgreSQL", createPostgresDatabase, POSTGRES_URL !== undefined],
] as const)("two servers over one %s", (_name, create, isThere) => {
  test.skipIf(!isThere)("wake each other's waiting clients", async () => {
    const database = await create();
    try {
      const one = await start({ store: await database.open() });
      const other = await aServer({ store: await database.open(), clock: one.clock });
      const holdId = await one.held();
      const path = `/v1/holds/${holdId}?waitSeconds=60`;
      const waiting = other.ask("GET", path, { apiKey: one.agent.apiKey });
      await settle();
      await approveHold(one, holdId);
      expect((await waiting).body.status).toBe("approved");
    } finally {
      open.length = 0;
      await database.drop();
    }
  });
});

/** What is ready by now happens. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
}
