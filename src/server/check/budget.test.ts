import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ALICE, aPolicy, aRule, NOW, summarize } from "../../../test/builders.ts";
import {
  aCheckBody,
  anAgent,
  approveHold,
  aServer,
  type ServerSetup,
  type ServerUnderTest,
  signedPlan,
  type TestPlan,
} from "../../../test/servers.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "../../../test/stores.ts";
import { type AllowDecision, type Budget, type Decision, type Spent, verifyAudit } from "../../core/index.ts";
import { sumWindow } from "../../core/sliding-window.ts";

const payouts = [{ tool: "send_money", arg: "amount", microsPerUnit: 1_000_000 }];
const HOUR: Budget = { principal: { calls: 5, payoutMicros: 100_000_000, windowSeconds: 3600 }, payouts };

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(budget: Budget = HOUR, setup: ServerSetup = {}): Promise<ServerUnderTest> {
  const one = await aServer({ settings: { budget }, ...setup });
  open.push(one);
  return one;
}

type Ask = Pick<ServerUnderTest, "ask">;

async function pay({ ask }: Ask, plan: TestPlan, amount: unknown = 20, over = {}): Promise<Decision> {
  const call = { args: { to: "landlord", amount }, ...over };
  const { status, body } = await ask("POST", "/v1/check", { body: aCheckBody(plan, call) });
  expect(status).toBe(200);
  return body.decision;
}

async function settle(
  { ask }: Ask,
  { planId, seq }: Pick<Decision, "planId" | "seq">,
  status: string,
): Promise<unknown> {
  const outcome = { type: "outcome", planId, decisionSeq: seq, status };
  const answer = await ask("POST", "/v1/outcomes", { body: { outcome } });
  return answer.status === 200 ? "recorded" : answer.body.code;
}

/** What both ledgers say. */
async function spentOf(one: ServerUnderTest, plan: TestPlan, windowSeconds = 3600) {
  const { window } = await one.store.principalLedgers.get({ agentId: one.agent.agentId, userEmail: ALICE });
  const session = (await one.store.plans.state(plan.planId))?.spent;
  return { session, principal: sumWindow(window, windowSeconds, one.clock.now() / 1000) };
}

function spent(calls: number, payoutMicros: number): Spent {
  return { calls, payoutMicros };
}

async function problemsOf({ store, server, agent }: ServerUnderTest, { planId }: TestPlan) {
  const entries = (await store.auditEntries.ofPlan(planId)).map(({ entry }) => entry);
  const keys = await server.context.keys.publicKeys();
  return (await verifyAudit(entries, { keys, audience: agent.agentId }))[0]?.problems;
}

