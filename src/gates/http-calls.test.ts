import { describe, expect, onTestFinished, test, vi } from "vitest";
import { aGateCall, aSignRequest } from "../../test/gate-conformance.ts";
import { aProblem, type Script } from "../../test/scripted-server.ts";
import { ALLOW, aSigningServer, decideAll } from "../../test/signing-server.ts";
import { digestCall } from "../core/index.ts";
import type { GateCall, GateTrouble, SignedPlan } from "./gate.ts";
import { HttpGate } from "./http.ts";

const URL_AND_KEY = { baseUrl: "https://intentlock.acme.dev", apiKey: `ilk_${"k".repeat(43)}` };

/** A gate whose server allows everything, unless the script says something else. */
async function start(script: Script = {}) {
  const server = aSigningServer({ script: { "POST /v1/check": decideAll(ALLOW), ...script } });
  const gate = new HttpGate({ ...URL_AND_KEY, fetch: server.fetch, clock: server.clock.now, retries: 1 });
  const troubles: GateTrouble[] = [];
  const plan = await gate.sign(aSignRequest({ listener: (trouble) => troubles.push(trouble) }));
  return { gate, plan, server, troubles };
}

describe("the server is asked about a call", () => {
  test("as it is, and told whether it is only a look", async () => {
    const { gate, plan, server } = await start();
    const { callId, tool, args, fingerprint } = aGateCall();
    const asked = { planId: "plan-1", token: plan.token, call: { callId, tool, args, fingerprint } };
    await gate.check(plan, aGateCall());
    await gate.peek(plan, aGateCall());
    expect(server.bodiesOf("POST /v1/check")).toEqual([asked, { ...asked, peek: true }]);
  });

  const { callId, tool, args, fingerprint } = aGateCall();
  const refusal = { reason: "aborted", stage: "gate", detail: "the run was aborted" } as const;

  test.each<[string, object, object]>([
    ["has an approval", { approval: "token" }, { callId, tool, args, fingerprint, approval: "token" }],
    ["has an approval that is no text", { approval: 5 }, { callId, tool, args, fingerprint }],
    ["was refused before", { refusal }, { callId, tool, args, fingerprint, refusal }],
    ["has no fingerprint", { fingerprint: undefined }, { callId, tool, args }],
    ["has arguments that are no JSON", { args: { amount: 1n } }, { callId, tool, fingerprint }],
    ["has a name that cannot travel", { tool: "\ud800" }, { callId, tool: "", args: {} }],
    ["has no name, and was refused before", { tool: undefined, refusal }, { callId, tool: "", args: {}, refusal }],
    ["has an id that cannot travel", { callId: "\ud800" }, { callId: expect.any(String), tool: "", args: {} }],
    ["has a fingerprint that cannot travel", { fingerprint: 5 }, { callId, tool: "", args: {} }],
  ])("that %s: what travels is what can", async (_name, over, expected) => {
    const { gate, plan, server } = await start();
    await gate.check(plan, { ...aGateCall(), ...over } as GateCall);
    const [{ call }] = server.bodiesOf("POST /v1/check");
    expect(call).toEqual(expected);
    expect(typeof call.callId === "string" && call.callId.isWellFormed()).toBe(true);
  });

  test.each([[undefined], [null], [{}]])("under %j as a plan: a plan and a token that there are not", async (none) => {
    const { gate, server } = await start();
    await gate.check(none as unknown as SignedPlan, aGateCall());
    expect(server.bodiesOf("POST /v1/check")).toMatchObject([{ planId: "", token: "" }]);
  });

  test("and what it says is frozen, with how long that took", async () => {
    const { gate, plan } = await start();
    const now = vi.spyOn(performance, "now");
    onTestFinished(() => now.mockRestore());
    now.mockReturnValueOnce(1000).mockReturnValue(1002.5);
    const decision = await gate.check(plan, aGateCall());
    expect(decision).toMatchObject({ verdict: "allow", elapsedUs: 2500 });
    expect(Object.isFrozen(decision)).toBe(true);
  });
});

