import { expect, test } from "vitest";
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

/** A held call that was suspended, and what the server says of its hold when it is made again and again. */
async function suspended(...answers: readonly unknown[]) {
  const asked: unknown[] = [{ ...HOLD }, ...answers];
  const ask = async (): Promise<HoldAnswer> => {
    const answer = asked.shift();
    if (answer instanceof Error) throw answer;
    return answer as HoldAnswer;
  };
  const held = new HeldCalls({ ask } as unknown as ServerClient);
  const again = async () => {
    const decision = { ...hold(CALL), digest: "sha256:1", seq: 1 } as HoldDecision;
    held.add(decision, CALL.args);
    return await held.open(decision, async () => undefined);
  };
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
