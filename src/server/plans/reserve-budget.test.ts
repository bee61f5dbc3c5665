import { afterEach, describe, expect, test } from "vitest";
import { ALICE, summarize } from "../../../test/builders.ts";
import {
  aCheckBody,
  anAgent,
  aServer,
  type ServerUnderTest,
  signedPlan,
  type TestPlan,
} from "../../../test/servers.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "../../../test/stores.ts";
import { type Budget, generateSigningKey, type Spent } from "../../core/index.ts";
import { sumWindow } from "../../core/sliding-window.ts";

const BUDGET: Budget = { principal: { calls: 10, payoutMicros: 1000, windowSeconds: 3600 } };
const AGE = { planMaxAgeSeconds: 7200, planTtlSeconds: 100 };

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(budget: Budget = BUDGET): Promise<ServerUnderTest> {
  const one = await aServer({ settings: { budget, ...AGE } });
  open.push(one);
  return one;
}

type Ask = Pick<ServerUnderTest, "ask">;

async function aPlan(one: Ask): Promise<TestPlan> {
  return await signedPlan(one, { clientKey: (await generateSigningKey()).publicKey });
}

async function reserve({ ask }: Ask, { planId }: TestPlan, calls: number, payoutMicros = 0): Promise<unknown> {
  const { status, body } = await ask("POST", `/v1/plans/${planId}/budget`, {
    body: { total: { calls, payoutMicros } },
  });
  return status === 200 ? body.reserved : body.code;
}

async function takenOf({ store, agent, clock }: ServerUnderTest): Promise<Spent> {
  const { window } = await store.principalLedgers.get({ agentId: agent.agentId, userEmail: ALICE });
  return sumWindow(window, 3600, clock.now() / 1000);
}

function spent(calls: number, payoutMicros = 0): Spent {
  return { calls, payoutMicros };
}

describe("a portion", () => {
  test("is what is asked for in all, as far as there is so much, and never less than before", async () => {
    const one = await start();
    const [plan, other] = [await aPlan(one), await aPlan(one)];
    expect(await reserve(one, plan, 4, 300)).toEqual(spent(4, 300));
    expect(await reserve(one, plan, 4, 300)).toEqual(spent(4, 300));
    expect(await reserve(one, plan, 0, 0)).toEqual(spent(4, 300));
    expect(await takenOf(one)).toEqual(spent(4, 300));
    expect(await reserve(one, other, 9, 800)).toEqual(spent(6, 700));
    expect(await reserve(one, plan, Number.MAX_SAFE_INTEGER, 301)).toEqual(spent(4, 300));
    expect(await takenOf(one)).toEqual(spent(10, 1000));
  });

  test("counts with the calls that the server decides", async () => {
    const one = await start();
    await reserve(one, await aPlan(one), 9);
    const plan = await signedPlan(one);
    const check = async () => summarize((await one.ask("POST", "/v1/check", { body: aCheckBody(plan) })).body.decision);
    expect([await check(), await check()]).toEqual(["allow", "block:budget_exhausted"]);
    expect(await reserve(one, await aPlan(one), 1)).toEqual(spent(0));
  });

  test("of a plan that nobody closes counts for a window after the end of the plan's life", async () => {
    const one = await start();
    await reserve(one, await aPlan(one), 10);
    one.clock.advance(7200 + 100 + 3600);
    expect(await takenOf(one)).toEqual(spent(10));
    one.clock.advance(200);
    expect(await takenOf(one)).toEqual(spent(0));
  });

  test("does not count what has no limit", async () => {
    const one = await start({ principal: { calls: 10, windowSeconds: 3600 } });
    expect(await reserve(one, await aPlan(one), 1, Number.MAX_SAFE_INTEGER)).toEqual(spent(1));
  });
});

describe("nobody gets one", () => {
  test("for a plan that the server decides, without such a budget, or that is over", async () => {
    const one = await start();
    expect(await reserve(one, await signedPlan(one), 1)).toBe("invalid_request");
    const revoked = await aPlan(one);
    await one.ask("POST", `/v1/plans/${revoked.planId}/revoke`, { body: {} });
    expect(await reserve(one, revoked, 1)).toBe("plan_revoked");
    const late = await aPlan(one);
    one.clock.advance(8000);
    expect(await reserve(one, late, 1)).toBe("plan_expired");
    const two = await start({ session: { calls: 1 } });
    expect(await reserve(two, await aPlan(two), 1)).toBe("invalid_request");
    expect(await takenOf(one)).toEqual(spent(0));
  });

  test("for another agent's plan", async () => {
    const one = await start();
    const plan = await aPlan(one);
    const { apiKey } = await anAgent(one.store);
    const asOther: Ask = { ask: (method, path, ask) => one.ask(method, path, { ...ask, apiKey }) };
    expect(await reserve(asOther, plan, 1)).toBe("not_found");
  });

  test.each([-1, 0.5, "1", null, 2 ** 53, 1e308])("of %j calls", async (calls) => {
    const one = await start();
    expect(await reserve(one, await aPlan(one), calls as number)).toBe("invalid_request");
  });
});

describe.each([
  ["SQLite", createSqliteDatabase, true],
  ["PostgreSQL", createPostgresDatabase, POSTGRES_URL !== undefined],
] as const)("over two servers on one %s", (_name, create, isThere) => {
  test.skipIf(!isThere)(
    "the portions of 16 plans at once are the limit, and no more",
    { timeout: 60_000 },
    async () => {
      const database = await create();
      try {
        const one = await aServer({ store: await database.open(), settings: { budget: BUDGET } });
        const other = await aServer({ store: await database.open(), clock: one.clock });
        const { apiKey } = one.agent;
        const asOther: Ask = { ask: (method, path, ask) => other.ask(method, path, { ...ask, apiKey }) };
        const plans = await Promise.all(Array.from({ length: 16 }, () => aPlan(one)));
        const reserved = await Promise.all(
          plans.flatMap((plan, index) => [reserve(index % 2 ? one : asOther, plan, 1, 70), reserve(one, plan, 1, 70)]),
        );
        const most = plans.map((_, index) => reserved.slice(2 * index, 2 * index + 2) as Spent[]);
        const sum = (what: keyof Spent) =>
          most.reduce((sum, two) => sum + Math.max(...two.map((reserved) => reserved[what])), 0);
        expect([sum("calls"), sum("payoutMicros")]).toEqual([10, 1000]);
        expect(await takenOf(one)).toEqual(spent(10, 1000));
      } finally {
        await database.drop();
      }
    },
  );
});
