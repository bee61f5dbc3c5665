import { describe, expect, test, vi } from "vitest";
import { ALICE, aPlan, NOW, PLAN_ID } from "../../../test/builders.ts";
import { aSignRequest } from "../../../test/gate-conformance.ts";
import { createProblem, endpoints } from "../../core/api/index.ts";
import { generateSigningKey } from "../../core/index.ts";
import type { GateTrouble, SignRequest } from "../gate.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerClock } from "./server-clock.ts";
import { ServerError, toServerError } from "./server-error.ts";
import { refreshPlan, signPlan } from "./sign-plan.ts";

const CLIENT = (await generateSigningKey()).publicKey;
const SERVER_TIME = Date.now() + 3_600_000;
const SIGNED = { planId: PLAN_ID, plan: aPlan(), token: "a.b.c", expiresAt: NOW, serverTime: SERVER_TIME };
const PENDING = { planId: PLAN_ID, status: "pending", holdId: "hold-1", expiresAt: NOW, serverTime: SERVER_TIME };

/** Has a plan signed by a server that answers so, one after the other. */
function aSigner(...answers: readonly unknown[]) {
  const ask = vi.fn(async (_endpoint: unknown, _ask: unknown): Promise<unknown> => {
    const answer = answers[ask.mock.calls.length - 1];
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const client = { ask } as unknown as ServerClient;
  const clock = new ServerClock(Date.now);
  const sign = async (over: Partial<SignRequest> = {}, key?: typeof CLIENT) =>
    await signPlan({ client, clock, planTimeoutMs: 5000 }, aSignRequest(over), key);
  return { sign, ask, client, clock };
}

function refusal(code: Parameters<typeof createProblem>[0]): ServerError {
  return toServerError(409, createProblem(code), undefined);
}

describe("a plan", () => {
  test("goes to the server with what it is for, and comes back signed", async () => {
    const { sign, ask, clock } = aSigner(SIGNED);
    const { signal } = new AbortController();
    const task = { instruction: "Pay", material: "Invoice 7", earlier: ["Hello"], more: "SECRET" };
    expect(await sign({ user: "Alice@ACME.dev", task, signal, approvePlan: true }, CLIENT)).toBe(SIGNED);
    const { more: _, ...known } = task;
    const { plan, tools } = aSignRequest();
    const body = { user: ALICE, task: known, plan, tools, clientKey: CLIENT, approvePlan: true };
    expect(ask.mock.calls).toEqual([[endpoints.signPlan, { body, signal }]]);
    expect(clock.offsetMs).toBeGreaterThan(3_500_000);
  });

  test("says no more than there is to say", async () => {
    const { sign, ask } = aSigner(SIGNED);
    await sign();
    const { plan, tools, task } = aSignRequest();
    expect(ask.mock.calls[0]?.[1]).toStrictEqual({ body: { user: ALICE, task, plan, tools }, signal: undefined });
  });

  test("tells its listener of a clock that is off", async () => {
    const told: GateTrouble[] = [];
    await aSigner(SIGNED).sign({ listener: (trouble) => told.push(trouble) });
    expect(told.map(({ code }) => code)).toEqual(["clock_skew"]);
  });

  test.each<[string, Partial<SignRequest>, string]>([
    ["a tool that there is not", { plan: aPlan({ tool: "rm" }) }, "ERR_INVALID_PLAN"],
    ["no plan at all", { plan: undefined as never }, "ERR_INVALID_PLAN"],
    ["nobody", { user: "alice" }, "ERR_UNKNOWN_USER"],
  ])("for %s does not get to the server", async (_name, over, code) => {
    const { sign, ask } = aSigner(SIGNED);
    await expect(sign(over)).rejects.toMatchObject({ code });
    expect(ask).not.toHaveBeenCalled();
  });

  test.each<[string, Error, string]>([
    ["does not take it", refusal("invalid_plan"), "ERR_INVALID_PLAN"],
    ["does not know the person", refusal("unknown_user"), "ERR_UNKNOWN_USER"],
    ["cannot be reached", new ServerError("ERR_SERVER_UNAVAILABLE", "down"), "ERR_SERVER_UNAVAILABLE"],
  ])("that a server %s is not signed", async (_name, error, code) => {
    await expect(aSigner(error).sign()).rejects.toMatchObject({ code });
  });
});

describe("a plan that a person has to see", () => {
  const look = (status: string, more: object = {}) => ({ holdId: "hold-1", status, expiresAt: NOW, ...more });

  test("is signed once they have approved it", async () => {
    const { sign, ask } = aSigner(PENDING, look("approved", { approvedBy: "bob@acme.dev" }), SIGNED);
    const { signal } = new AbortController();
    expect(await sign({ signal })).toBe(SIGNED);
    expect(ask.mock.calls[1]).toEqual([
      endpoints.getHold,
      { params: { holdId: "hold-1" }, query: { waitSeconds: 4 }, signal, timeoutMs: 14_000 },
    ]);
    expect(ask.mock.calls[2]).toEqual([
      endpoints.refreshPlan,
      { params: { planId: PLAN_ID }, signal, isRepeatable: true },
    ]);
  });

  test.each<[string, object | Error, string]>([
    ["rejected it", look("rejected"), "A person looked at the plan and said no"],
    ["rejected it with a word", look("rejected", { comment: "no" }), "A person looked at the plan and said no: no"],
    ["did not answer", look("expired"), "Nobody approved the plan in time"],
    ["could not be asked", refusal("not_found"), "Nobody could be asked about the plan"],
  ])("is not signed if they %s", async (_name, answer, message) => {
    const { sign, ask } = aSigner(PENDING, answer);
    await expect(sign()).rejects.toMatchObject({ code: "ERR_PLAN_REJECTED", message });
    expect(ask).toHaveBeenCalledTimes(2);
  });
});

describe("a plan that is signed anew", () => {
  test("may be asked for twice, and sets the clock", async () => {
    const { client, ask, clock } = aSigner(SIGNED);
    expect(await refreshPlan({ client, clock }, PLAN_ID, {})).toBe(SIGNED);
    const asked = { params: { planId: PLAN_ID }, signal: undefined, isRepeatable: true };
    expect(ask.mock.calls).toEqual([[endpoints.refreshPlan, asked]]);
    expect(clock.offsetMs).toBeGreaterThan(3_500_000);
  });

  test("tells its listener", async () => {
    const { client, clock } = aSigner(SIGNED);
    const told: GateTrouble[] = [];
    await refreshPlan({ client, clock }, PLAN_ID, { listener: (trouble) => told.push(trouble) });
    expect(told).toHaveLength(1);
  });

  test("is the plan that was asked for: with another one's token its calls would be decided under that", async () => {
    const { client, clock } = aSigner({ ...SIGNED, planId: "plan-2" });
    await expect(refreshPlan({ client, clock }, PLAN_ID, {})).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: "The server's answer is about another plan than the one that was asked for",
    });
  });

  test("is not if the server says why not", async () => {
    const { client, clock } = aSigner(refusal("plan_expired"));
    await expect(refreshPlan({ client, clock }, PLAN_ID, {})).rejects.toMatchObject({ code: "ERR_PLAN_EXPIRED" });
  });
});

describe("whoever gives up gets their own reason", () => {
  const aborted = AbortSignal.abort(new Error("enough"));
  const failed = new ServerError("ERR_SERVER_UNAVAILABLE", "down");

  test("while a plan is signed", async () => {
    await expect(aSigner(failed).sign({ signal: aborted })).rejects.toThrow("enough");
  });

  test("while it is signed anew", async () => {
    const { client, clock } = aSigner(failed);
    await expect(refreshPlan({ client, clock }, PLAN_ID, { signal: aborted })).rejects.toThrow("enough");
  });
});
