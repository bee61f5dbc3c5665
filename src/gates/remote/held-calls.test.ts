import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hold } from "../../../test/sessions.ts";
import { createProblem, endpoints, type HoldAnswer, type OpenHold } from "../../core/api/index.ts";
import type { HoldDecision } from "../../core/index.ts";
import { HeldCalls } from "./held-calls.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError, toServerError } from "./server-error.ts";

const CALL = { callId: "call-1", tool: "pay", args: { to: "landlord" } };
const HOLD = { holdId: "hold-1", expiresAt: 1000 };
const APPROVED = { ...HOLD, status: "approved", approval: "token", approvedBy: "bob@acme.dev" };
const DOWN = new ServerError("ERR_SERVER_UNAVAILABLE", "down");

/** The held calls of a gate whose server gives these answers, the last one again and again; and one of them. */
function aHeldCall(...answers: readonly unknown[]) {
  const ask = vi.fn(async (_endpoint: unknown, _ask: unknown): Promise<HoldAnswer> => {
    const answer = answers[Math.min(ask.mock.calls.length, answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return answer as HoldAnswer;
  });
  const held = new HeldCalls({ ask } as unknown as ServerClient);
  const add = (over: Partial<HoldDecision> = {}): HoldDecision => {
    const decision = { ...hold(CALL), digest: "sha256:1", seq: 1, ...over } as HoldDecision;
    held.add(decision, CALL.args);
    return decision;
  };
  const open = async (over: Partial<HoldDecision> = {}) => await held.open(add(over), async () => undefined);
  return { ask, held, add, open };
}

/** A held call that was suspended, and what the server says of its hold when it is made again and again. */
async function suspended(...answers: readonly unknown[]) {
  const { open: again } = aHeldCall({ ...HOLD }, ...answers);
  expect(await again()).toEqual({ status: "pending", ...HOLD });
  return again;
}

test.each<[string, unknown, object]>([
  ["nobody has decided", { ...HOLD, status: "pending" }, { status: "pending", ...HOLD }],
  ["it was approved", APPROVED, { status: "approved", approval: "token", approvedBy: "bob@acme.dev" }],
  ["it was rejected", { ...HOLD, status: "rejected" }, { status: "rejected" }],
  ["nobody decided in time", { ...HOLD, status: "expired" }, { status: "blocked", reason: "hold_timeout" }],
  ["the plan was revoked", { ...HOLD, status: "cancelled" }, { status: "blocked", reason: "plan_revoked" }],
  ["nobody knows what", { ...APPROVED, status: "granted" }, { status: "blocked", reason: "hold_timeout" }],
])("a call that is made again says what became of its hold: %s", async (_name, answer, expected) => {
  const again = await suspended(answer);
  expect(await again()).toMatchObject(expected);
});

test("a hold that the server cannot be asked about is kept: what the person says is not lost", async () => {
  const { ask, held, open: again } = aHeldCall(HOLD, DOWN, { ...HOLD, status: "pending" }, APPROVED);
  const { planId } = hold(CALL);
  await again();
  expect(await again()).toMatchObject({ status: "blocked", reason: "server_unavailable" });
  expect(await again()).toMatchObject({ status: "pending" });
  expect(held.waits(planId)).toBe(true);
  expect(await again()).toMatchObject({ status: "approved" });
  expect(held.waits(planId)).toBe(false);
  // Asked once: nobody is shown the same call twice.
  const { openHold, getHold } = endpoints;
  expect(ask.mock.calls.map(([endpoint]) => endpoint)).toEqual([openHold, getHold, getHold, getHold]);
});

test("a hold that is over is over once: the next call of the same is another", async () => {
  const again = await suspended(APPROVED, { ...HOLD, holdId: "hold-2" });
  expect(await again()).toMatchObject({ status: "approved" });
  expect(await again()).toEqual({ status: "pending", ...HOLD, holdId: "hold-2" });
});

test("an answer says no more than the server has said", async () => {
  const [rejected, approved] = [
    await suspended({ ...HOLD, status: "rejected" }),
    await suspended({ ...APPROVED, approval: undefined }),
  ];
  expect(await rejected()).toStrictEqual({ status: "rejected" });
  // Of a plan there is no approval.
  expect(await approved()).toStrictEqual({ status: "approved", approval: "", approvedBy: "bob@acme.dev" });
});

describe("a person", () => {
  const refused = (code: "hold_rejected_before" | "hold_limit" | "plan_revoked") =>
    toServerError(409, createProblem(code), undefined);

  test("is asked about the call with its arguments, and may be asked twice", async () => {
    const { ask, open } = aHeldCall(HOLD);
    await open();
    const body = { planId: hold(CALL).planId, decisionSeq: 1, args: CALL.args };
    expect(ask.mock.calls).toEqual([[endpoints.openHold, { body, signal: undefined, isRepeatable: true }]]);
  });

  test.each<[string, Error, object]>([
    ["has said no to this before", refused("hold_rejected_before"), { status: "rejected" }],
    [
      "was asked too often",
      refused("hold_limit"),
      { status: "blocked", reason: "gate_rejected", detail: "the plan has asked people too often" },
    ],
    ["is not asked about a plan that was revoked", refused("plan_revoked"), { reason: "plan_revoked" }],
    ["cannot be asked", DOWN, { status: "blocked", reason: "server_unavailable" }],
  ])("%s: the call does not wait", async (_name, error, expected) => {
    const { held, open } = aHeldCall(error);
    expect(await open()).toMatchObject(expected);
    expect(held.waits(hold(CALL).planId)).toBe(false);
  });

  test("is not asked if the server cannot have the decision", async () => {
    const { ask, held, add } = aHeldCall(HOLD);
    const blocked = { status: "blocked", reason: "server_unavailable", detail: "no" } as const;
    expect(await held.open(add(), async () => blocked)).toBe(blocked);
    expect(await held.await(add(), async () => blocked, { timeoutMs: 1000 })).toBe(blocked);
    expect(ask).not.toHaveBeenCalled();
  });

  test.each<[string, Partial<HoldDecision>]>([
    ["a copy of a decision", {}],
    ["a decision without a number", { seq: undefined as never }],
  ])("is not asked about %s", async (_name, over) => {
    const { ask, held, add } = aHeldCall(HOLD);
    const decision = "seq" in over ? add(over) : { ...add() };
    const refusal = { code: "ERR_HOLD", message: "Expected the very decision that check gave" };
    await expect(held.open(decision, async () => undefined)).rejects.toMatchObject(refusal);
    await expect(held.await(decision, async () => undefined, { timeoutMs: 1 })).rejects.toMatchObject(refusal);
    expect(ask).not.toHaveBeenCalled();
  });
});

describe("a plan that goes on", () => {
  const { planId } = hold(CALL);
  const earlier = (holdId: string, over: Partial<OpenHold> = {}) =>
    ({ holdId, expiresAt: 1000, digest: "sha256:1", tool: CALL.tool, ...over }) as OpenHold;

  test("asks about the same action what became of it, and about each of several once", async () => {
    const { ask, held, open } = aHeldCall(APPROVED, APPROVED, HOLD);
    const given = [earlier("hold-7"), earlier("hold-8")];
    held.resume(planId, given);
    given.length = 0;
    expect(held.waits(planId)).toBe(true);
    expect([await open(), await open()]).toMatchObject([{ status: "approved" }, { status: "approved" }]);
    const look = (holdId: string) => [endpoints.getHold, { params: { holdId }, query: {}, isRepeatable: true }];
    expect(ask.mock.calls).toEqual([look("hold-7"), look("hold-8")]);
    expect(held.waits(planId)).toBe(false);
    await open();
    expect(ask.mock.calls[2]?.[0]).toBe(endpoints.openHold);
  });

  test("waits for the person who was asked", async () => {
    const { ask, held, add } = aHeldCall(APPROVED);
    held.resume(planId, [earlier("hold-7")]);
    const waiting = held.await(add(), async () => undefined, { timeoutMs: 60_000 });
    expect(await waiting).toMatchObject({ status: "approved" });
    expect(ask.mock.calls).toEqual([
      [
        endpoints.getHold,
        { params: { holdId: "hold-7" }, query: { waitSeconds: 25 }, signal: undefined, timeoutMs: 35_000 },
      ],
    ]);
  });

  test.each<[string, Partial<OpenHold>]>([
    ["other arguments", { digest: "sha256:2" }],
    ["another tool", { tool: "refund" }],
  ])("asks anew about an action with %s", async (_name, over) => {
    const { ask, held, open } = aHeldCall(HOLD);
    held.resume(planId, [earlier("hold-7", over)]);
    expect(await open()).toEqual({ status: "pending", ...HOLD });
    expect(ask.mock.calls[0]?.[0]).toBe(endpoints.openHold);
  });

  test("asks anew under another plan, and once it was forgotten", async () => {
    const { ask, held, open } = aHeldCall(HOLD);
    held.resume("plan-9", [earlier("hold-7")]);
    expect([held.waits("plan-9"), held.waits(planId)]).toEqual([true, false]);
    await open();
    held.forget("plan-9");
    expect(held.waits("plan-9")).toBe(false);
    expect(ask.mock.calls.map(([endpoint]) => endpoint)).toEqual([endpoints.openHold]);
  });
});

test("a hold that nobody decided in time is asked about anew", async () => {
  const again = await suspended({ ...HOLD, status: "expired" }, { ...HOLD, holdId: "hold-2" });
  await again();
  expect(await again()).toMatchObject({ status: "pending", holdId: "hold-2" });
});

describe("a wait for a person", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  async function waited(timeoutMs: number, ...answers: readonly unknown[]) {
    const { ask, held, add } = aHeldCall(...answers);
    const started = performance.now();
    const times: number[] = [];
    const looked = ask.getMockImplementation();
    ask.mockImplementation(async (...asked) => {
      times.push(performance.now() - started);
      return await (looked as NonNullable<typeof looked>)(...asked);
    });
    const waiting = held.await(add(), async () => undefined, { timeoutMs });
    await vi.runAllTimersAsync();
    return { resolution: await waiting, asked: times.length, times, tookMs: performance.now() - started };
  }

  test.each([
    [0, [125, 250, 500, 1000, 2000, 2500, 2500]],
    [1, [250, 500, 1000, 2000, 4000, 5000, 5000]],
  ])("comes again after a while, each time a longer one, and never with all others (%d)", async (random, pauses) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const { times } = await waited(60_000, ...Array.from(pauses, () => DOWN), HOLD, APPROVED);
    expect(times.slice(1, -1).map((time, index) => time - (times[index] as number))).toEqual(pauses);
    vi.restoreAllMocks();
  });

  test.each([5000, 1000])("asks again at once when the server has waited, while there is time: %d ms", async (ms) => {
    const { resolution, tookMs } = await waited(ms, HOLD, { ...HOLD, status: "pending" }, APPROVED);
    expect([resolution.status, tookMs]).toEqual(["approved", 0]);
  });

  test("goes on over a server that restarts, be it while it is asked to ask, or later", async () => {
    const restarting = [DOWN, DOWN, DOWN, DOWN, DOWN, DOWN];
    const { resolution, asked } = await waited(60_000, ...restarting, HOLD, ...restarting, APPROVED);
    expect(resolution).toMatchObject({ status: "approved" });
    expect(asked).toBe(14);
  });

  test("ends when it may last no longer, and says that the server is away", async () => {
    const { resolution, tookMs } = await waited(20_000, DOWN);
    expect(resolution).toMatchObject({ status: "blocked", reason: "server_unavailable" });
    expect(tookMs).toBeGreaterThan(10_000);
    expect(tookMs).toBeLessThanOrEqual(20_000);
  });

  test.each([
    [250, 1],
    [251, 2],
  ])("of %d ms is not for a pause that would use it up: the server is asked %d times", async (timeoutMs, times) => {
    expect((await waited(timeoutMs, DOWN)).asked).toBe(times);
  });

  test("does not go on over a server that refuses", async () => {
    const refusal = new ServerError("ERR_REQUEST_REFUSED", "no");
    const { resolution, asked } = await waited(20_000, refusal);
    expect(resolution).toMatchObject({ status: "blocked", reason: "gate_rejected" });
    expect(asked).toBe(1);
  });

  test("looks once more when its time is over", async () => {
    const pending = { ...HOLD, status: "pending" };
    expect((await waited(500, HOLD, pending, APPROVED)).resolution).toMatchObject({ status: "approved" });
    expect((await waited(500, HOLD, pending)).resolution).toEqual({ status: "timeout" });
  });

  test("that is aborted ends with the signal's reason, at once", async () => {
    const { ask, held, add } = aHeldCall(DOWN);
    const controller = new AbortController();
    const waiting = held.await(add(), async () => undefined, { timeoutMs: 60_000, signal: controller.signal });
    const refused = expect(waiting).rejects.toThrow("enough");
    await vi.advanceTimersByTimeAsync(3000);
    const before = ask.mock.calls.length;
    controller.abort(new Error("enough"));
    await refused;
    await vi.runAllTimersAsync();
    expect(ask.mock.calls.length).toBe(before);
  });
});
