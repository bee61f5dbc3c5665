import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Budget, Decision, Spent } from "../src/core/index.ts";
import { sumWindow } from "../src/core/sliding-window.ts";
import type { Gate, SignedPlan } from "../src/gates/gate.ts";
import { HttpGate } from "../src/gates/http.ts";
import { HybridGate } from "../src/gates/hybrid.ts";
import { ALICE, summarize } from "./builders.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";
import { aFolder } from "./server-gates.ts";
import { aServer, PUBLIC_URL, type ServerUnderTest } from "./servers.ts";

const payouts = [{ tool: "send_money", arg: "amount", microsPerUnit: 1_000_000 }];

/** A server with such a budget, which can be cut off, and counts what is asked of it. */
async function aServerWith(budget: Budget) {
  const under = await aServer({ settings: { budget } });
  // After the gates, which upload to it.
  onTestFinished(() => under.close());
  const line = { isCut: false, portions: 0 };
  const fetch = async (request: Request): Promise<Response> => {
    if (line.isCut) throw new TypeError("fetch failed");
    if (request.url.endsWith("/budget")) line.portions += 1;
    return await under.server.fetch(request);
  };
  const options = { baseUrl: PUBLIC_URL, apiKey: under.agent.apiKey, fetch, clock: under.clock.now, retries: 0 };
  const hybrid = async (): Promise<HybridGate> => {
    const gate = new HybridGate({ ...options, outbox: join(await aFolder(), "outbox.db") });
    onTestFinished(() => gate.close().catch(() => undefined));
    return gate;
  };
  return { under, line, hybrid, http: new HttpGate(options) };
}

async function pay(gate: Gate, plan: SignedPlan, amount: number | string = 1): Promise<Decision> {
  return await gate.check(plan, aGateCall({ args: { to: "landlord", amount } }));
}

async function takenOf({ store, agent, clock }: ServerUnderTest): Promise<Spent> {
  const { window } = await store.principalLedgers.get({ agentId: agent.agentId, userEmail: ALICE });
  return sumWindow(window, 3600, clock.now() / 1000);
}

function count(decisions: readonly Decision[], summary: string): number {
  return decisions.filter((decision) => summarize(decision) === summary).length;
}

async function checksOf({ store }: ServerUnderTest, { planId }: SignedPlan) {
  const entries = await store.auditEntries.ofPlan(planId);
  return {
    flagged: (await store.plans.get(planId))?.flagged,
    checks: new Set(entries.filter(({ entry }) => entry.event.type === "decision").map((one) => one.verdictCheck)),
  };
}

const LIMIT: Budget = { principal: { calls: 100, payoutMicros: 100_000_000, windowSeconds: 3600 }, payouts };

