import { afterEach, describe, expect, test, vi } from "vitest";
import { aServerWithBrowsers } from "../../../test/browsers.ts";
import { ALICE, aPolicy, aRule } from "../../../test/builders.ts";
import {
  aCheckBody,
  anAgent,
  aServer,
  ROOT,
  type ServerSetup,
  type ServerUnderTest,
  signedPlan,
} from "../../../test/servers.ts";
import { BOB } from "../../../test/store-builders.ts";

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(setup: ServerSetup = {}): Promise<ServerUnderTest> {
  const one = await aServer(setup);
  open.push(one);
  return one;
}

const STRICT = JSON.stringify(
  aPolicy(aRule({ id: "no-eve", match: { args: { to: { eq: "eve" } } }, decision: "block" }), aRule()),
);

function tryPolicy({ ask, agent }: ServerUnderTest, over: Record<string, unknown> = {}) {
  return ask("POST", "/v1/policies/test", { body: { agent: agent.name, text: STRICT, ...over } });
}

describe("validating a policy", () => {
  test.each([
    [STRICT, true],
    ["version: 1\ndefault: block\nrules: []\n", true],
    ["version: 2\ndefault: block\nrules: []\n", false],
    ["", false],
    ["&a [*a, *a]", false],
  ])("%j", async (text, valid) => {
    const { ask } = await start();
    const { status, body } = await ask("POST", "/v1/policies/validate", { body: { text } });
    expect([status, body.valid]).toEqual([200, valid]);
    expect(body.issues.length > 0).toBe(!valid);
    if (!valid) expect(body.issues[0].message).not.toBe("");
  });
});

describe("testing a policy", () => {
  test("decides the last decisions again, newest first, and changes nothing", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    for (const to of ["landlord", "eve", "landlord"]) {
      await one.ask("POST", "/v1/check", { body: aCheckBody(plan, { callId: `to ${to}`, args: { to } }) });
    }
    const before = await one.store.plans.state(plan.planId);
    const { status, body } = await tryPolicy(one, { replay: 10 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ changed: 1, notRecomputable: 0 });
    expect(body.rows.map((row: { seq: number; changed: boolean }) => [row.seq, row.changed])).toEqual([
      [3, false],
      [2, true],
      [1, false],
    ]);
    expect(body.rows[1]).toEqual({
      callId: "to eve",
      tool: "send_money",
      planId: plan.planId,
      seq: 2,
      before: { verdict: "allow", rule: "allow-in-plan" },
      after: { verdict: "block", reason: "no-eve", rule: "no-eve" },
      changed: true,
    });
    expect((await tryPolicy(one, { replay: 1 })).body.rows).toHaveLength(1);
    expect((await tryPolicy(one)).body.rows).toEqual([]);
    expect(await one.store.plans.state(plan.planId)).toEqual(before);
  });

  test("says to an administrator what was called, and for whom, unless it is long", async () => {
    const one = await aServerWithBrowsers({ policy: aPolicy() });
    open.push(one);
    const plan = await signedPlan(one);
    for (const to of ["landlord", "x".repeat(10_000)]) {
      await one.ask("POST", "/v1/check", { body: aCheckBody(plan, { args: { to } }) });
    }
    const root = await one.signIn(ROOT);
    const body = { agent: one.agent.name, text: STRICT, replay: 10 };
    const [long, short] = (await root.ask("POST", "/v1/policies/test", body)).body.rows;
    const [at, user] = [one.clock.now(), ALICE];
    expect(short).toMatchObject({ at, user, args: { to: "landlord" } });
    expect(long).toMatchObject({ at, user, seq: 2 });
    expect(long).not.toHaveProperty("args");
    // A key may act for other people than those of these calls.
    for (const row of (await tryPolicy(one, { replay: 10 })).body.rows) {
      expect(row).not.toHaveProperty("user");
      expect(row).not.toHaveProperty("args");
    }
  });

  test("says how many decisions cannot be made again", async () => {
    const one = await start();
    const { planId, token } = await signedPlan(one);
    const call = { callId: "a", tool: "send_money" };
    await one.ask("POST", "/v1/check", { body: { planId, token, call } });
    expect((await tryPolicy(one, { replay: 10 })).body).toMatchObject({ rows: [], notRecomputable: 1 });
  });

  test("decides sample calls under both, as the first administrator or as somebody", async () => {
    const one = await start({ policy: aPolicy(aRule({ match: { user: { email: ALICE } } })) });
    const calls = [
      { tool: "anything", args: { to: "eve" } },
      { tool: "anything", args: {}, user: "ALICE@acme.dev", callId: "mine" },
    ];
    const { body } = await tryPolicy(one, { calls });
    expect(body.rows).toMatchObject([
      { callId: "sample-1", before: { verdict: "block", reason: "no_matching_rule" }, after: { reason: "no-eve" } },
      { callId: "mine", before: { verdict: "allow" }, after: { verdict: "allow" }, changed: false },
    ]);
    expect(body.changed).toBe(1);
    const unknown = await tryPolicy(one, { calls: [{ tool: "a", args: {}, user: "eve@acme.dev" }] });
    expect(unknown.body.code).toBe("unknown_user");
  });

  test("of an agent without one has nothing before", async () => {
    const one = await start();
    vi.spyOn(one.store.policies, "latest").mockResolvedValue(undefined);
    const { body } = await tryPolicy(one, { calls: [{ tool: "anything", args: {} }] });
    expect(body.rows[0]).toMatchObject({ before: null, after: { verdict: "allow" }, changed: true });
  });

  test("that is none says what is wrong", async () => {
    const one = await start();
    const { status, body } = await tryPolicy(one, { text: "version: 2" });
    expect([status, body.code]).toEqual([422, "invalid_policy"]);
    expect(body.issues.length).toBeGreaterThan(0);
  });

  test("does not tell an agent of another's, by whatever name", async () => {
    const one = await start();
    const other = await anAgent(one.store, { name: BOB });
    for (const agent of [other.name, "nobody"]) expect((await tryPolicy(one, { agent })).body.code).toBe("not_found");
  });
});
