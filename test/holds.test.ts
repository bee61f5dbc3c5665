import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { CSRF_HEADER } from "../src/core/api/index.ts";
import type { HoldDecision } from "../src/core/index.ts";
import { type Gate, HttpGate, HybridGate, openOutbox, type SignedPlan } from "../src/gates/index.ts";
import { nameSessionCookie } from "../src/server/people/session-cookie.ts";
import { resumeSession, startSession } from "../src/session/index.ts";
import { ALICE, aPlan, aPolicy, aRule, summarize } from "./builders.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";
import { addSession } from "./people.ts";
import { aFolder, inProcess } from "./server-gates.ts";
import { anAgent, aServer, askServer, PUBLIC_URL, ROOT, type ServerUnderTest } from "./servers.ts";
import { aSessionCall, aTool } from "./sessions.ts";
import { BOB } from "./store-builders.ts";

// People are waited for.
vi.setConfig({ testTimeout: 120_000 });

const POLICY = aPolicy(
  aRule({ id: "ask", match: { tool: "send_money" }, decision: "hold", approvers: { roles: ["approver"] } }),
  aRule(),
);

interface World {
  readonly under: ServerUnderTest;
  readonly makeGate: (apiKey?: string) => Promise<Gate>;
}

type MakeWorld = (over?: Parameters<typeof aServer>[0]) => Promise<World>;

const worlds: readonly (readonly [string, MakeWorld])[] = [
  [
    "HttpGate",
    async (over) => {
      const under = await aServer({ policy: POLICY, ...over });
      onTestFinished(() => under.close());
      const makeGate = async (apiKey = under.agent.apiKey): Promise<Gate> =>
        new HttpGate({ ...(await inProcess(under)), apiKey, clock: under.clock.now });
      return { under, makeGate };
    },
  ],
  [
    "HybridGate",
    async (over) => {
      const under = await aServer({ policy: POLICY, ...over });
      onTestFinished(() => under.close());
      const makeGate = async (apiKey = under.agent.apiKey): Promise<Gate> => {
        const outbox = await openOutbox({ path: join(await aFolder(), "outbox.db") });
        onTestFinished(() => outbox.close());
        return new HybridGate({ ...(await inProcess(under)), apiKey, clock: under.clock.now, outbox });
      };
      return { under, makeGate };
    },
  ],
];

/** Somebody who is signed in decides. */
async function decide(
  { server }: ServerUnderTest,
  who: string,
  holdId: string,
  decision: "approve" | "reject" = "approve",
): Promise<{ readonly status: number; readonly code?: string }> {
  const session = await addSession(server.context, who);
  const headers = {
    cookie: `${nameSessionCookie(PUBLIC_URL)}=${session.token}`,
    [CSRF_HEADER]: session.csrf,
    origin: PUBLIC_URL,
  };
  const answer = await askServer(server, "POST", `/v1/holds/${holdId}/decision`, { body: { decision }, headers });
  return { status: answer.status, code: answer.body?.code };
}

async function pendingHolds({ store, agent }: ServerUnderTest): Promise<readonly string[]> {
  const holds = await store.holds.list({ agentId: agent.agentId, status: "pending" });
  return holds.map(({ id }) => id);
}

/** The hold that somebody has just opened. */
async function aPendingHold(under: ServerUnderTest): Promise<string> {
  const [holdId = ""] = await pendingHoldsOf(under, 1);
  return holdId;
}

async function pendingHoldsOf(under: ServerUnderTest, count: number): Promise<readonly string[]> {
  return await vi.waitFor(
    async () => {
      const holds = await pendingHolds(under);
      expect(holds).toHaveLength(count);
      return holds;
    },
    { interval: 5, timeout: 20_000 },
  );
}

async function hold(gate: Gate, plan: SignedPlan, over: Parameters<typeof aGateCall>[0] = {}): Promise<HoldDecision> {
  const decision = await gate.check(plan, aGateCall(over));
  if (decision.verdict !== "hold") throw new Error(summarize(decision));
  return decision;
}

