import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { CSRF_HEADER } from "../src/core/api/index.ts";
import { type Gate, HttpGate, HybridGate, openOutbox } from "../src/gates/index.ts";
import { nameSessionCookie } from "../src/server/people/session-cookie.ts";
import { aPolicy, aRule } from "./builders.ts";
import { aProxy, textOf } from "./mcp.ts";
import { addSession } from "./people.ts";
import { aFolder, inProcess } from "./server-gates.ts";
import { aServer, askServer, PUBLIC_URL, type ServerUnderTest } from "./servers.ts";
import { BOB } from "./store-builders.ts";

const hold = aRule({
  id: "ask",
  match: { args: { amount: { gte: 100 } } },
  decision: "hold",
  approvers: { roles: ["approver"] },
});
const PLAN = { goal: "Pay the rent", steps: [{ tool: "send_money", args: { to: { eq: "landlord" } }, maxCalls: 2 }] };

const gates: readonly (readonly [string, (under: ServerUnderTest) => Promise<Gate>])[] = [
  ["HttpGate", async (under) => new HttpGate(await optionsFor(under))],
  [
    "HybridGate",
    async (under) => {
      const outbox = await openOutbox({ path: join(await aFolder(), "outbox.db") });
      onTestFinished(() => outbox.close());
      return new HybridGate({ ...(await optionsFor(under)), outbox });
    },
  ],
];

async function optionsFor(under: ServerUnderTest) {
  return { ...(await inProcess(under)), apiKey: under.agent.apiKey, clock: under.clock.now };
}

/** Bob, who is signed in, decides about whatever waits. */
async function decide({ server, store, agent }: ServerUnderTest, decision: "approve" | "reject"): Promise<void> {
  const [waiting] = await vi.waitFor(
    async () => {
      const holds = await store.holds.list({ agentId: agent.agentId, status: "pending" });
      expect(holds).toHaveLength(1);
      return holds;
    },
    { interval: 5, timeout: 20_000 },
  );
  const { token, csrf } = await addSession(server.context, BOB);
  const headers = { cookie: `${nameSessionCookie(PUBLIC_URL)}=${token}`, [CSRF_HEADER]: csrf, origin: PUBLIC_URL };
  await askServer(server, "POST", `/v1/holds/${waiting?.id}/decision`, { body: { decision }, headers });
}

describe.each(gates)("a proxy with a server, through %s", (_name, makeGate) => {
  async function start() {
    const under = await aServer({ policy: aPolicy(hold, aRule()) });
    onTestFinished(() => under.close());
    const gate = await makeGate(under);
    return { under, ...(await aProxy({ session: { gate, approvePlan: true } })) };
  }

  test("has the plan that the model declares seen by a person before it counts, and held calls, too", async () => {
    const { under, client, call, runs } = await start();
    const declared = client.ask("tools/call", { name: "declare_plan", arguments: PLAN });
    expect(await call()).toContain("(not_in_plan)");
    await decide(under, "approve");
    expect(textOf(await declared)).toContain("The plan is signed");
    expect(await call({ to: "attacker" })).toContain("(not_in_plan)");
    expect(await call({ to: "landlord", amount: 20 })).toContain("ran with");
    const held = call({ to: "landlord", amount: 100 });
    await decide(under, "approve");
    expect(await held).toContain("ran with");
    expect(runs).toHaveLength(2);
  });

  test("does nothing under a plan that a person has rejected", async () => {
    const { under, client, call, runs } = await start();
    const declared = client.ask("tools/call", { name: "declare_plan", arguments: PLAN });
    await decide(under, "reject");
    expect(textOf(await declared)).toContain("A person looked at the plan and said no");
    expect(await call()).toContain("(not_in_plan)");
    expect(runs).toEqual([]);
  });
});
