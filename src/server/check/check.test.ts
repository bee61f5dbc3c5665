import { afterEach, describe, expect, test, vi } from "vitest";
import { ALICE, aPolicy, aRule, summarize } from "../../../test/builders.ts";
import {
  aCheckBody,
  anAgent,
  aServer,
  type ServerSetup,
  type ServerUnderTest,
  signedPlan,
  type TestPlan,
} from "../../../test/servers.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "../../../test/stores.ts";
import { decisionSchema } from "../../core/api/index.ts";
import { type AuditEntry, type Decision, verifyAudit } from "../../core/index.ts";

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(setup: ServerSetup = {}): Promise<ServerUnderTest> {
  const one = await aServer(setup);
  open.push(one);
  return one;
}

type Ask = Pick<ServerUnderTest, "ask">;

async function check({ ask }: Ask, ...body: Parameters<typeof aCheckBody>): Promise<Decision> {
  const answer = await ask("POST", "/v1/check", { body: aCheckBody(...body) });
  expect(answer.status).toBe(200);
  return decisionSchema.parse(answer.body.decision);
}

async function entriesOf({ store }: ServerUnderTest, planId: string): Promise<AuditEntry[]> {
  return (await store.auditEntries.ofPlan(planId)).map(({ entry }) => entry);
}

/** What the chain of a plan says when everything in it is verified and decided again. */
async function audit(one: ServerUnderTest, planId: string) {
  const keys = await one.server.context.keys.publicKeys();
  return (await verifyAudit(await entriesOf(one, planId), { keys, audience: one.agent.agentId }))[0];
}

const STEPS = { plan: { goal: "Pay", steps: [{ tool: "send_money", maxCalls: 2 }, { tool: "read_file" }] } };

describe("a decision", () => {
  test("is answered with its number, digest and time, and can be made again from its record", async () => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    const decision = await check(one, plan);
    expect(decision).toMatchObject({ verdict: "allow", step: 0, seq: 1, planId: plan.planId, budgetRemaining: null });
    expect(decision.digest).toMatch(/^sha256:/);
    expect(decision.elapsedUs).toBeGreaterThanOrEqual(0);
    expect(summarize(await check(one, plan, { tool: "post_comment" }))).toBe("block:not_in_plan");
    expect(await audit(one, plan.planId)).toMatchObject({ decisions: 2, recomputed: 2, problems: [] });
  });

  test("counts: what is used up is not allowed again, and what never started is", async () => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    const first = await check(one, plan);
    await check(one, plan);
    expect(summarize(await check(one, plan))).toBe("block:call_limit");
    const outcome = { type: "outcome", planId: plan.planId, decisionSeq: first.seq, status: "aborted" };
    expect((await one.ask("POST", "/v1/outcomes", { body: { outcome } })).body).toEqual({ recorded: true });
    expect(summarize(await check(one, plan))).toBe("allow");
    expect(summarize(await check(one, plan))).toBe("block:call_limit");
    const again = await one.ask("POST", "/v1/outcomes", { body: { outcome } });
    expect(again.body.code).toBe("outcome_not_expected");
    expect(await audit(one, plan.planId)).toMatchObject({ problems: [] });
  });

  test("counts for all servers of a store, whatever each remembers", async () => {
    const one = await start();
    const other = await aServer({ store: one.store, clock: one.clock });
    const asOne = {
      ask: (method: string, path: string, ask = {}) => other.ask(method, path, { apiKey: one.agent.apiKey, ...ask }),
    };
    const plan = await signedPlan(one, STEPS);
    const verdicts = [];
    for (const server of [one, asOne, one, asOne]) verdicts.push(summarize(await check(server, plan)));
    expect(verdicts).toEqual(["allow", "allow", "block:call_limit", "block:call_limit"]);
    expect(await audit(one, plan.planId)).toMatchObject({ recomputed: 4, problems: [] });
  });

  test("is given back by any server, also by one that has not heard of it", async () => {
    const one = await start();
    const other = await aServer({ store: one.store, clock: one.clock });
    const plan = await signedPlan(one, STEPS);
    const { apiKey } = one.agent;
    await check(one, plan);
    const { body } = await other.ask("POST", "/v1/check", { apiKey, body: aCheckBody(plan) });
    const outcome = { type: "outcome", planId: plan.planId, decisionSeq: body.decision.seq, status: "aborted" };
    expect((await one.ask("POST", "/v1/outcomes", { body: { outcome } })).status).toBe(200);
    expect((await one.store.plans.state(plan.planId))?.used).toEqual([1, 0]);
  });

  test.each(["ok", "failed", "unknown"])("is not given back by the outcome %s", async (status) => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    for (let i = 0; i < 2; i++) {
      const { seq } = await check(one, plan);
      const outcome = { type: "outcome", planId: plan.planId, decisionSeq: seq, status, durationMs: 1.5 };
      expect((await one.ask("POST", "/v1/outcomes", { body: { outcome } })).status).toBe(200);
    }
    expect(summarize(await check(one, plan))).toBe("block:call_limit");
  });

  test("of a peek changes nothing and is not recorded, and sees what others have done", async () => {
    const one = await start();
    const other = await aServer({ store: one.store, clock: one.clock });
    const plan = await signedPlan(one, STEPS);
    const peek = async (): Promise<string> => {
      const decision = await check(one, plan, {}, { peek: true });
      expect(decision.seq).toBeUndefined();
      return summarize(decision);
    };
    for (let i = 0; i < 5; i++) expect(await peek()).toBe("allow");
    expect(await entriesOf(one, plan.planId)).toHaveLength(1);
    for (let i = 0; i < 2; i++) {
      await other.ask("POST", "/v1/check", { apiKey: one.agent.apiKey, body: aCheckBody(plan) });
    }
    expect(await peek()).toBe("block:call_limit");
  });

  test("of a call that was refused before is a block, on record with what check() said", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    const refusal = { reason: "invalid_args", stage: "schema", detail: "no" };
    expect(summarize(await check(one, plan, { refusal }))).toBe("block:invalid_args");
    const [, entry] = await entriesOf(one, plan.planId);
    expect(entry?.event).toMatchObject({ verdict: "allow", answer: "invalid_args" });
    expect((await one.store.plans.state(plan.planId))?.used).toEqual([0]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["without arguments", { args: undefined }, "block:invalid_call"],
    ["with arguments that are no object", { args: [1] }, "block:invalid_call"],
    ["with arguments past a mebibyte", { args: { a: "x".repeat(1_048_577) } }, "block:invalid_call"],
    ["with a tool that has changed", { fingerprint: "sha256:other" }, "block:tool_changed"],
    ["of constructor", { tool: "constructor" }, "block:not_in_plan"],
    ["of __proto__", { tool: "__proto__" }, "block:not_in_plan"],
    ["with a name that is none", { tool: "a b" }, "block:invalid_call"],
    ["with an endless id", { callId: "x".repeat(5000) }, "block:invalid_call"],
  ])("of a call %s is a block that is on record", async (_name, call, summary) => {
    const one = await start();
    const plan = await signedPlan(one);
    const { call: whole, ...rest } = aCheckBody(plan, call) as { call: Record<string, unknown> };
    const { args, ...more } = whole;
    const body = { ...rest, call: args === undefined ? more : whole };
    const answer = await one.ask("POST", "/v1/check", { body });
    expect(summarize(answer.body.decision)).toBe(summary);
    expect(await audit(one, plan.planId)).toMatchObject({ decisions: 1, problems: [] });
  });

  test("of a budget counts what was spent", async () => {
    const payouts = [{ tool: "send_money", arg: "amount", microsPerUnit: 1 }];
    const one = await start({ settings: { budget: { session: { payoutMicros: 50 }, payouts } } });
    const plan = await signedPlan(one);
    const decisions = [await check(one, plan), await check(one, plan), await check(one, plan)];
    expect(decisions.map(summarize)).toEqual(["allow", "allow", "block:budget_exhausted"]);
    expect(decisions[1]).toMatchObject({ budgetRemaining: { session: { payoutMicros: 10 } }, payoutMicros: 20 });
    expect(await audit(one, plan.planId)).toMatchObject({ recomputed: 3, problems: [] });
  });
});

