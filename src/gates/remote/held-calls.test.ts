import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hold } from "../../../test/sessions.ts";
import type { HoldAnswer } from "../../core/api/index.ts";
import type { HoldDecision } from "../../core/index.ts";
import { HeldCalls } from "./held-calls.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError } from "./server-error.ts";

const CALL = { callId: "call-1", tool: "pay", args: { to: "landlord" } };
const HOLD = { holdId: "hold-1", expiresAt: 1000 };
const APPROVED = { ...HOLD, status: "approved", approval: "token", approvedBy: "bob@acme.dev" };
const DOWN = new ServerError("ERR_SERVER_UNAVAILABLE", "down");

/** The held calls of a gate whose server gives these answers, the last one again and again; and one of them. */
function aHeldCall(...answers: readonly unknown[]) {
  const ask = vi.fn(async (): Promise<HoldAnswer> => {
    const answer = answers[Math.min(ask.mock.calls.length, answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return answer as HoldAnswer;
  });
  const held = new HeldCalls({ ask } as unknown as ServerClient);
  const add = (): HoldDecision => {
    const decision = { ...hold(CALL), digest: "sha256:1", seq: 1 } as HoldDecision;
    held.add(decision, CALL.args);
    return decision;
  };
  return { ask, held, add };
}

/** A held call that was suspended, and what the server says of its hold when it is made again and again. */
async function suspended(...answers: readonly unknown[]) {
  const { held, add } = aHeldCall({ ...HOLD }, ...answers);
  const again = async () => await held.open(add(), async () => undefined);
  expect(await again()).toEqual({ status: "pending", ...HOLD });
  return again;
}

test.each<[string, unknown, object]>([
  ["nobody has decided", { ...HOLD, status: "pending" }, { status: "pending", ...HOLD }],
  ["it was approved", APPROVED, { status: "approved", approval: "token", approvedBy: "bob@acme.dev" }],
  ["it was rejected", { ...HOLD, status: "rejected" }, { status: "rejected" }],
  ["nobody decided in time", { ...HOLD, status: "expired" }, { status: "blocked", reason: "hold_timeout" }],
  ["the plan was revoked", { ...HOLD, status: "cancelled" }, { status: "blocked", reason: "plan_revoked" }],
])("a call that is made again says what became of its hold: %s", async (_name, answer, expected) => {
  const again = await suspended(answer);
  expect(await again()).toMatchObject(expected);
});

test("a hold that the server cannot be asked about is kept: what the person says is not lost", async () => {
  const again = await suspended(DOWN, APPROVED);
  expect(await again()).toMatchObject({ status: "blocked", reason: "server_unavailable" });
  expect(await again()).toMatchObject({ status: "approved" });
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
    const waiting = held.await(add(), async () => undefined, { timeoutMs });
    await vi.runAllTimersAsync();
    return { resolution: await waiting, asked: ask.mock.calls.length, tookMs: performance.now() - started };
  }

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