describe("a call that the server has not decided is blocked", () => {
  test("for a plan that it has not signed, as under a token that is none, and without trouble for the plan", async () => {
    const { gate, plan, troubles } = await start({ "POST /v1/check": () => aProblem("not_found") });
    const decision = await gate.check(plan, aGateCall());
    const named = { callId: "call-1", tool: "send_money", planId: "plan-1" };
    expect(decision).toMatchObject({ ...named, verdict: "block", reason: "invalid_token", stage: "token" });
    expect(Object.isFrozen(decision)).toBe(true);
    expect(troubles).toEqual([]);
  });

  test("for any other trouble, of which the plan's listener hears", async () => {
    const { gate, plan, troubles } = await start({ "POST /v1/check": () => aProblem("internal") });
    const decision = await gate.check(plan, aGateCall());
    expect(decision).toMatchObject({ callId: "call-1", planId: "plan-1", verdict: "block", stage: "gate" });
    expect(Object.isFrozen(decision)).toBe(true);
    expect(troubles).toEqual([
      { code: "internal", message: expect.stringContaining("(internal)"), cause: expect.any(Error) },
    ]);
  });

  test("for trouble under a plan that is not of this gate, of which nobody hears", async () => {
    const { gate, plan, troubles } = await start({ "POST /v1/check": () => aProblem("internal") });
    const decision = await gate.check({ ...plan, planId: "plan-9" }, aGateCall());
    expect(decision).toMatchObject({ verdict: "block", reason: "server_unavailable", planId: "plan-9" });
    expect(troubles).toEqual([]);
  });

  test("for an answer to another call, in words that say so", async () => {
    const digest = digestCall(aGateCall());
    const decision = { ...ALLOW, callId: "another", tool: "send_money", planId: "plan-1", digest, seq: 1 };
    const { gate, plan, troubles } = await start({ "POST /v1/check": () => Response.json({ decision }) });
    expect(await gate.check(plan, aGateCall())).toMatchObject({ reason: "server_unavailable" });
    expect(troubles).toMatchObject([{ code: "ERR_SERVER_UNAVAILABLE", message: expect.stringContaining("not about") }]);
  });

  test("for anything that is thrown on the way, be it no error at all", async () => {
    const { gate, plan, troubles } = await start();
    vi.spyOn(performance, "now")
      .mockReturnValueOnce(0)
      .mockImplementationOnce(() => {
        throw "no error";
      });
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "block", reason: "internal_error" });
    expect(troubles).toEqual([{ code: "ERR_INTERNAL", message: "The server could not be asked", cause: "no error" }]);
  });
});

describe("the outcome of a call", () => {
  const outcome = { type: "outcome", planId: "plan-1", decisionSeq: 1, status: "ok" } as const;

  test.each<[string, unknown]>([
    ["of no known kind", { ...outcome, status: "fine" }],
    ["without a number", { ...outcome, decisionSeq: undefined }],
    ["that is nothing", undefined],
  ])("%s is an error, and is not sent", async (_name, given) => {
    const { gate, server } = await start();
    await expect(gate.record(given as never)).rejects.toMatchObject({ code: "ERR_INVALID_OUTCOME" });
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([]);
  });

  test("that the server does not wait for is the error that every gate gives", async () => {
    const { gate } = await start({ "POST /v1/outcomes": () => aProblem("outcome_not_expected") });
    await expect(gate.record(outcome)).rejects.toMatchObject({ code: "ERR_INVALID_OUTCOME" });
  });

  test("is sent again when there is no answer", async () => {
    const { gate, server } = await start();
    server.lose("POST /v1/outcomes");
    await gate.record(outcome);
    expect(server.bodiesOf("POST /v1/outcomes")).toEqual([{ outcome }, { outcome }]);
  });
});
