import { describe, expect, test, vi } from "vitest";
import { anApproval, summarize } from "../../test/builders.ts";
import { aGateCall } from "../../test/gate-conformance.ts";
import { PLAN_MAX_AGE, PLAN_TTL, somePlans } from "../../test/some-plans.ts";
import type { GateCall, SignedPlan } from "./gate.ts";

const REFUSAL = { reason: "server_unavailable", stage: "gate", detail: "no" } as const;

describe("a call that comes with an approval", () => {
  const approval = anApproval(aGateCall());
  const claims = () => vi.fn(async () => ({ approval }) as const);

  test("is allowed once that is claimed, and says who approved it", async () => {
    const claim = claims();
    const { begin, check, audit } = somePlans({ holds: true, claim });
    const state = await begin("plan-1");
    expect(await check(state)).toMatchObject({ verdict: "hold", rule: "hold-it" });
    const call = aGateCall({ approval: "token" });
    expect(await check(state, call)).toMatchObject({ verdict: "allow", approvedBy: "bob@acme.dev" });
    expect(claim.mock.calls).toEqual([[state, call]]);
    expect(audit.entries.at(-1)?.event).toMatchObject({ verdict: "allow", evidence: { approval } });
  });

  test.each<[string, Partial<GateCall>]>([
    ["none", {}],
    ["one that is no text", { approval: 5 as never }],
  ])("with %s has nothing to claim", async (_name, over) => {
    const claim = claims();
    const { begin, check } = somePlans({ holds: true, claim });
    expect(summarize(await check(await begin("plan-1"), over))).toBe("hold:hold-it");
    expect(claim).not.toHaveBeenCalled();
  });

  test("that is only looked at does not use it up", async () => {
    const claim = claims();
    const { begin, peek } = somePlans({ holds: true, claim });
    expect(summarize(await peek(await begin("plan-1"), { approval: "token" }))).toBe("hold:hold-it");
    expect(claim).not.toHaveBeenCalled();
  });

  test("under a token that is none does not use it up", async () => {
    const claim = claims();
    const { begin, plans } = somePlans({ holds: true, claim });
    const { signed } = await begin("plan-1");
    const decision = await plans.decide({ ...signed, token: "x" }, aGateCall({ approval: "token" }), true);
    expect(summarize(decision)).toBe("block:invalid_token");
    expect(claim).not.toHaveBeenCalled();
  });

  test("is refused as whoever was asked refuses it, on record", async () => {
    const { begin, check, audit } = somePlans({ holds: true, claim: async () => ({ refusal: REFUSAL }) });
    const decision = await check(await begin("plan-1"), { approval: "token" });
    expect(decision).toMatchObject({ verdict: "block", reason: "server_unavailable", stage: "gate", seq: 1 });
    expect(audit.entries.at(-1)?.event).toMatchObject({ verdict: "hold", answer: "server_unavailable" });
  });

  test("is an internal error if that fails in any other way", async () => {
    const claim = () => Promise.reject(new Error("no"));
    const { begin, check } = somePlans({ holds: true, claim });
    const expected = { verdict: "block", reason: "internal_error", stage: "gate", planId: "" };
    expect(await check(await begin("plan-1"), { approval: "token" })).toMatchObject(expected);
  });

  test.each<[string, (world: ReturnType<typeof somePlans>) => Promise<unknown>]>([
    ["closed", ({ plans }) => plans.record({ type: "closed", planId: "plan-1" })],
    [
      "forgotten",
      async ({ begin, clock }) => {
        clock.advance(PLAN_MAX_AGE + PLAN_TTL + 1);
        await begin("plan-2");
      },
    ],
  ])("of a plan that is %s meanwhile is blocked", async (_name, end) => {
    let world: ReturnType<typeof somePlans> | undefined;
    const claim = async () => {
      if (world) await end(world);
      return { approval };
    };
    world = somePlans({ holds: true, claim });
    const decision = await world.check(await world.begin("plan-1"), { approval: "token" });
    expect(decision).toMatchObject({ verdict: "block", reason: "invalid_token", stage: "token" });
  });
});

describe("a call that somebody has refused", () => {
  const ofCall = { reason: "aborted", stage: "gate", detail: "d" } as const;
  const ofPlan = { reason: "plan_revoked", stage: "gate", detail: "d" } as const;

  interface Refusals {
    readonly ofCall?: GateCall["refusal"];
    readonly ofPlan?: GateCall["refusal"];
    readonly ofClaim: typeof REFUSAL;
  }

  test.each<[string, Refusals, string]>([
    ["before it came here, whatever else is wrong", { ofCall, ofPlan, ofClaim: REFUSAL }, "aborted"],
    ["because its plan is refused", { ofPlan, ofClaim: REFUSAL }, "plan_revoked"],
    ["because its approval is", { ofClaim: REFUSAL }, "server_unavailable"],
  ])("is blocked for the first reason: %s", async (_name, { ofCall: refusal, ofPlan, ofClaim }, reason) => {
    const { begin, check } = somePlans({ holds: true, claim: async () => ({ refusal: ofClaim }) });
    const state = await begin("plan-1");
    state.refusal = ofPlan;
    const over = { approval: "token", ...(refusal && { refusal }) };
    expect(await check(state, over)).toMatchObject({ verdict: "block", reason });
  });
});

describe("all plans together", () => {
  test("are closed but for those that go on later", async () => {
    const { begin, plans } = somePlans();
    const states = [await begin("plan-1"), await begin("plan-2")];
    await plans.closeAll((planId) => planId === "plan-1");
    expect(states.map(({ phase }) => phase)).toEqual(["open", "closed"]);
    expect([plans.get("plan-1"), plans.get("plan-2")]).toEqual([states[0], undefined]);
  });

  test("and a plan that is closed while a call still runs is not closed again", async () => {
    const { begin, check, plans, audit } = somePlans();
    await check(await begin("plan-1"));
    await plans.record({ type: "closed", planId: "plan-1" });
    await plans.closeAll();
    expect(audit.entries.map(({ event }) => event.type)).toEqual(["plan_signed", "decision", "closed"]);
  });

  test("of which one is none: a plan that was not begun here is unknown", async () => {
    const { plans } = somePlans();
    const unknown = { code: "ERR_UNKNOWN_PLAN" };
    await expect(plans.refresh("plan-1")).rejects.toMatchObject(unknown);
    await expect(plans.record({ type: "closed", planId: "plan-1" })).rejects.toMatchObject(unknown);
    const decision = await plans.decide({ planId: "plan-1", token: "t" } as SignedPlan, aGateCall(), true);
    expect(decision).toMatchObject({ verdict: "block", reason: "invalid_token", stage: "token" });
  });
});