describe("the budget of a person", () => {
  test("is one over all their plans and tokens, however their address is written, and no one else's", async () => {
    const one = await start();
    const plans = [];
    for (const user of [ALICE, ALICE.toUpperCase(), `  ${ALICE}`.trim(), "Alice@ACME.dev"]) {
      plans.push(await signedPlan(one, { user }));
    }
    const decisions = [];
    for (const plan of [...plans, ...plans]) decisions.push(await pay(one, plan, 10));
    expect(decisions.map(summarize)).toEqual([...Array(5).fill("allow"), ...Array(3).fill("block:budget_exhausted")]);
    expect(decisions[4]).toMatchObject({ principalId: ALICE, budgetRemaining: { principal: spent(0, 50_000_000) } });
    const others = await signedPlan(one, { user: "bob@acme.dev" });
    expect(await pay(one, others, 100)).toMatchObject({ verdict: "allow", principalId: "bob@acme.dev" });
    const agent = await anAgent(one.store, { settings: { budget: HOUR } });
    const asOther: Ask = { ask: (method, path, ask) => one.ask(method, path, { ...ask, apiKey: agent.apiKey }) };
    expect(summarize(await pay(asOther, await signedPlan(asOther), 100))).toBe("allow");
    for (const plan of plans) expect(await problemsOf(one, plan)).toEqual([]);
  });

  test("slides: a call counts for the window, and at most a sixtieth of it longer", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    await pay(one, plan, 60);
    one.clock.advance(1800);
    await pay(one, plan, 40);
    one.clock.advance(1800);
    expect(summarize(await pay(one, await signedPlan(one), 1))).toBe("block:budget_exhausted");
    one.clock.advance(60);
    expect(summarize(await pay(one, await signedPlan(one), 61))).toBe("block:budget_exhausted");
    expect(summarize(await pay(one, await signedPlan(one), 60))).toBe("allow");
  });

  test("does not begin again with other settings, another key or a person who was removed and added", async () => {
    const one = await start();
    await pay(one, await signedPlan(one), 100);
    const budget = { ...HOUR, principal: { payoutMicros: 100_000_000, windowSeconds: 86_400 } };
    await one.store.agents.setSettings(one.agent.agentId, { budget });
    expect(summarize(await pay(one, await signedPlan(one), 1))).toBe("block:budget_exhausted");
    const person = (await one.store.people.get(ALICE))!;
    await one.store.people.remove(ALICE);
    await one.store.people.upsert(person);
    expect(summarize(await pay(one, await signedPlan(one), 1))).toBe("block:budget_exhausted");
  });

  test("is not taken by a look, a block or a hold", async () => {
    const policy = aPolicy(
      aRule({ id: "hold-it", match: { tool: "post_comment" }, decision: "hold", approvers: { roles: ["approver"] } }),
      aRule(),
    );
    const one = await start(HOUR, { policy });
    const plan = await signedPlan(one, {
      plan: { goal: "Pay", steps: [{ tool: "send_money" }, { tool: "post_comment" }] },
    });
    const peek = await one.ask("POST", "/v1/check", { body: { ...aCheckBody(plan), peek: true } });
    expect(peek.body.decision).toMatchObject({ verdict: "allow", budgetRemaining: { principal: { calls: 4 } } });
    expect(summarize(await pay(one, plan, 101))).toBe("block:budget_exhausted");
    expect(summarize(await pay(one, plan, 1, { tool: "read_file" }))).toBe("block:not_in_plan");
    const comment = { tool: "post_comment", callId: "comment", args: { text: "Thanks" } };
    const hold = await pay(one, plan, 0, comment);
    expect(summarize(hold)).toBe("hold:hold-it");
    expect(await spentOf(one, plan)).toEqual({ session: spent(0, 0), principal: spent(0, 0) });
    const held = { planId: plan.planId, decisionSeq: hold.seq, args: comment.args };
    const opened = await one.ask("POST", "/v1/holds", { body: held });
    const approval = await approveHold(one, opened.body.holdId);
    const approved = await pay(one, plan, 0, { ...comment, approval });
    expect(approved).toMatchObject({ verdict: "allow", approvedBy: "bob@acme.dev", principalId: ALICE });
    expect(await spentOf(one, plan)).toEqual({ session: spent(1, 0), principal: spent(1, 0) });
  });

  test.each([-1, -1e-9, "20", "1e1", null, true, [20], { value: 1 }, 0.0000001, 20.0000001, 2 ** 53, 1e308])(
    "an amount of %j is blocked, and takes nothing",
    async (amount) => {
      const one = await start();
      const plan = await signedPlan(one);
      expect(summarize(await pay(one, plan, amount))).toBe("block:budget_exhausted");
      expect(await spentOf(one, plan)).toEqual({ session: spent(0, 0), principal: spent(0, 0) });
    },
  );

  test("and so is one that is missing", async () => {
    const one = await start();
    expect(summarize(await pay(one, await signedPlan(one), 1, { args: { to: "landlord" } }))).toBe(
      "block:budget_exhausted",
    );
  });

  test("-0 pays nothing", async () => {
    const one = await start();
    expect(await pay(one, await signedPlan(one), -0)).toMatchObject({ verdict: "allow", payoutMicros: 0 });
  });
});