describe("a token", () => {
  test("is renewed by the server in time, and the client's old one still counts", async () => {
    const one = await start({ settings: { planTtlSeconds: 100, planMaxAgeSeconds: 1000 } });
    const plan = await signedPlan(one);
    one.clock.advance(89);
    await check(one, plan);
    one.clock.advance(1);
    expect(summarize(await check(one, plan))).toBe("allow");
    one.clock.advance(500);
    expect(summarize(await check(one, plan))).toBe("allow");
    const types = (await entriesOf(one, plan.planId)).map(({ event }) => event.type);
    expect(types).toEqual(["plan_signed", "decision", "refresh", "decision", "refresh", "decision"]);
    expect(await audit(one, plan.planId)).toMatchObject({ recomputed: 3, problems: [] });
  });

  test("is not renewed for a person who is gone, or past the plan's age: then it expires", async () => {
    const one = await start({ settings: { planTtlSeconds: 100, planMaxAgeSeconds: 150 } });
    const plan = await signedPlan(one);
    one.clock.advance(131);
    await one.store.people.remove(ALICE);
    expect(summarize(await check(one, plan))).toBe("block:token_expired");
    const two = await start({ settings: { planTtlSeconds: 100, planMaxAgeSeconds: 150 } });
    const other = await signedPlan(two);
    two.clock.advance(150);
    expect(summarize(await check(two, other))).toBe("block:token_expired");
  });

  test.each<[string, (plan: TestPlan, other: TestPlan) => string]>([
    ["of another plan", (_plan, other) => other.token],
    ["that is forged", ({ token }) => token.replace(/.{20}$/, "A".repeat(20))],
    ["that is none", () => "token"],
    ["that is empty", () => ""],
  ])("%s is refused", async (_name, choose) => {
    const one = await start();
    const [plan, other] = [await signedPlan(one), await signedPlan(one)];
    const decision = await check(one, { ...plan, token: choose(plan, other) });
    expect(summarize(decision)).toBe("block:invalid_token");
    expect(await entriesOf(one, plan.planId)).toHaveLength(1);
  });

  test("of another agent for the same plan is refused", async () => {
    const one = await start();
    const { apiKey } = await anAgent(one.store);
    const theirs = await signedPlan({ ask: (method, path, ask) => one.ask(method, path, { ...ask, apiKey }) });
    const plan = await signedPlan(one);
    expect(summarize(await check(one, { ...plan, token: theirs.token }))).toBe("block:invalid_token");
  });
});

