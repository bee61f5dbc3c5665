import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AGENT, ALICE, aPlan, NOW, summarize } from "../../test/builders.ts";
import { aGateCall } from "../../test/gate-conformance.ts";
import { ASK_POLICY, aHybridGate, holdOf, SERVER_URL } from "../../test/hybrid-gates.ts";
import { aProblem, type Script } from "../../test/scripted-server.ts";
import { planOf } from "../../test/sessions.ts";
import { anotherPlan } from "../../test/signing-server.ts";
import { digestCall } from "../core/index.ts";

const HOLDS = "POST /v1/holds";
const LEASE = "POST /v1/plans/plan-1/lease";
const RESUME = "POST /v1/plans/plan-1/resume";
const GET = "GET /v1/plans/plan-1";
const HOLD = { holdId: "hold-1", expiresAt: 2_000_000_000 };
const APPROVAL = { status: "approved", approval: "token", approvedBy: "bob@acme.dev" };
const DIGEST = `sha256:${"0".repeat(64)}`;

/** A gate under a policy that holds every call, and a server where each is approved. */
function aHoldingGate(script: Script = {}, over: Parameters<typeof aHybridGate>[1] = {}) {
  const approved = () => Response.json({ ...HOLD, ...APPROVAL });
  const setup = { claims: { policy: ASK_POLICY }, script: { "GET /v1/holds/hold-1": approved, ...script } };
  return aHybridGate(setup, over);
}

/** One that waits for a person, as the server has it. */
function anOpenHold(): object {
  const { callId, tool, args } = aGateCall();
  return { ...HOLD, decisionSeq: 3, callId, tool, digest: digestCall({ tool, args }), status: "pending" };
}

describe("a held call", () => {
  test("is shown to a person once the server has what it rests on, and waited for", async () => {
    const { server, outbox, gate, sign } = aHoldingGate();
    const held = await holdOf(gate, await sign());
    expect(await gate.awaitHold(held, { timeoutMs: 1000 })).toEqual(APPROVAL);
    expect(outbox.flushes).toEqual([{ planId: "plan-1", seq: 1, timeoutMs: 1000 }]);
    expect(server.bodiesOf(HOLDS)).toEqual([{ planId: "plan-1", decisionSeq: 1, args: aGateCall().args }]);
  });

  test.each([
    [{ waiting: 1, refused: 0 }, "server_unavailable"],
    [{ waiting: 0, refused: 1 }, "gate_rejected"],
  ])("of which the server does not get the entries is shown to nobody: %j", async (left, reason) => {
    const { server, outbox, gate, sign } = aHoldingGate();
    const plan = await sign();
    outbox.left = left;
    const blocked = { status: "blocked", reason };
    expect(await gate.awaitHold(await holdOf(gate, plan), { timeoutMs: 1000 })).toMatchObject(blocked);
    expect(await gate.openHold(await holdOf(gate, plan))).toMatchObject(blocked);
    expect(server.bodiesOf(HOLDS)).toEqual([]);
  });

  test("that is suspended is asked about once, and says what has become of it when it is made again", async () => {
    const { server, outbox, gate, sign } = aHoldingGate();
    const plan = await sign();
    expect(await gate.openHold(await holdOf(gate, plan))).toEqual({ status: "pending", ...HOLD });
    expect(outbox.flushes).toMatchObject([{ planId: "plan-1", seq: 1 }]);
    expect(await gate.openHold(await holdOf(gate, plan))).toEqual(APPROVAL);
    expect(server.bodiesOf(HOLDS)).toHaveLength(1);
    // The plan was signed here: nobody else is kept from it.
    expect(server.bodiesOf(LEASE)).toEqual([]);
  });

  test("is the very one that the gate has given, and not one that was allowed or only looked at", async () => {
    const { server, gate, sign } = aHoldingGate();
    const plan = await sign();
    const free = aHybridGate();
    const allowed = await free.gate.check(await free.sign(), aGateCall());
    const others = [{ ...(await holdOf(gate, plan)) }, await gate.peek(plan, aGateCall())];
    for (const other of others) await expect(gate.openHold(other as never)).rejects.toMatchObject({ code: "ERR_HOLD" });
    await expect(free.gate.openHold(allowed as never)).rejects.toMatchObject({ code: "ERR_HOLD" });
    expect([...server.bodiesOf(HOLDS), ...free.server.bodiesOf(HOLDS)]).toEqual([]);
  });
});

