import { expect, test } from "vitest";
import { aCall, aLedger, anApproval, aToken, NOW, PLAN_ID, summarize } from "../../test/builders.ts";
import { agreesWithRecord, recomputeDecision } from "./audit.ts";
import { digestCall } from "./call.ts";
import { check } from "./check.ts";
import { type DecisionGrounds, describeDecision, overruleDecision, snapshotCall } from "./decided-call.ts";
import { type BlockDecision, blockDecision, type Decision } from "./verdict.ts";

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

test("a call keeps its fingerprint, and has none if it brought none", () => {
  expect(snapshotCall(aCall({ fingerprint: "sha256:f" }))).toHaveProperty("fingerprint", "sha256:f");
  expect(snapshotCall(aCall())).not.toHaveProperty("fingerprint");
  expect(snapshotCall({ ...aCall(), fingerprint: undefined as never })).not.toHaveProperty("fingerprint");
});

test("of what cannot be read there is an empty call", () => {
  expect(snapshotCall(null as never)).toStrictEqual({ callId: "", tool: "", args: undefined });
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
  expect(overruleDecision(allowed, unread, undefined)).toMatchObject({ reason: "invalid_call", stage: "parse" });
  const blocked = blockDecision(allowed, { reason: "not_in_plan", stage: "plan", detail: "no" });
  expect(overruleDecision(blocked, unread, undefined)).toBeUndefined();
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
    expect(record).not.toHaveProperty("fingerprint");
    const redacted = describeDecision(token, call, { ...grounds, redact: true });
    expect(redacted).toEqual({ ...record, args: undefined });
    expect(recomputeDecision(redacted, token)).toBeUndefined();
  },
);

const ALLOWED: Decision = {
  verdict: "allow",
  callId: "call-1",
  tool: "send_money",
  planId: PLAN_ID,
  step: 1,
  rule: "r",
  budgetRemaining: null,
};
const BLOCKED: BlockDecision = blockDecision(ALLOWED, { reason: "not_in_plan", stage: "plan", detail: "no" });
const SOURCES = [
  { seq: 3, path: "/from", from: "mail", arg: "/to" },
  { from: "task", arg: "/cc" },
];
const CALL = snapshotCall(aCall({ fingerprint: "sha256:f" }));
const RECORD = {
  args: CALL.args,
  callId: "call-1",
  digest: CALL.digest,
  fingerprint: "sha256:f",
  jti: "token-1",
  now: NOW,
  rule: "r",
  step: 1,
  tool: "send_money",
  type: "decision",
  used: [4, 5],
  verdict: "allow",
};
const SEEN = { callId: "call-1", jti: "token-1", now: NOW, tool: "send_money", type: "decision", used: [4, 5] };
test.each<[string, Partial<DecisionGrounds>, object]>([
  ["an allow", {}, RECORD],
  ["an allow that was answered with a block", { answer: BLOCKED }, { answer: "not_in_plan", ...RECORD }],
  [
    "sources, with what they have",
    { checked: { ...ALLOWED, sources: SOURCES } },
    {
      ...RECORD,
      sources: [
        { arg: "/to", from: "mail", path: "/from", seq: 3 },
        { arg: "/cc", from: "task" },
      ],
    },
  ],
  ["open arguments", { checked: { ...ALLOWED, unpinned: ["to"] } }, { ...RECORD, unpinned: ["to"] }],
  ["an approval", { evidence: { approval: anApproval() } }, { ...RECORD, evidence: { approval: anApproval() } }],
  ["a ledger", { evidence: { ledger: aLedger() } }, { ...RECORD, evidence: { ledger: aLedger() } }],
  [
    "both, and not the rest",
    { evidence: { approval: anApproval(), ledger: aLedger(), recorded: {} } },
    { ...RECORD, evidence: { approval: anApproval(), ledger: aLedger() } },
  ],
  ["no evidence", { evidence: { recorded: {} } }, RECORD],
  [
    "a block",
    { checked: BLOCKED },
    { ...SEEN, args: CALL.args, digest: CALL.digest, fingerprint: "sha256:f", reason: "not_in_plan", verdict: "block" },
  ],
])("a record has %s, and nothing else", async (_name, over, expected) => {
  const grounds = { used: [4, 5], now: NOW, evidence: undefined, checked: ALLOWED, answer: undefined, ...over };
  const record = describeDecision(await aToken(), CALL, grounds);
  expect(record).toStrictEqual(expected);
  for (const { ...source } of record.sources ?? []) expect(Object.keys(source)).toEqual(Object.keys(source).sort());
});

test("the record of a malformed call under no token has what was decided, and nothing that the call said", () => {
  const call = { callId: "x", tool: "y z", args: { secret: 1 }, fingerprint: "sha256:f" };
  const grounds = { used: [4, 5], now: NOW, evidence: undefined, checked: BLOCKED, answer: undefined };
  expect(describeDecision({ valid: false, detail: "no" }, call, grounds)).toStrictEqual({
    ...SEEN,
    jti: "",
    reason: "not_in_plan",
    verdict: "block",
  });
});
