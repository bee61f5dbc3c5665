import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { aPlan, NOW } from "../../test/builders.ts";
import { aGateCall, aSignRequest } from "../../test/gate-conformance.ts";
import { aProblem, type Script } from "../../test/scripted-server.ts";
import { planOf } from "../../test/sessions.ts";
import { ALLOW, anotherPlan, aSigningServer, decideAll } from "../../test/signing-server.ts";
import { digestCall, type HoldDecision } from "../core/index.ts";
import type { GateCall, GateTrouble, SignedPlan, SignRequest } from "./gate.ts";
import { HttpGate, type HttpGateOptions } from "./http.ts";

const HOLD = { holdId: "hold-1", expiresAt: 2_000_000_000 };
const APPROVED = { ...HOLD, status: "approved", approval: "token", approvedBy: "bob@acme.dev" };
const APPROVAL = { status: "approved", approval: "token", approvedBy: "bob@acme.dev" };

const ASK = { verdict: "hold", step: 0, rule: "ask", approvers: { roles: ["approver"] }, timeoutSeconds: 60 };
const URL_AND_KEY = { baseUrl: "https://intentlock.acme.dev", apiKey: `ilk_${"k".repeat(43)}` };

/** A gate whose server holds every call, unless the script says something else. */
function aGate(script: Script = {}, over: Partial<HttpGateOptions> = {}) {
  const server = aSigningServer({
    script: { "POST /v1/check": decideAll(ASK), "GET /v1/holds/hold-1": () => Response.json(APPROVED), ...script },
  });
  const { fetch } = server;
  const gate = new HttpGate({ ...URL_AND_KEY, fetch, clock: server.clock.now, retries: 0, ...over });
  const troubles: GateTrouble[] = [];
  const listener = (trouble: GateTrouble) => troubles.push(trouble);
  const sign = async (request: Partial<SignRequest> = {}) => await gate.sign(aSignRequest({ listener, ...request }));
  /** The lines of what was asked for since the last look. */
  const news = () => server.asked.splice(0).map(({ line }) => line);
  return { gate, server, troubles, listener, sign, news };
}

async function hold(gate: HttpGate, plan: SignedPlan, over: Partial<GateCall> = {}): Promise<HoldDecision> {
  const decision = await gate.check(plan, aGateCall(over));
  if (decision.verdict !== "hold") throw new Error(decision.verdict);
  return decision;
}

const LEASE = "POST /v1/plans/plan-1/lease";
const RESUME = "POST /v1/plans/plan-1/resume";

describe("a held call", () => {
  test("is shown to a person, arguments and all, and waited for", async () => {
    const { gate, server, sign } = aGate();
    const decision = await hold(gate, await sign());
    expect(await gate.awaitHold(decision, { timeoutMs: 1000 })).toEqual(APPROVAL);
    const { args } = aGateCall();
    expect(server.bodiesOf("POST /v1/holds")).toEqual([{ planId: "plan-1", decisionSeq: 1, args }]);
  });

  test("that somebody else has put together is shown to nobody", async () => {
    const { gate, server, sign } = aGate();
    const copy = { ...(await hold(gate, await sign())) };
    const code = "ERR_HOLD";
    await expect(gate.awaitHold(copy, { timeoutMs: 1000 })).rejects.toMatchObject({ code });
    await expect(gate.openHold(copy)).rejects.toMatchObject({ code });
    expect(server.bodiesOf("POST /v1/holds")).toEqual([]);
  });

  test("is one that is held: one that was allowed is shown to nobody", async () => {
    const { gate, server, sign } = aGate({ "POST /v1/check": decideAll(ALLOW) });
    const allowed = await gate.check(await sign(), aGateCall());
    expect(allowed.verdict).toBe("allow");
    await expect(gate.openHold(allowed as never)).rejects.toMatchObject({ code: "ERR_HOLD" });
    expect(server.bodiesOf("POST /v1/holds")).toEqual([]);
  });

  test("that is suspended is asked about once, and says what has become of it when it is made again", async () => {
    const { gate, sign, news } = aGate();
    const plan = await sign();
    expect(await gate.openHold(await hold(gate, plan))).toEqual({ status: "pending", ...HOLD });
    // The plan was signed here: nobody else is kept from it.
    expect(news()).not.toContain(LEASE);
    expect(await gate.openHold(await hold(gate, plan))).toEqual(APPROVAL);
    expect(news()).not.toContain("POST /v1/holds");
  });
});