describe("what is given back", () => {
  test("is what a call has taken that never started, once, and by nobody else", async () => {
    const one = await start();
    const [plan, other] = [await signedPlan(one), await signedPlan(one)];
    const [first, second] = [await pay(one, plan, 30), await pay(one, other, 12.5)];
    const stranger = await anAgent(one.store);
    const asStranger: Ask = { ask: (method, path, ask) => one.ask(method, path, { ...ask, apiKey: stranger.apiKey }) };
    expect(await settle(asStranger, first, "aborted")).toBe("not_found");
    expect(await settle(one, { ...first, planId: other.planId, seq: 7 }, "aborted")).toBe("outcome_not_expected");
    expect(await settle(one, first, "aborted")).toBe("recorded");
    expect(await settle(one, first, "aborted")).toBe("outcome_not_expected");
    expect(await spentOf(one, other)).toEqual({ session: spent(1, 12_500_000), principal: spent(1, 12_500_000) });
    expect(await settle(one, second, "failed")).toBe("recorded");
    expect(await settle(one, second, "aborted")).toBe("outcome_not_expected");
    expect(await spentOf(one, other)).toEqual({ session: spent(1, 12_500_000), principal: spent(1, 12_500_000) });
    expect(await spentOf(one, plan)).toMatchObject({ session: spent(0, 0) });
  });

  test("is not what has left the window: no later call pays for it", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    const first = await pay(one, plan, 30);
    one.clock.advance(3700);
    await pay(one, plan, 5);
    expect(await settle(one, first, "aborted")).toBe("recorded");
    expect(await spentOf(one, plan)).toEqual({ session: spent(1, 5_000_000), principal: spent(1, 5_000_000) });
  });

  test("of 64 outcomes of one call at once, from two servers, one counts", async () => {
    const one = await start();
    const other = await aServer({ store: one.store, clock: one.clock });
    const { apiKey } = one.agent;
    const asOther: Ask = { ask: (method, path, ask) => other.ask(method, path, { ...ask, apiKey }) };
    const plan = await signedPlan(one);
    const [first] = [await pay(one, plan, 30), await pay(one, plan, 40)];
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => settle(index % 2 ? one : asOther, first, "aborted")),
    );
    expect(answers.filter((answer) => answer === "recorded")).toHaveLength(1);
    expect(await spentOf(one, plan)).toEqual({ session: spent(1, 40_000_000), principal: spent(1, 40_000_000) });
  });
});

test("what another server has given back can be taken here", async () => {
  const one = await start();
  const other = await aServer({ store: one.store, clock: one.clock });
  const { apiKey } = one.agent;
  const asOther: Ask = { ask: (method, path, ask) => other.ask(method, path, { ...ask, apiKey }) };
  const [plan, second] = [await signedPlan(one), await signedPlan(one)];
  const first = await pay(one, plan, 100);
  expect(summarize(await pay(asOther, second, 1))).toBe("block:budget_exhausted");
  expect(await settle(one, first, "aborted")).toBe("recorded");
  expect(summarize(await pay(asOther, second, 1))).toBe("allow");
});

describe("a ledger that cannot be kept blocks", () => {
  test("when it cannot be read", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    const damaged = vi.spyOn(one.store.principalLedgers, "open").mockRejectedValue(new Error("damaged"));
    expect((await one.ask("POST", "/v1/check", { body: aCheckBody(plan) })).status).toBe(500);
    damaged.mockRestore();
    expect(await spentOf(one, plan)).toEqual({ session: spent(0, 0), principal: spent(0, 0) });
  });

  test("when it cannot be written", async () => {
    const one = await start();
    const plan = await signedPlan(one);
    await pay(one, plan, 30);
    vi.spyOn(one.store.plans, "append").mockRejectedValueOnce(new Error("disk full"));
    expect((await one.ask("POST", "/v1/check", { body: aCheckBody(plan) })).status).toBe(500);
    expect(await spentOf(one, plan)).toEqual({ session: spent(1, 30_000_000), principal: spent(1, 30_000_000) });
    expect(await pay(one, plan, 70)).toMatchObject({ verdict: "allow", budgetRemaining: { principal: spent(3, 0) } });
  });
});