describe.each(worlds)("holds through %s", (_name, makeWorld) => {
  async function start(over?: Parameters<MakeWorld>[0]) {
    const world = await makeWorld(over);
    const gate = await world.makeGate();
    onTestFinished(() => gate.close().catch(() => undefined));
    const plan = await gate.sign(aSignRequest({ plan: aPlan({ maxCalls: 50 }) }));
    return { ...world, gate, plan };
  }

  /** A call that was held, and approved. */
  async function approved(over: Parameters<typeof aGateCall>[0] = {}) {
    const world = await start();
    const { gate, plan, under } = world;
    const waiting = gate.awaitHold(await hold(gate, plan, over), { timeoutMs: 60_000 });
    expect(await decide(under, BOB, await aPendingHold(under))).toMatchObject({ status: 200 });
    const resolution = await waiting;
    if (resolution.status !== "approved") throw new Error(resolution.status);
    return { ...world, approval: resolution.approval };
  }

  test("an approved call is allowed, once, and says who approved it", async () => {
    const { gate, plan, approval } = await approved();
    expect(await gate.check(plan, aGateCall({ approval }))).toMatchObject({ verdict: "allow", approvedBy: BOB });
    expect((await gate.check(plan, aGateCall({ approval }))).verdict).not.toBe("allow");
  });

  test("two who come with one approval at once: one is allowed", async () => {
    const { gate, plan, approval } = await approved();
    const both = await Promise.all([1, 2].map(() => gate.check(plan, aGateCall({ approval }))));
    expect(both.filter(({ verdict }) => verdict === "allow")).toHaveLength(1);
  });

  test.each<[string, Parameters<typeof aGateCall>[0]]>([
    ["other arguments", { args: { to: "eve", amount: 20 } }],
    ["more arguments", { args: { to: "landlord", amount: 20, memo: "x" } }],
    ["another fingerprint", { fingerprint: `sha256:${"0".repeat(64)}` }],
  ])("an approval does not allow a call with %s", async (_case, over) => {
    const { gate, plan, approval } = await approved();
    expect((await gate.check(plan, aGateCall({ ...over, approval }))).verdict).not.toBe("allow");
    // And it was not used up by that.
    expect((await gate.check(plan, aGateCall({ approval }))).verdict).toBe("allow");
  });

  test("an approval does not allow a call of another plan", async () => {
    const { gate, plan, approval } = await approved();
    const other = await gate.sign(aSignRequest());
    expect((await gate.check(other, aGateCall({ approval }))).verdict).not.toBe("allow");
    expect((await gate.check(plan, aGateCall({ approval }))).verdict).toBe("allow");
  });

  test("a forged approval allows nothing", async () => {
    const { gate, plan, approval } = await approved();
    const [header, claims, signature = ""] = approval.split(".");
    const other = JSON.parse(Buffer.from(claims ?? "", "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...other, exp: other.exp + 1 })).toString("base64url");
    for (const bad of [`${header}.${forged}.${signature}`, `${approval}x`, "approved", "", plan.token]) {
      expect((await gate.check(plan, aGateCall({ approval: bad }))).verdict, bad.slice(0, 20)).not.toBe("allow");
    }
  });

  test("an approval that has expired allows nothing", async () => {
    const { gate, plan, approval, under } = await approved();
    under.clock.advance(86_401);
    expect((await gate.check(plan, aGateCall({ approval }))).verdict).not.toBe("allow");
  });

  test("an approval does not outlive the rule", async () => {
    const { gate, plan, approval, under } = await approved();
    const block = aPolicy(aRule({ id: "never", match: { tool: "send_money" }, decision: "block" }), aRule());
    const { agentId } = under.agent;
    const text = JSON.stringify(block);
    await under.store.policies.push({ agentId, text, createdAt: under.clock.now(), createdBy: ROOT, comment: null });
    await gate.refresh(plan);
    expect(summarize(await gate.check(plan, aGateCall({ approval })))).toBe("block:never");
  });

  test("a rejected call is rejected when it is asked again, and nobody is asked", async () => {
    const { gate, plan, under } = await start();
    const waiting = gate.awaitHold(await hold(gate, plan), { timeoutMs: 60_000 });
    expect(await decide(under, BOB, await aPendingHold(under), "reject")).toMatchObject({ status: 200 });
    expect(await waiting).toMatchObject({ status: "rejected" });
    const again = await gate.check(plan, aGateCall({ callId: "again" }));
    if (again.verdict === "hold") {
      expect(await gate.awaitHold(again, { timeoutMs: 60_000 })).toMatchObject({ status: "rejected" });
    } else expect(summarize(again)).toBe("block:hold_rejected");
    expect(await pendingHolds(under)).toEqual([]);
    // Another action may be asked about.
    await hold(gate, plan, { args: { to: "landlord", amount: 21 } });
  });

  test("nobody decides: a timeout, by the client's patience or the server's clock", async () => {
    const { gate, plan, under } = await start();
    expect(await gate.awaitHold(await hold(gate, plan), { timeoutMs: 1500 })).toEqual({ status: "timeout" });
    const waiting = gate.awaitHold(await hold(gate, plan, { callId: "2" }), { timeoutMs: 60_000 });
    await pendingHoldsOf(under, 2);
    under.clock.advance(301);
    await under.server.sweep();
    expect(await waiting).toEqual({ status: "timeout" });
  });

  test("the 21st hold of a plan is refused", async () => {
    const { gate, plan, under } = await start();
    for (let index = 0; index < 20; index++) {
      const decision = await hold(gate, plan, { callId: `${index}`, args: { to: "landlord", amount: index } });
      expect(await gate.openHold?.(decision)).toMatchObject({ status: "pending" });
    }
    const last = await hold(gate, plan, { callId: "20", args: { to: "landlord", amount: 20 } });
    expect(await gate.openHold?.(last)).toMatchObject({ status: "blocked", reason: "gate_rejected" });
    expect(await pendingHolds(under)).toHaveLength(20);
  });

  test("parallel holds are decided in any order", async () => {
    const { gate, plan, under } = await start();
    const [first, second] = await Promise.all(
      ["a", "b"].map((to) => hold(gate, plan, { callId: to, args: { to, amount: 1 } })),
    );
    const waits = [first, second].map((one) => gate.awaitHold(one as HoldDecision, { timeoutMs: 60_000 }));
    await pendingHoldsOf(under, 2);
    const holds = await under.store.holds.list({ agentId: under.agent.agentId, status: "pending" });
    const idOf = (callId: string): string => holds.find((one) => one.callId === callId)?.id ?? "";
    await decide(under, BOB, idOf("b"));
    expect((await waits[1])?.status).toBe("approved");
    await decide(under, BOB, idOf("a"), "reject");
    expect((await waits[0])?.status).toBe("rejected");
  });

  test.each([
    ["the person that the agent acts for", ALICE, 403],
    ["the owner of the key", ROOT, 403],
    ["somebody whom the rule does not name", "mallory@acme.dev", 403],
  ])("%s does not approve", async (_who, email, status) => {
    const people = { [ALICE]: { roles: ["approver"] as const }, "mallory@acme.dev": { roles: ["admin"] as const } };
    const owner = { [ROOT]: { roles: ["approver", "admin"] as const } };
    const { gate, plan, under } = await start({ people: { ...people, ...owner } });
    await gate.openHold?.(await hold(gate, plan));
    expect(await decide(under, email, await aPendingHold(under))).toMatchObject({ status });
  });

  test("an aborted wait ends, and nothing runs", async () => {
    const { gate, plan, under } = await start();
    const controller = new AbortController();
    const waiting = gate.awaitHold(await hold(gate, plan), { timeoutMs: 60_000, signal: controller.signal });
    await aPendingHold(under);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test("a plan that has to be seen is signed when it was, and not when it was rejected", async () => {
    const { gate, under } = await start();
    const signing = gate.sign(aSignRequest({ approvePlan: true }));
    await decide(under, BOB, await aPendingHold(under));
    expect(await gate.check(await signing, aGateCall({ tool: "send_money" }))).toMatchObject({ verdict: "hold" });
    const rejected = gate.sign(aSignRequest({ approvePlan: true }));
    const refused = expect(rejected).rejects.toMatchObject({ code: "ERR_PLAN_REJECTED" });
    await decide(under, BOB, await aPendingHold(under), "reject");
    await refused;
  });

  describe("suspended", () => {
    const task = "Pay the rent";
    const tools = [aTool()];

    async function suspended() {
      const world = await makeWorld();
      const gate = await world.makeGate();
      const plan = aPlan({ maxCalls: 2 });
      const session = await startSession({ gate, user: ALICE, task, tools, plan, onHold: "suspend" });
      const result = await session.run(aSessionCall(), () => "sent");
      if (!result.isError || !result.hold) throw new Error("It was not suspended");
      return { ...world, gate, planId: session.planId, holdId: result.hold.holdId };
    }

    test("a call runs in another process, when it was approved", async () => {
      const { under, makeGate, planId, holdId } = await suspended();
      const later = await makeGate();
      const session = await resumeSession({ gate: later, planId, tools, onHold: "suspend" });
      expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ isError: true, hold: { holdId } });
      await decide(under, BOB, holdId);
      const result = await session.run(aSessionCall(), () => "sent");
      expect(result).toMatchObject({ isError: false, content: "sent", decision: { approvedBy: BOB } });
      // The approval is used up, and so is nothing of the rest of the plan.
      expect(await session.run(aSessionCall({ callId: "2" }), () => "sent")).toMatchObject({ hold: {} });
      await later.close();
    });

    test("a gate that is closed leaves a plan open whose call was suspended", async () => {
      const { under, makeGate, gate, planId, holdId } = await suspended();
      const other = await gate.sign(aSignRequest());
      await gate.close();
      expect((await under.store.plans.get(other.planId))?.status).toBe("closed");
      await decide(under, BOB, holdId);
      const session = await resumeSession({ gate: await makeGate(), planId, tools, onHold: "suspend" });
      expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ content: "sent" });
    });

    test("and not when it was rejected", async () => {
      const { under, makeGate, planId, holdId } = await suspended();
      await decide(under, BOB, holdId, "reject");
      const session = await resumeSession({ gate: await makeGate(), planId, tools, onHold: "suspend" });
      const result = await session.run(aSessionCall(), () => "sent");
      expect(result).toMatchObject({ decision: { verdict: "block", reason: "hold_rejected" } });
    });

    test("one process at a time goes on", async () => {
      const { makeGate, planId } = await suspended();
      await resumeSession({ gate: await makeGate(), planId, tools });
      const second = resumeSession({ gate: await makeGate(), planId, tools });
      await expect(second).rejects.toMatchObject({ code: "ERR_PLAN_HELD" });
    });

    test("a process that waits for nobody lets go of the plan", async () => {
      const { under, makeGate, planId, holdId } = await suspended();
      const second = await resumeSession({ gate: await makeGate(), planId, tools, onHold: "suspend" });
      expect(await second.run(aSessionCall(), () => "sent")).toMatchObject({ hold: { holdId } });
      const third = await resumeSession({ gate: await makeGate(), planId, tools, onHold: "suspend" });
      await decide(under, BOB, holdId);
      expect(await third.run(aSessionCall(), () => "sent")).toMatchObject({ content: "sent" });
    });

    test("nobody goes on with the plan of another agent", async () => {
      const { under, makeGate, planId } = await suspended();
      const other = await anAgent(under.store, { policy: POLICY });
      const gate = await makeGate(other.apiKey);
      await expect(resumeSession({ gate, planId, tools })).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
    });
  });
});