describe("a plan that goes on", () => {
  test("where it was signed keeps its key and its chain, and has the server's counts", async () => {
    const { server, outbox, gate, sign, upload } = aHoldingGate();
    await sign({ plan: aPlan({ maxCalls: 5 }) });
    await upload();
    server.resumed.used = [5];
    const plan = await gate.resume("plan-1");
    expect(plan).toMatchObject({ planId: "plan-1", token: expect.any(String), expiresAt: NOW + 900 });
    const [{ clientKey }] = server.bodiesOf("POST /v1/plans");
    expect(server.bodiesOf(RESUME)).toEqual([{ holder: expect.any(String), clientKey }]);
    expect(outbox.flushes).toMatchObject([{ planId: "plan-1" }]);
    expect(outbox.begun).toHaveLength(1);
    expect(outbox.entries.map(({ seq, event }) => [seq, event.type])).toEqual([
      [0, "plan_signed"],
      [1, "refresh"],
    ]);
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:call_limit");
  });

  test("elsewhere has a new key, whose private half stays there, and its chain goes on from the server's", async () => {
    const { server, sign, startProcess } = aHybridGate();
    await sign();
    Object.assign(server.resumed, { seq: 7, head: DIGEST });
    const { gate, outbox } = startProcess();
    const plan = await gate.resume("plan-1");
    const [{ clientKey: first }] = server.bodiesOf("POST /v1/plans");
    const [{ clientKey }] = server.bodiesOf(RESUME);
    expect([clientKey.x === first.x, "d" in clientKey]).toEqual([false, false]);
    const target = `${SERVER_URL} ${AGENT}`;
    const base = { planId: "plan-1", seq: 7, prev: DIGEST };
    const key = { ...clientKey, d: expect.any(String) };
    expect(outbox.begun).toEqual([{ planId: "plan-1", upload: true, target, clientKey: key, base }]);
    expect(outbox.uploads).toMatchObject([{ target }]);
    expect(outbox.flushes).toEqual([]);
    expect(outbox.entries).toMatchObject([{ seq: 7, prev: DIGEST, event: { type: "refresh", token: plan.token } }]);
    expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "allow", seq: 8 });
  });

  test("elsewhere has what its person asked for, from the server", async () => {
    const { sign, startProcess } = aHybridGate();
    const task = { instruction: "Pay DE05" };
    await sign({ task, plan: planOf({ tool: "send_money", args: { to: { from: "task" } } }) });
    const { gate } = startProcess();
    const plan = await gate.resume("plan-1");
    expect(summarize(await gate.check(plan, aGateCall({ args: { to: "DE99" } })))).toBe("block:not_in_plan");
    expect(summarize(await gate.check(plan, aGateCall({ args: { to: "DE05" } })))).toBe("allow");
  });

  test.each([
    [RESUME, anotherPlan()],
    [
      GET,
      { ...anotherPlan(), status: "open", agentId: AGENT, user: ALICE, task: { instruction: "Look" }, createdAt: 1 },
    ],
  ])("is the one that was asked for, and no other that the answer to %s is about", async (line, answer) => {
    const { outbox, sign, startProcess } = aHybridGate({ script: { [line]: () => Response.json(answer) } });
    await sign();
    const { gate } = startProcess({ outbox: outbox.outbox });
    await expect(gate.resume("plan-1")).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: expect.stringContaining("about another plan"),
    });
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed"]);
  });

  test("has its session's budget as it is with the server", async () => {
    const claims = { budget: { session: { calls: 3 } } };
    const { server, sign, startProcess } = aHybridGate({ claims });
    await sign();
    server.resumed.spent = { calls: 2, payoutMicros: 0 };
    const { gate } = startProcess();
    const plan = await gate.resume("plan-1");
    const decisions = [await gate.check(plan, aGateCall()), await gate.check(plan, aGateCall())];
    expect(decisions.map(summarize)).toEqual(["allow", "block:budget_exhausted"]);
  });

  test.each([
    ["another number", { seq: 5 }],
    ["another end", { head: DIGEST }],
  ])("does not, where the server's chain has %s than the one that is here", async (_name, other) => {
    const { server, outbox, gate, sign, upload } = aHoldingGate();
    await sign();
    await upload();
    Object.assign(server.resumed, other);
    await expect(gate.resume("plan-1")).rejects.toMatchObject({ code: "ERR_AUDIT_UPLOAD" });
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed"]);
  });

  test("has the holds that wait: the same action is not shown to a person twice", async () => {
    const { server, gate, sign, upload } = aHoldingGate();
    await sign();
    await upload();
    server.resumed.openHolds = [anOpenHold()];
    const plan = await gate.resume("plan-1");
    expect(await gate.openHold(await holdOf(gate, plan))).toEqual(APPROVAL);
    expect(server.bodiesOf(HOLDS)).toEqual([]);
    // It goes on: nobody else may have it meanwhile.
    expect(server.bodiesOf(LEASE)).toEqual([]);
  });

  test("is given back when it waits for a person again: the run may go on elsewhere", async () => {
    const { server, gate, sign, upload } = aHoldingGate();
    await sign();
    await upload();
    expect(await gate.openHold(await holdOf(gate, await gate.resume("plan-1")))).toMatchObject({ status: "pending" });
    const [{ holder }] = server.bodiesOf(RESUME);
    expect(server.bodiesOf(LEASE)).toEqual([{ holder, release: true }]);
  });

  test.each([GET, RESUME])("is asked for again when there is no answer: %s", async (line) => {
    const { server, sign, startProcess } = aHybridGate();
    await sign();
    server.lose(line);
    expect(await startProcess({ retries: 1 }).gate.resume("plan-1")).toMatchObject({ planId: "plan-1" });
    expect(server.bodiesOf(line)).toHaveLength(2);
  });

  test("tells its new listener of a clock that is off, and of trouble later", async () => {
    const { sign, startProcess } = aHybridGate();
    await sign();
    const { gate, outbox } = startProcess({ clock: () => (NOW - 7200) * 1000 });
    const heard: string[] = [];
    await gate.resume("plan-1", { listener: ({ code }) => heard.push(code) });
    outbox.uploads[0]?.onTrouble?.({ planId: "plan-1", error: new Error("no"), refused: false });
    expect(heard).toEqual(["clock_skew", "ERR_INTERNAL"]);
  });

  test.each([
    [GET, "not_found", "ERR_UNKNOWN_PLAN"],
    [RESUME, "lease_held", "ERR_PLAN_HELD"],
    [RESUME, "plan_revoked", "ERR_PLAN_REVOKED"],
  ] as const)("that the server refuses, at %s as %s, is %s", async (line, problem, code) => {
    const { outbox, sign, startProcess } = aHybridGate({ script: { [line]: () => aProblem(problem) } });
    await sign();
    const { gate } = startProcess({ outbox: outbox.outbox });
    await expect(gate.resume("plan-1")).rejects.toMatchObject({ code });
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed"]);
  });

  describe("for as long as it does", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    async function resumed() {
      const world = aHoldingGate();
      await world.sign();
      await world.upload();
      await world.gate.resume("plan-1");
      const renewals = async (ms: number): Promise<number> => {
        const before = world.server.bodiesOf(LEASE).length;
        await vi.advanceTimersByTimeAsync(ms);
        return world.server.bodiesOf(LEASE).length - before;
      };
      return { ...world, renewals };
    }

    test("is kept from others", async () => {
      const { server, renewals } = await resumed();
      // A third of the minute that the server gives.
      expect([await renewals(19_999), await renewals(1), await renewals(40_000)]).toEqual([0, 1, 2]);
      const [{ holder }] = server.bodiesOf(RESUME);
      expect(server.bodiesOf(LEASE)[0]).toEqual({ holder });
    });

    test("and no longer, once it is closed", async () => {
      const { gate, renewals } = await resumed();
      await gate.record({ type: "closed", planId: "plan-1" });
      expect(await renewals(60_000)).toBe(0);
    });

    test("and no longer, once the gate is closed, though it has a suspended call and stays open", async () => {
      const { server, outbox, gate, renewals, upload } = await resumed();
      server.resumed.openHolds = [anOpenHold()];
      await upload();
      await gate.resume("plan-1");
      await gate.close();
      expect(outbox.typesOf("plan-1")).not.toContain("closed");
      expect(await renewals(60_000)).toBe(0);
    });
  });
});