describe("portions of a person's budget", () => {
  test("are taken ahead of time: most calls do not wait for the server, and the rest is given back at the end", async () => {
    const { under, line, hybrid } = await aServerWith(LIMIT);
    const gate = await hybrid();
    const plan = await gate.sign(aSignRequest());
    const decisions = [];
    for (let call = 0; call < 20; call++) decisions.push(await pay(gate, plan));
    expect(count(decisions, "allow")).toBe(20);
    expect(decisions[0]).toMatchObject({ principalId: ALICE, payoutMicros: 1_000_000 });
    expect(line.portions).toBeLessThan(20);
    expect((await takenOf(under)).calls).toBeGreaterThanOrEqual(20);
    for (const decision of decisions.slice(0, 5)) {
      await gate.record({ type: "outcome", planId: plan.planId, decisionSeq: decision.seq ?? 0, status: "aborted" });
    }
    await gate.close();
    expect(await takenOf(under)).toEqual({ calls: 15, payoutMicros: 15_000_000 });
    expect(await checksOf(under, plan)).toEqual({ flagged: null, checks: new Set(["recomputed"]) });
    under.clock.advance(3600 + 60);
    expect(await takenOf(under)).toEqual({ calls: 0, payoutMicros: 0 });
  });

  test("never come to more than the limit, over clients of both kinds", { timeout: 60_000 }, async () => {
    const { under, hybrid, http } = await aServerWith(LIMIT);
    const gates: Gate[] = [await hybrid(), await hybrid(), http];
    const plans = await Promise.all(gates.map((gate) => gate.sign(aSignRequest())));
    const decisions = await Promise.all(
      Array.from({ length: 256 }, (_, index) => pay(gates[index % 3]!, plans[index % 3]!)),
    );
    expect(count(decisions, "allow") + count(decisions, "block:budget_exhausted")).toBe(256);
    expect(count(decisions, "allow")).toBeLessThanOrEqual(100);
    // A portion of each may be left that no other has.
    expect(count(decisions, "allow")).toBeGreaterThanOrEqual(80);
    await Promise.all(gates.map((gate) => gate.close()));
    const allowed = count(decisions, "allow");
    expect(await takenOf(under)).toEqual({ calls: allowed, payoutMicros: allowed * 1_000_000 });
    for (const plan of plans) expect((await checksOf(under, plan)).flagged).toBeNull();
  });

  test("are met exactly by one client's calls at once", async () => {
    const { line, hybrid } = await aServerWith(LIMIT);
    const gate = await hybrid();
    const plan = await gate.sign(aSignRequest());
    const decisions = await Promise.all(Array.from({ length: 256 }, () => pay(gate, plan)));
    expect([count(decisions, "allow"), count(decisions, "block:budget_exhausted")]).toEqual([100, 156]);
    // The calls that got nothing did not ask one after the other.
    expect(line.portions).toBeLessThan(60);
  });

  test("of one call are not asked for ahead of time", async () => {
    const { under, line, hybrid } = await aServerWith({ principal: { calls: 5, windowSeconds: 3600 } });
    const gate = await hybrid();
    const plan = await gate.sign(aSignRequest());
    for (let call = 1; call <= 3; call++) {
      expect(summarize(await pay(gate, plan))).toBe("allow");
      expect([line.portions, (await takenOf(under)).calls]).toEqual([call, call]);
    }
  });

  test("are all there is while the server cannot be reached", async () => {
    const { line, hybrid } = await aServerWith({ principal: { calls: 40, windowSeconds: 3600 } });
    const gate = await hybrid();
    const plan = await gate.sign(aSignRequest());
    expect(summarize(await pay(gate, plan))).toBe("allow");
    line.isCut = true;
    const answers = [summarize(await pay(gate, plan)), summarize(await pay(gate, plan))];
    while (answers.at(-1) === "allow" && answers.length < 40) answers.push(summarize(await pay(gate, plan)));
    expect(answers.slice(0, 1)).toEqual(["allow"]);
    expect(answers.at(-1)).toBe("block:server_unavailable");
    expect(answers.length).toBeLessThan(6);
    line.isCut = false;
    expect(summarize(await pay(gate, plan))).toBe("allow");
  });

  test("are not asked for by calls that would be blocked anyway", async () => {
    const { line, hybrid } = await aServerWith(LIMIT);
    const gate = await hybrid();
    const plan = await gate.sign(aSignRequest());
    expect(summarize(await gate.check(plan, aGateCall({ tool: "read_file" })))).toBe("block:not_in_plan");
    expect(line.portions).toBe(0);
  });

  test.each([-1, 1e-7, "20", 1e308, 2 ** 53, 101])(
    "a payment of %j is blocked, whatever is reserved",
    async (amount) => {
      const { hybrid, under } = await aServerWith(LIMIT);
      const gate = await hybrid();
      const plan = await gate.sign(aSignRequest());
      expect(summarize(await pay(gate, plan, amount))).toBe("block:budget_exhausted");
      await gate.close();
      expect(await takenOf(under)).toEqual({ calls: 0, payoutMicros: 0 });
    },
  );

  test("come with a budget that the agent has got since the plan was signed", async () => {
    const { under, hybrid } = await aServerWith({});
    const gate = await hybrid();
    const plan = await gate.sign(aSignRequest());
    expect(summarize(await pay(gate, plan))).toBe("allow");
    await under.store.agents.setSettings(under.agent.agentId, {
      budget: { principal: { calls: 3, windowSeconds: 3600 } },
    });
    const renewed = await gate.refresh(plan);
    const decisions = [await pay(gate, renewed), await pay(gate, renewed), await pay(gate, renewed)];
    expect(decisions.map(summarize)).toEqual(["allow", "allow", "block:budget_exhausted"]);
    await gate.close();
    expect((await checksOf(under, plan)).flagged).toBeNull();
  });
});