describe("a plan that is done", () => {
  test("allows nothing more, and takes outcomes of calls that were allowed before", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    const { seq } = await check(one, plan);
    const closed = { outcome: { type: "closed", planId: plan.planId } };
    expect((await one.ask("POST", "/v1/outcomes", { body: closed })).status).toBe(200);
    expect(summarize(await check(one, plan))).toBe("block:invalid_token");
    const outcome = { type: "outcome", planId: plan.planId, decisionSeq: seq, status: "ok" };
    expect((await one.ask("POST", "/v1/outcomes", { body: { outcome } })).status).toBe(200);
    expect((await one.ask("POST", "/v1/outcomes", { body: closed })).body.code).toBe("plan_closed");
    expect(await audit(one, plan.planId)).toMatchObject({ closed: true, problems: [] });
  });

  test("by another agent stays open", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    const { apiKey } = await anAgent(one.store);
    const body = { outcome: { type: "closed", planId: plan.planId } };
    expect((await one.ask("POST", "/v1/outcomes", { apiKey, body })).body.code).toBe("not_found");
    expect(summarize(await check(one, plan))).toBe("allow");
  });
});

test.each<[string, (one: ServerUnderTest) => Promise<boolean>]>([
  ["a key that was revoked", ({ store, agent }) => store.apiKeys.revoke(agent.keyId, 1)],
  ["a key of an agent that was disabled", ({ store, agent }) => store.agents.setDisabled(agent.agentId, 1)],
])("%s decides nothing more, also where it was good a moment ago", async (_name, stop) => {
  const one = await start();
  const other = await aServer({ store: one.store, clock: one.clock });
  const plan = await signedPlan(one);
  const send = async (server: ServerUnderTest) =>
    (await server.ask("POST", "/v1/check", { apiKey: one.agent.apiKey, body: aCheckBody(plan) })).status;
  expect([await send(one), await send(other)]).toEqual([200, 200]);
  await stop(one);
  expect([await send(one), await send(other), await send(one)]).toEqual([401, 401, 401]);
  expect((await one.store.plans.state(plan.planId))?.used).toEqual([2]);
});

test("nothing is allowed that could not be written", async () => {
  const one = await start();
  const plan = await signedPlan(one);
  vi.spyOn(one.store.plans, "append").mockRejectedValueOnce(new Error("disk full"));
  expect((await one.ask("POST", "/v1/check", { body: aCheckBody(plan) })).status).toBe(500);
  expect(summarize(await check(one, plan))).toBe("allow");
  expect((await one.store.plans.state(plan.planId))?.used).toEqual([1]);
});

test("a policy with an allow for everybody and a block for one person blocks that person", async () => {
  const policy = aPolicy(aRule({ id: "not-alice", match: { user: { email: ALICE } }, decision: "block" }), aRule());
  const one = await start({ policy });
  expect(summarize(await check(one, await signedPlan(one)))).toBe("block:not-alice");
});

describe.each([
  ["SQLite", createSqliteDatabase, true],
  ["PostgreSQL", createPostgresDatabase, POSTGRES_URL !== undefined],
] as const)("two servers over one %s", (_name, create, isThere) => {
  test.skipIf(!isThere)("allow exactly 10 of 64 parallel calls of a step with 10", async () => {
    const database = await create();
    try {
      const store = await database.open();
      const one = await aServer({ store });
      const other = await aServer({ store: await database.open(), clock: one.clock });
      const plan = await signedPlan(one, { plan: { goal: "Pay", steps: [{ tool: "send_money", maxCalls: 10 }] } });
      const decisions = await Promise.all(
        Array.from({ length: 64 }, async (_, index) => {
          const body = aCheckBody(plan, { callId: `call-${index}` });
          const { apiKey } = one.agent;
          return (await (index % 2 ? one : other).ask("POST", "/v1/check", { apiKey, body })).body.decision as Decision;
        }),
      );
      const count = (summary: string) => decisions.filter((decision) => summarize(decision) === summary).length;
      expect([count("allow"), count("block:call_limit")]).toEqual([10, 54]);
      expect(new Set(decisions.map(({ seq }) => seq)).size).toBe(64);
      expect(await audit(one, plan.planId)).toMatchObject({ recomputed: 64, problems: [] });
    } finally {
      await database.drop();
    }
  });
});