describe("a plan that goes on", () => {
  const earlier = (call: GateCall) => {
    const { callId, tool } = call;
    return { ...HOLD, decisionSeq: 3, callId, tool, digest: digestCall(call as never), status: "pending" };
  };

  test("is the server's, with a lease of this gate", async () => {
    const { gate, server, sign } = aGate();
    const { token } = await sign();
    const plan = await gate.resume("plan-1");
    expect(plan).toMatchObject({ planId: "plan-1", plan: aPlan(), expiresAt: expect.any(Number) });
    expect([plan.token === token, Object.isFrozen(plan)]).toEqual([false, true]);
    expect(Object.keys(plan).sort()).toEqual(["expiresAt", "plan", "planId", "token"]);
    expect(server.bodiesOf(RESUME)).toEqual([{ holder: expect.any(String) }]);
  });

  test("is the one that was asked for, and no other that the answer is about", async () => {
    const { gate, sign } = aGate({ [RESUME]: () => Response.json(anotherPlan()) });
    await sign();
    await expect(gate.resume("plan-1")).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: expect.stringContaining("about another plan"),
    });
  });

  test("is asked for again when there is no answer", async () => {
    const { gate, server, sign } = aGate({}, { retries: 1 });
    await sign();
    server.lose(RESUME);
    expect(await gate.resume("plan-1")).toMatchObject({ planId: "plan-1" });
  });

  test("has the holds that wait: the same action is not shown to a person twice", async () => {
    const { gate, server, sign, news } = aGate();
    await sign();
    server.resumed.openHolds = [earlier(aGateCall())];
    const plan = await gate.resume("plan-1");
    expect(await gate.openHold(await hold(gate, plan))).toEqual(APPROVAL);
    // It goes on: nobody else may have it meanwhile.
    expect(news()).not.toContain(LEASE);
    expect(server.bodiesOf("POST /v1/holds")).toEqual([]);
  });

  test("is given back when it waits for a person again: the run may go on elsewhere", async () => {
    const { gate, server, sign } = aGate();
    await sign();
    const plan = await gate.resume("plan-1");
    expect(await gate.openHold(await hold(gate, plan))).toMatchObject({ status: "pending" });
    const [{ holder }] = server.bodiesOf(RESUME);
    expect(server.bodiesOf(LEASE)).toEqual([{ holder, release: true }]);
  });

  test("tells its new listener of trouble, and no longer the old one", async () => {
    const { gate, sign, troubles } = aGate({ "POST /v1/check": () => aProblem("internal") });
    await sign();
    const heard: string[] = [];
    const plan = await gate.resume("plan-1", { listener: ({ code }) => heard.push(code) });
    await gate.check(plan, aGateCall());
    expect([heard, troubles]).toEqual([["internal"], []]);
  });

  test("tells its listener of a clock that is off", async () => {
    const { gate, server, sign } = aGate({}, { clock: () => NOW * 1000 });
    await sign();
    const heard: string[] = [];
    server.clock.advance(7200);
    await gate.resume("plan-1", { listener: ({ code }) => heard.push(code) });
    expect(heard).toEqual(["clock_skew"]);
  });

  test.each([
    ["not_found", "ERR_UNKNOWN_PLAN"],
    ["lease_held", "ERR_PLAN_HELD"],
    ["plan_revoked", "ERR_PLAN_REVOKED"],
  ] as const)("that the server refuses as %s is %s", async (problem, code) => {
    const { gate } = aGate({ [RESUME]: () => aProblem(problem) });
    await expect(gate.resume("plan-1")).rejects.toMatchObject({ code });
  });

  const plan = planOf({ id: "read", tool: "read_file" }, { tool: "send_money", args: { to: { from: "read" } } });
  const outcome = { type: "outcome", planId: "plan-1", decisionSeq: 1, status: "ok", result: "DE1" } as const;

  test("still sends the results of calls that were made before it was suspended", async () => {
    const { gate, server, sign } = aGate({ "POST /v1/check": decideAll(ALLOW) });
    await gate.check(await sign({ plan }), aGateCall({ tool: "read_file" }));
    await gate.resume("plan-1");
    await gate.record(outcome);
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([{ outcome }]);
  });

  test("in another process sends the results of its calls, too", async () => {
    const { server, sign } = aGate({ "POST /v1/check": decideAll(ALLOW) });
    await sign({ plan });
    const gate = new HttpGate({ ...URL_AND_KEY, fetch: server.fetch });
    await gate.check(await gate.resume("plan-1"), aGateCall({ tool: "read_file" }));
    await gate.record(outcome);
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([{ outcome }]);
    await gate.close();
  });

  describe("for as long as it does", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    async function resumed() {
      const world = aGate();
      await world.sign();
      await world.gate.resume("plan-1");
      const renewals = async (ms: number): Promise<number> => {
        world.news();
        await vi.advanceTimersByTimeAsync(ms);
        return world.news().filter((line) => line === LEASE).length;
      };
      return { ...world, renewals };
    }

    test("is kept from others", async () => {
      const { renewals } = await resumed();
      // A third of the minute that the server gives.
      expect([await renewals(19_999), await renewals(1), await renewals(40_000)]).toEqual([0, 1, 2]);
    });

    test("and no longer, once it is closed", async () => {
      const { gate, renewals } = await resumed();
      await gate.record({ type: "closed", planId: "plan-1" });
      expect(await renewals(60_000)).toBe(0);
    });

    test("and no longer, once the gate is closed, though it has a suspended call and stays open", async () => {
      const { gate, server, renewals } = await resumed();
      server.resumed.openHolds = [earlier(aGateCall())];
      await gate.resume("plan-1");
      await gate.close();
      expect(server.bodiesOf("POST /v1/outcomes")).toEqual([]);
      expect(await renewals(60_000)).toBe(0);
    });
  });
});