describe("the end of a plan", () => {
  const closed = { type: "closed", planId: "plan-1" } as const;

  test("is on record once, and no call of it is allowed", async () => {
    const { outbox, gate, sign } = aHybridGate();
    const plan = await sign();
    await gate.record(closed);
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed", "closed"]);
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:invalid_token");
    await expect(gate.record(closed)).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
  });

  test("takes the portions of its person's budget along: the server has them back", async () => {
    const line = "POST /v1/plans/plan-1/budget";
    const { server, gate, sign, upload } = aHybridGate({
      claims: { budget: { principal: { calls: 10, windowSeconds: 3600 } } },
      script: { [line]: () => Response.json({ reserved: { calls: 9, payoutMicros: 0 } }) },
    });
    await gate.check(await sign(), aGateCall());
    expect(server.bodiesOf(line)).toHaveLength(1);
    await gate.record(closed);
    await upload();
    await gate.check(await gate.resume("plan-1"), aGateCall());
    expect(server.bodiesOf(line)).toHaveLength(2);
  });

  test("is not that of a call: the plan goes on, and is kept from others", async () => {
    const { server, outbox, gate, sign, upload } = aHybridGate();
    await sign();
    await upload();
    server.resumed.openHolds = [anOpenHold()];
    const { seq: decisionSeq = -1, planId } = await gate.check(await gate.resume("plan-1"), aGateCall());
    await gate.record({ type: "outcome", planId, decisionSeq, status: "ok" });
    await gate.close();
    // Its hold is not forgotten.
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed", "refresh", "decision", "outcome"]);
  });
});