describe.each([
  ["SQLite", createSqliteDatabase, true],
  ["PostgreSQL", createPostgresDatabase, POSTGRES_URL !== undefined],
] as const)("256 calls at once, of 8 plans of one person, on two servers over one %s,", (_name, create, isThere) => {
  test.skipIf(!isThere).each<[string, Budget, number]>([
    ["calls of the person", { principal: { calls: 100, windowSeconds: 3600 } }, 100],
    ["money of the person", { principal: { payoutMicros: 100_000_000, windowSeconds: 3600 }, payouts }, 100],
    ["calls of each plan", { session: { calls: 10 } }, 80],
    ["money of each plan", { session: { payoutMicros: 10_000_000 }, payouts }, 80],
    [
      "all of these",
      { session: { calls: 10, payoutMicros: 9_000_000 }, principal: { calls: 70, windowSeconds: 3600 }, payouts },
      70,
    ],
  ])("meet exactly: %s", { timeout: 120_000 }, async (_what, budget, expected) => {
    const database = await create();
    try {
      const one = await aServer({ store: await database.open(), settings: { budget } });
      const other = await aServer({ store: await database.open(), clock: one.clock });
      const { apiKey } = one.agent;
      const asOther: Ask = { ask: (method, path, ask) => other.ask(method, path, { ...ask, apiKey }) };
      const plans = await Promise.all(Array.from({ length: 8 }, () => signedPlan(one)));
      const decisions = await Promise.all(
        Array.from({ length: 256 }, (_, index) => pay((index >> 3) % 2 ? one : asOther, plans[index % 8]!, 1)),
      );
      const counts = ["allow", "block:budget_exhausted"].map(
        (summary) => decisions.filter((decision) => summarize(decision) === summary).length,
      );
      expect(counts).toEqual([expected, 256 - expected]);
      for (const plan of plans) expect(await problemsOf(one, plan)).toEqual([]);
    } finally {
      await database.drop();
    }
  });
});

test("after any calls, outcomes and failing writes both ledgers are the sum of what ran", {
  timeout: 120_000,
}, async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ call: fc.constantFrom(1, 2.5, 30, 0, -1, "2", 1e-7), plan: fc.nat(1) }) },
    { weight: 2, arbitrary: fc.record({ status: fc.constantFrom("aborted", "failed", "ok"), which: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ fails: fc.constant(true) }) },
  );
  const budget: Budget = {
    session: { calls: 6, payoutMicros: 50_000_000 },
    principal: { calls: 9, payoutMicros: 70_000_000, windowSeconds: 3600 },
    payouts,
  };
  const one = await start(budget);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      // Nothing of the histories before is in the window any more.
      one.clock.advance(7200);
      const plans = [await signedPlan(one), await signedPlan(one)] as const;
      const ran = [spent(0, 0), spent(0, 0)];
      const waiting: AllowDecision[] = [];
      const count = (plan: number, calls: number, micros: number): void => {
        const before = ran[plan]!;
        ran[plan] = spent(before.calls + calls, before.payoutMicros + micros);
      };
      for (const step of steps) {
        if ("call" in step) {
          const decision = await pay(one, plans[step.plan]!, step.call, { callId: `call-${round++}` });
          if (decision.verdict !== "allow") continue;
          waiting.push(decision);
          count(step.plan, 1, decision.payoutMicros ?? 0);
        } else if ("status" in step) {
          const [decision] = waiting.splice(step.which % (waiting.length || 1), 1);
          if (!decision) continue;
          expect(await settle(one, decision, step.status)).toBe("recorded");
          const plan = plans.findIndex(({ planId }) => planId === decision.planId);
          if (step.status === "aborted") count(plan, -1, -(decision.payoutMicros ?? 0));
        } else {
          vi.spyOn(one.store.plans, "append").mockRejectedValueOnce(new Error("disk full"));
          expect((await one.ask("POST", "/v1/check", { body: aCheckBody(plans[0]) })).status).toBe(500);
        }
      }
      const principal = spent(ran[0]!.calls + ran[1]!.calls, ran[0]!.payoutMicros + ran[1]!.payoutMicros);
      expect(principal.payoutMicros).toBeLessThanOrEqual(70_000_000);
      for (const [index, plan] of plans.entries()) {
        expect(await spentOf(one, plan)).toEqual({ session: ran[index], principal });
      }
      expect(one.clock.now() / 1000).toBeGreaterThan(NOW);
    }),
    { numRuns: 300 },
  );
});