describe("a gate that is closed", () => {
  const closed = (planId: string) => ({ outcome: { type: "closed", planId } });

  test("closes a plan though some of its calls are done", async () => {
    const { gate, server, sign } = aGate();
    await sign();
    const outcome = { type: "outcome", planId: "plan-1", decisionSeq: 1, status: "ok" } as const;
    await gate.record(outcome);
    await gate.close();
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([{ outcome }, closed("plan-1")]);
  });

  test("closes each plan that is open, once, and signs and goes on with nothing any more", async () => {
    const { gate, server, sign } = aGate();
    await sign();
    await sign();
    await gate.record({ type: "closed", planId: "plan-1" });
    await Promise.all([gate.close(), gate.close()]);
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([closed("plan-1"), closed("plan-2")]);
    const count = server.asked.length;
    await expect(sign()).rejects.toMatchObject({ code: "ERR_CLOSED" });
    await expect(gate.resume("plan-1")).rejects.toMatchObject({ code: "ERR_CLOSED" });
    expect(server.asked).toHaveLength(count);
  });

  test("while a plan is signed closes it, too", async () => {
    const { gate, server, sign } = aGate();
    server.onAnswer = () => void gate.close();
    await expect(sign()).rejects.toMatchObject({ code: "ERR_CLOSED" });
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([closed("plan-1")]);
  });

  test("while a plan goes on gives it back: others may have it", async () => {
    const { server, sign } = aGate();
    await sign();
    const gate = new HttpGate({ ...URL_AND_KEY, fetch: server.fetch });
    server.onAnswer = (line) => void (line === RESUME && gate.close());
    await expect(gate.resume("plan-1")).rejects.toMatchObject({ code: "ERR_CLOSED" });
    const [{ holder }] = server.bodiesOf(RESUME);
    expect(server.bodiesOf(LEASE)).toEqual([{ holder, release: true }]);
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([]);
  });

  test("leaves a plan open of which a call was suspended", async () => {
    const { gate, server, sign } = aGate();
    const plan = await sign();
    await sign();
    await gate.openHold(await hold(gate, plan));
    await gate.close();
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([closed("plan-2")]);
  });

  test("says that the server could not be told, after it has tried so for each", async () => {
    const { gate, server, sign } = aGate({ "POST /v1/outcomes": () => aProblem("internal") });
    await sign();
    await sign();
    await expect(gate.close()).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE" });
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([closed("plan-1"), closed("plan-2")]);
  });

  test("needs to say nothing of plans that the server has closed already", async () => {
    const { gate, sign } = aGate({ "POST /v1/outcomes": () => aProblem("plan_closed") });
    await sign();
    await expect(gate.close()).resolves.toBeUndefined();
  });

  test("has forgotten a plan that it was told is done, also if the server was not reached", async () => {
    const { gate, server, sign } = aGate({ "POST /v1/outcomes": () => aProblem("internal") });
    const plan = await sign();
    await gate.openHold(await hold(gate, plan));
    const recording = gate.record({ type: "closed", planId: "plan-1" });
    await expect(recording).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE" });
    await gate.close();
    expect(server.bodiesOf("POST /v1/outcomes")).toHaveLength(1);
    // Nor is there anything left of its holds: the call is asked about anew.
    const again = await hold(gate, plan);
    await gate.openHold(again);
    expect(server.bodiesOf("POST /v1/holds")).toHaveLength(2);
  });
});

describe("a plan that a person has to see", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const pending = (): Response =>
    Response.json({ planId: "plan-1", status: "pending", holdId: "hold-1", serverTime: Date.now() }, { status: 202 });

  test.each<[string, Partial<HttpGateOptions>, number]>([
    ["five minutes", {}, 300_000],
    ["as long as is said", { planTimeoutMs: 7000 }, 7000],
  ])("is waited for, %s", async (_name, over, expectedMs) => {
    const waits: number[] = [];
    const { sign } = aGate(
      {
        "POST /v1/plans": pending,
        "GET /v1/holds/hold-1": async (request) => {
          const seconds = Number(new URL(request.url).searchParams.get("waitSeconds"));
          waits.push(seconds);
          await vi.advanceTimersByTimeAsync(seconds * 1000);
          return Response.json({ ...HOLD, status: "pending" });
        },
      },
      over,
    );
    const refused = expect(sign()).rejects.toMatchObject({ code: "ERR_PLAN_REJECTED" });
    await vi.runAllTimersAsync();
    await refused;
    expect(waits.reduce((sum, seconds) => sum + seconds, 0) * 1000).toBe(expectedMs);
  });
});

test("a plan is signed again for its listener, and for nobody once it is closed", async () => {
  const { gate, server, sign, troubles } = aGate({}, { clock: () => NOW * 1000 });
  const plan = await sign();
  server.clock.advance(7200);
  expect(await gate.refresh(plan)).toMatchObject({ planId: "plan-1" });
  expect(troubles.map(({ code }) => code)).toEqual(["clock_skew"]);
  await gate.record({ type: "closed", planId: "plan-1" });
  server.clock.advance(7200);
  await gate.refresh(plan);
  expect(troubles).toHaveLength(1);
});