describe("a gate that is closed", () => {
  const closed = (planId: string) => ({ type: "closed", planId }) as const;

  test("has closed its plans, but for those with a suspended call, and then its outbox, once", async () => {
    const { outbox, gate, sign } = aHoldingGate({}, { closeTimeoutMs: 7 });
    const plan = await sign();
    await sign();
    await gate.openHold(await holdOf(gate, plan));
    await Promise.all([gate.close(), gate.close()]);
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed", "decision"]);
    expect(outbox.typesOf("plan-2")).toEqual(["plan_signed", "closed"]);
    expect(outbox.closes).toEqual([7]);
  });

  test("signs and goes on with nothing any more", async () => {
    const { server, gate, sign } = aHybridGate();
    await sign();
    await gate.close();
    const count = server.asked.length;
    await expect(sign()).rejects.toMatchObject({ code: "ERR_CLOSED" });
    await expect(gate.resume("plan-1")).rejects.toMatchObject({ code: "ERR_CLOSED" });
    expect(server.asked).toHaveLength(count);
  });

  test("while a plan is signed leaves none open", async () => {
    const { gate, server, sign } = aHybridGate();
    server.onAnswer = () => void gate.close();
    await expect(sign()).rejects.toMatchObject({ code: "ERR_CLOSED" });
    const plan = { planId: "plan-1", plan: aPlan(), token: "t", expiresAt: 0 };
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:invalid_token");
  });

  test("while a plan goes on gives it back: no call is allowed here, and others may have it", async () => {
    const { server, sign, startProcess } = aHybridGate();
    await sign();
    const { gate } = startProcess();
    server.onAnswer = (line) => void (line === RESUME && gate.close());
    await expect(gate.resume("plan-1")).rejects.toMatchObject({ code: "ERR_CLOSED" });
    const [{ holder }] = server.bodiesOf(RESUME);
    expect(server.bodiesOf(LEASE)).toEqual([{ holder, release: true }]);
    await expect(gate.refresh({ planId: "plan-1" } as never)).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
  });

  test("knows its plans as closed: to say so of one again is no error, and of a call of it is one", async () => {
    const { gate, sign } = aHybridGate();
    await sign();
    const unknown = { code: "ERR_UNKNOWN_PLAN" };
    await expect(gate.record(closed("plan-9"))).rejects.toMatchObject(unknown);
    await gate.close();
    await gate.record(closed("plan-1"));
    const outcome = { type: "outcome", planId: "plan-1", decisionSeq: 1, status: "ok" } as const;
    await expect(gate.record(outcome)).rejects.toMatchObject(unknown);
  });

  test("gives its outbox back though a plan could not be closed, which can be tried again", async () => {
    const { outbox, gate, sign } = aHybridGate();
    await sign();
    const append = outbox.append.bind(outbox);
    outbox.append = () => Promise.reject(new Error("disk full"));
    const failed = { code: "ERR_AUDIT_WRITE" };
    await expect(gate.close()).rejects.toMatchObject(failed);
    expect(outbox.closes).toHaveLength(1);
    outbox.append = append;
    await gate.record(closed("plan-1"));
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed", "closed"]);
    // Once there is nothing left to close, that is what became of the closing of the gate.
    await expect(gate.record(closed("plan-1"))).rejects.toMatchObject(failed);
  });
});
