import { describe, expect, test, vi } from "vitest";
import { aPlan, PLAN_ID } from "../../test/builders.ts";
import {
  allow,
  aSession,
  aSessionCall,
  aTool,
  type GateScript,
  hold,
  listEvents,
  ScriptedGate,
} from "../../test/sessions.ts";
import { LocalGate, type UserInput } from "../gates/index.ts";
import type { SessionEvent } from "./events.ts";
import { resumeSession } from "./resume-session.ts";

const PENDING = { status: "pending", holdId: "hold-1", expiresAt: 1000 } as const;
const APPROVED = { status: "approved", approval: "approval-token", approvedBy: "bob@acme.dev" } as const;

async function suspended(script: GateScript) {
  const gate = new ScriptedGate(script);
  const { session, events } = await aSession({ gate, onHold: "suspend" });
  return { gate, session, events, tool: vi.fn(() => "sent") };
}

describe("a held call that is suspended", () => {
  test("ends, and has not run", async () => {
    const { gate, session, events, tool } = await suspended({ check: [hold], openHold: () => PENDING });
    const result = await session.run(aSessionCall(), tool);
    expect(result).toMatchObject({ isError: true, hold: { holdId: "hold-1", expiresAt: 1000 } });
    expect(result).toMatchObject({ decision: { verdict: "hold" }, content: expect.stringContaining("ask") });
    expect(tool).not.toHaveBeenCalled();
    expect(gate.waits).toEqual([]);
    expect(gate.outcomes).toEqual([]);
    expect(listEvents(events)).toEqual(["plan_signed", "hold"]);
  });

  test("runs when it is made again and was approved since", async () => {
    const answers = [PENDING, APPROVED];
    const { gate, session, events, tool } = await suspended({
      check: [hold, hold, allow],
      openHold: () => answers.shift(),
    });
    await session.run(aSessionCall(), tool);
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ isError: false, content: "sent" });
    expect(tool).toHaveBeenCalledTimes(1);
    expect(gate.checks.map(({ approval }) => approval)).toEqual([undefined, undefined, "approval-token"]);
    expect(listEvents(events)).toEqual(["plan_signed", "hold", "hold", "approved", "allow"]);
  });

  test.each<[string, unknown, string]>([
    ["was rejected", { status: "rejected" }, "hold_rejected"],
    ["cannot be asked about", { status: "blocked", reason: "server_unavailable", detail: "d" }, "server_unavailable"],
    ["gets half an answer", { status: "PENDING" }, "internal_error"],
    ["gets no answer", undefined, "hold_requires_server"],
  ])("is blocked if it %s", async (_, answer, reason) => {
    const { session, tool } = await suspended({ check: [hold, allow], openHold: () => answer });
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ decision: { verdict: "block", reason } });
    expect(tool).not.toHaveBeenCalled();
  });

  test("in parts gives none of them", async () => {
    const { session } = await suspended({ check: [hold], openHold: () => PENDING });
    const parts = session.stream(aSessionCall(), async function* () {
      yield "sent";
    });
    expect(await parts.next()).toMatchObject({ done: true, value: { isError: true, hold: { holdId: "hold-1" } } });
  });

  test("needs a gate that can ask somebody", async () => {
    const refused = { code: "ERR_INVALID_OPTIONS" };
    await expect(aSession({ onHold: "suspend" })).rejects.toMatchObject(refused);
    await expect(aSession({ onHold: "later" as never })).rejects.toMatchObject(refused);
  });
});

describe("a session that goes on", () => {
  const signed = { planId: PLAN_ID, plan: aPlan(), token: "token-2", expiresAt: 0 };

  test("is under the plan that the gate gives, and says nothing of a new one", async () => {
    const gate = new ScriptedGate({ resume: () => signed });
    const events: SessionEvent[] = [];
    const session = await resumeSession({ gate, planId: PLAN_ID, tools: [aTool()], onEvent: (e) => events.push(e) });
    expect(session.plan).toEqual(signed.plan);
    expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ isError: false });
    expect(gate.signs).toEqual([]);
    expect(listEvents(events)).toEqual(["allow"]);
  });

  const tokenOf = (claims: unknown) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

  test.each<[string, string, UserInput, boolean]>([
    ["of the user", tokenOf({ sub: "alice@acme.dev" }), "alice@acme.dev", true],
    [
      "of the user, by an address written otherwise",
      tokenOf({ sub: "alice@acme.dev" }),
      { email: "ALICE@acme.dev" },
      true,
    ],
    ["of a user with letters of other alphabets", tokenOf({ sub: "jürgen@acme.dev" }), "jürgen@acme.dev", true],
    ["of somebody else", tokenOf({ sub: "alice@acme.dev" }), "mallory@acme.dev", false],
    ["of nobody", tokenOf({}), "undefined", false],
    ["of nobody, for nobody", tokenOf({ sub: "" }), "", false],
    ["that cannot be read", "token-2", "alice@acme.dev", false],
    ["that is no claims", tokenOf(null), "alice@acme.dev", false],
  ])("is one %s, if it is to be the user's", async (_, token, user, isTheirs) => {
    const gate = new ScriptedGate({ resume: () => ({ ...signed, token }) });
    const resumed = resumeSession({ gate, planId: PLAN_ID, tools: [aTool()], user });
    if (isTheirs) expect((await resumed).planId).toBe(PLAN_ID);
    else await expect(resumed).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
  });

  test("does not, if the gate does not have the plan", async () => {
    const error = new Error("no such plan");
    const gate = new ScriptedGate({ resume: () => Promise.reject(error) });
    await expect(resumeSession({ gate, planId: "other", tools: [aTool()] })).rejects.toBe(error);
  });

  test("does not with a gate that has nothing on record", async () => {
    const gate = new LocalGate({ policy: "version: 1\ndefault: block\nrules: []\n" });
    const refused = { code: "ERR_INVALID_OPTIONS" };
    await expect(resumeSession({ gate, planId: PLAN_ID, tools: [aTool()] })).rejects.toMatchObject(refused);
    await expect(resumeSession({ planId: PLAN_ID, tools: [] } as never)).rejects.toMatchObject(refused);
  });
});
