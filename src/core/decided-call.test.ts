import { expect, test } from "vitest";
import { aCall, aToken, NOW, summarize } from "../../test/builders.ts";
import { agreesWithRecord, recomputeDecision } from "./audit.ts";
import { digestCall } from "./call.ts";
import { check } from "./check.ts";
import { describeDecision, overruleDecision, snapshotCall } from "./decided-call.ts";

test("a call is read once, and what is read is frozen", () => {
  let reads = 0;
  const given = {
    callId: "a",
    tool: "send_money",
    get args() {
      return { to: reads++ === 0 ? "landlord" : "eve" };
    },
  };
  const call = snapshotCall(given);
  expect([reads, call.args, Object.isFrozen(call.args)]).toEqual([1, { to: "landlord" }, true]);
  expect(call.digest).toBe(digestCall({ tool: "send_money", args: { to: "landlord" } }));
  expect(call.argsText).toBe('{"to":"landlord"}');
});

test.each<[string, unknown]>([
  ["no name", aCall({ tool: "a b" })],
  ["an endless id", aCall({ callId: "a".repeat(1001) })],
  ["a fingerprint that is none", aCall({ fingerprint: "\ud800" })],
  ["arguments that are no JSON", aCall({ args: { a: 1n } })],
  ["arguments without end", aCall({ args: "a".repeat(2_000_000) })],
  ["nothing", undefined],
  [
    "a getter that throws",
    {
      get tool() {
        throw new Error("no");
      },
    },
  ],
])("a call with %s has no digest, and is never allowed", async (_name, given) => {
  const call = snapshotCall(given as never);
  expect([call.digest, call.argsText]).toEqual([undefined, undefined]);
  const checked = check({ token: await aToken(), call, used: [0], now: NOW });
  const decision = overruleDecision(checked, call, undefined) ?? checked;
  expect(decision.verdict).toBe("block");
});

test("a refusal blocks what is allowed, and nothing allows what is blocked", async () => {
  const call = snapshotCall(aCall());
  const allowed = check({ token: await aToken(), call, used: [0], now: NOW });
  const refusal = { reason: "invalid_args", stage: "schema", detail: "no" } as const;
  expect(overruleDecision(allowed, call, undefined)).toBeUndefined();
  expect(overruleDecision(allowed, call, refusal)).toMatchObject({ verdict: "block", reason: "invalid_args" });
  const { digest: _, ...unread } = call;
  expect(overruleDecision(allowed, unread, undefined)).toMatchObject({ reason: "invalid_call" });
});

test.each([{}, { tool: "read_file" }])(
  "a record has all to decide again (%j), and nothing to if it is redacted",
  async (over) => {
    const token = await aToken();
    const call = snapshotCall(aCall(over));
    const checked = check({ token, call, used: [0], now: NOW });
    const grounds = { used: [0], now: NOW, evidence: undefined, checked, answer: undefined };
    const record = describeDecision(token, call, grounds);
    const again = recomputeDecision(record, token);
    expect(again && summarize(again)).toBe(summarize(checked));
    expect(again && agreesWithRecord(record, again)).toBe(true);
    expect(Object.keys(record)).toEqual(Object.keys(record).sort());
    const redacted = describeDecision(token, call, { ...grounds, redact: true });
    expect(redacted).toEqual({ ...record, args: undefined });
    expect(recomputeDecision(redacted, token)).toBeUndefined();
  },
);
