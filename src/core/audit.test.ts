import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anything } from "../../test/arbitraries.ts";
import { aCall, anApproval, aPolicy, aRule, aToken, claims, NOW, PLAN_ID } from "../../test/builders.ts";
import {
  type AuditEntry,
  type AuditEvent,
  agreesWithRecord,
  answerOf,
  chainEntry,
  type DecisionRecord,
  digestEntry,
  printEntry,
  recomputeDecision,
  startChain,
  verifyChain,
} from "./audit.ts";
import { digestCall } from "./call.ts";
import { canonicalJson } from "./canonical-json.ts";
import { check } from "./check.ts";

const CALL = aCall();
const RECORD: DecisionRecord = {
  type: "decision",
  jti: "token-1",
  callId: CALL.callId,
  tool: CALL.tool,
  digest: digestCall(CALL),
  args: CALL.args,
  used: [0],
  now: NOW,
  verdict: "allow",
  step: 0,
  rule: "allow-in-plan",
};
const EVENTS: readonly AuditEvent[] = [
  { type: "plan_signed", token: "a.b.c" },
  RECORD,
  { type: "outcome", decisionSeq: 1, status: "ok", durationMs: 12.5 },
  { type: "refresh", token: "a.b.d" },
  { ...RECORD, callId: "call-2", used: [1], answer: "hold_requires_server", verdict: "hold" },
  { type: "hold", decisionSeq: 4, holdId: "hold-1" },
  { type: "approval", decisionSeq: 4, approval: anApproval() },
  { type: "outcome", decisionSeq: 4, status: "unknown" },
  { type: "closed" },
];

function chain(events: readonly AuditEvent[] = EVENTS, planId = PLAN_ID): AuditEntry[] {
  const entries: AuditEntry[] = [];
  let head = startChain(planId);
  for (const event of events) {
    const next = chainEntry(head, event, { at: NOW * 1000 + entries.length });
    entries.push(next.entry);
    head = next.head;
  }
  return entries;
}

/** The digest of the last entry if all of them are in order: what a receipt holds. */
function headOf(entries: readonly AuditEntry[]): string | null | undefined {
  return verifyChain(entries, PLAN_ID).head?.prev;
}
const HEAD = headOf(chain());

/** Every way to change one field of a value, as deep as it goes. */
function* tamperings(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) {
    yield typeof value === "number" ? value + 1 : typeof value === "string" ? `${value}x` : "x";
    return;
  }
  for (const [name, field] of Object.entries(value)) {
    const copy = structuredClone(value) as Record<string, unknown>;
    delete copy[name];
    if (!Array.isArray(value)) yield copy;
    for (const other of tamperings(field)) {
      const changed = structuredClone(value) as Record<string, unknown>;
      changed[name] = other;
      yield changed;
    }
  }
  if (!Array.isArray(value)) yield { ...value, more: 1 };
}

/** Taking the arguments away is allowed: an entry without them is a redacted one. */
function isRedaction(entry: AuditEntry, tampered: AuditEntry): boolean {
  const { event } = entry;
  if (event.type !== "decision" || event.args === undefined) return false;
  const { args: _, ...rest } = event;
  return JSON.stringify(tampered) === JSON.stringify({ ...entry, event: rest });
}

describe("a chain", () => {
  test("of whatever happened verifies, and numbers it from 0", () => {
    const entries = chain();
    expect(entries.map(({ seq }) => seq)).toEqual(EVENTS.map((_, index) => index));
    expect(entries[0]).toEqual({ v: 1, planId: PLAN_ID, seq: 0, prev: null, at: NOW * 1000, event: EVENTS[0] });
    expect(verifyChain(entries, PLAN_ID)).toEqual({ head: { planId: PLAN_ID, seq: EVENTS.length, prev: HEAD } });
    expect(HEAD).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test("of nothing verifies", () => {
    expect(verifyChain([], PLAN_ID)).toEqual({ head: startChain(PLAN_ID) });
  });

  test("verifies after it was stored, with its keys in any order", () => {
    const turned = chain().map((entry) => Object.fromEntries(Object.entries(entry).reverse()));
    expect(headOf(JSON.parse(JSON.stringify(turned)))).toBe(HEAD);
  });

  test("can be continued from its head", () => {
    const [first, ...rest] = [EVENTS.slice(0, 4), ...EVENTS.slice(4).map((event) => [event])];
    const entries = chain(first);
    for (const [event] of rest) {
      const { head } = verifyChain(entries, PLAN_ID);
      if (!head || !event) throw new Error("no head");
      entries.push(chainEntry(head, event, { at: NOW * 1000 + entries.length }).entry);
    }
    expect(headOf(entries)).toBe(HEAD);
  });

  test("gives the text that was hashed, and each entry as text", () => {
    const hostile = {
      ...RECORD,
      answer: '"event":{',
      callId: '"event":{"args":',
      args: { b: '"event":{', a: "\u2028" },
    };
    let head = startChain(PLAN_ID);
    for (const event of [...EVENTS, hostile]) {
      const next = chainEntry(head, event, { at: NOW });
      const printed = printEntry(next);
      expect(JSON.parse(printed)).toEqual(next.entry);
      expect(next.head.prev).toBe(digestEntry(JSON.parse(printed) as AuditEntry));
      const args = event.type === "decision" ? canonicalJson(event.args) : undefined;
      expect(printEntry(next, args)).toBe(printed);
      if (event.type !== "decision") expect(printed).toBe(canonicalJson(next.entry));
      else expect(next.hashed).not.toContain("landlord");
      head = next.head;
    }
  });

  test.each(EVENTS.map((event, seq) => ({ seq, type: event.type })))(
    "with any field of entry $seq ($type) changed, removed or added does not verify to the same head",
    ({ seq }) => {
      const entries = chain();
      let count = 0;
      for (const tampered of tamperings(entries[seq])) {
        if (isRedaction(entries[seq] as AuditEntry, tampered as AuditEntry)) continue;
        count++;
        const result = verifyChain(entries.with(seq, tampered as AuditEntry), PLAN_ID);
        if (seq < entries.length - 1)
          expect(result.problem?.seq, JSON.stringify(tampered)).toBeLessThanOrEqual(seq + 1);
        expect(result.head?.prev, JSON.stringify(tampered)).not.toBe(HEAD);
      }
      expect(count).toBeGreaterThan(10);
    },
  );

  test("with entries dropped, doubled, swapped, moved or cut off does not verify to the same head", () => {
    const entries = chain();
    for (const index of entries.keys()) {
      const entry = entries[index] as AuditEntry;
      const others = [
        entries.toSpliced(index, 1),
        entries.toSpliced(index, 0, entry),
        entries.slice(0, index),
        entries.slice(index + 1),
        ...(index > 0 ? [entries.with(index, entries[index - 1] as AuditEntry).with(index - 1, entry)] : []),
        ...(index < entries.length - 1 ? [[...entries.toSpliced(index, 1), entry]] : []),
      ];
      for (const other of others) expect(headOf(other)).not.toBe(HEAD);
    }
  });

  test("with an entry of another plan does not verify, nor as that of another plan", () => {
    const other = chain(EVENTS, "plan-2");
    expect(verifyChain(other, PLAN_ID)).toEqual({ problem: { seq: 0, problem: "another version or plan" } });
    expect(verifyChain(chain().with(3, other[3] as AuditEntry), PLAN_ID).problem?.seq).toBe(3);
  });

  test("that forks names the entry that does not follow", () => {
    const fork = chain([...EVENTS.slice(0, 2), { type: "closed" }, { type: "closed" }]);
    const entries = chain();
    expect(verifyChain([...entries.slice(0, 3), ...fork.slice(3)], PLAN_ID)).toEqual({
      problem: { seq: 3, problem: "it does not follow from the entry before" },
    });
  });

  test("without some or all arguments verifies: the entries are redacted", () => {
    const entries = chain();
    const redact = (entry: AuditEntry): AuditEntry => {
      if (entry.event.type !== "decision") return entry;
      const { args: _, ...event } = entry.event;
      return { ...entry, event };
    };
    expect(headOf(entries.map(redact))).toBe(HEAD);
    expect(headOf(entries.with(1, redact(entries[1] as AuditEntry)))).toBe(HEAD);
    expect(digestEntry(redact(entries[1] as AuditEntry))).toBe(digestEntry(entries[1] as AuditEntry));
  });

  test("with arguments put back verifies only with the right ones", () => {
    const { args: _, ...redacted } = RECORD;
    const entries = chain([redacted, { type: "closed" }]);
    const head = headOf(entries);
    const withArgs = (args: unknown) =>
      headOf(entries.with(0, { ...entries[0], event: { ...redacted, args } } as AuditEntry));
    expect(withArgs(CALL.args)).toBe(head);
    expect(withArgs({ ...(CALL.args as object), amount: 21 })).toBeUndefined();
    expect(withArgs(null)).toBeUndefined();
  });

  test("prints a redacted decision without arguments", () => {
    const { args: _, ...redacted } = RECORD;
    const next = chainEntry(startChain(PLAN_ID), redacted, { at: NOW });
    expect(JSON.parse(printEntry(next))).toEqual(next.entry);
  });

  test("shows arguments that were put into an event that has none", () => {
    const entries = chain();
    const last = entries.length - 1;
    const { event, ...entry } = entries[last] as AuditEntry;
    const closed = { ...entry, event: { ...event, args: { to: "eve" } } as AuditEvent };
    expect(headOf(entries.with(last, closed))).not.toBe(HEAD);
  });

  test.each<[string, Partial<AuditEntry>, string]>([
    ["of another version", { v: 2 as never }, "another version or plan"],
    ["that begins later", { seq: 3 }, "entry 3 stands where 0 should"],
  ])("%s does not verify, though it is in order", (_name, over, problem) => {
    const [first] = chain();
    expect(verifyChain([{ ...(first as AuditEntry), ...over }], PLAN_ID)).toEqual({ problem: { seq: 0, problem } });
  });

  test("of what is not JSON cannot be made", () => {
    const event = { type: "outcome", decisionSeq: 0, status: "ok", durationMs: Number.NaN } as const;
    expect(() => chainEntry(startChain(PLAN_ID), event, { at: 0 })).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_JSON" }),
    );
  });

  test("of anything is checked without throwing", () => {
    const entries = chain();
    fc.assert(
      fc.property(anything, fc.nat(entries.length - 1), (value, seq) => {
        const { planId, prev } = entries[seq] as AuditEntry;
        for (const entry of [value, { v: 1, planId, seq, prev, at: 0, event: value }]) {
          const result = verifyChain(entries.with(seq, entry as AuditEntry), PLAN_ID);
          expect(result.head?.prev).not.toBe(HEAD);
        }
      }),
    );
    for (const entry of [undefined, null, {}, { ...entries[0], event: null }, { ...entries[0], at: Number.NaN }]) {
      expect(verifyChain([entry as AuditEntry], PLAN_ID)).toHaveProperty("problem");
    }
  });
});

test.each<[string, Partial<DecisionRecord>, object]>([
  ["what was decided", {}, { verdict: "allow" }],
  ["a block, and why", { verdict: "block", reason: "not_in_plan" }, { verdict: "block", reason: "not_in_plan" }],
  ["a hold", { verdict: "hold" }, { verdict: "hold" }],
  ["the block instead of an allow", { answer: "call_limit" }, { verdict: "block", reason: "call_limit" }],
  [
    "the block instead of another",
    { verdict: "block", reason: "not_in_plan", answer: "call_limit" },
    { verdict: "block", reason: "call_limit" },
  ],
])("a call was answered with %s", (_name, over, answer) => {
  expect(answerOf({ ...RECORD, ...over })).toStrictEqual(answer);
});

describe("a decision made again", () => {
  test("is the one on record", async () => {
    const decision = recomputeDecision(RECORD, await aToken());
    expect(decision).toMatchObject({ verdict: "allow", callId: "call-1", step: 0 });
    expect(decision && agreesWithRecord(RECORD, decision)).toBe(true);
  });

  test("uses the evidence and the fingerprint on record", async () => {
    const fingerprint = `sha256:${"f".repeat(64)}`;
    const token = await aToken({
      tools: { send_money: fingerprint },
      policy: aPolicy(aRule({ id: "hold-it", decision: "hold", approvers: { self: true } })),
    });
    const evidence = { approval: anApproval(aCall({ fingerprint })) };
    const record = { ...RECORD, fingerprint, evidence, rule: "hold-it" };
    expect(recomputeDecision(record, token)).toMatchObject({ verdict: "allow", approvedBy: "bob@acme.dev" });
    expect(recomputeDecision({ ...RECORD, fingerprint }, token)).toMatchObject({ verdict: "hold" });
    expect(recomputeDecision({ ...RECORD, evidence }, token)).toMatchObject({ reason: "tool_changed" });
  });

  test("is impossible without the arguments, and under another or no token", async () => {
    const { args: _, ...redacted } = RECORD;
    expect(recomputeDecision(redacted, await aToken())).toBeUndefined();
    expect(recomputeDecision(RECORD, await aToken({ jti: "token-2" }))).toBeUndefined();
    expect(recomputeDecision(RECORD, { valid: false, detail: "x" })).toBeUndefined();
  });

  test("under a look-alike of the token is a block", () => {
    const lookAlike = { valid: true, claims: claims() } as never;
    expect(recomputeDecision(RECORD, lookAlike)).toMatchObject({ reason: "invalid_token" });
  });

  test.each<[string, Partial<DecisionRecord>]>([
    ["verdict", { verdict: "block" }],
    ["reason", { reason: "call_limit" }],
    ["step", { step: 1 }],
    ["no step", { step: undefined as never }],
    ["rule", { rule: "another" }],
    ["arguments", { args: null }],
    ["counts", { used: [] }],
    ["time", { now: NOW + 10_000 }],
    ["tool", { tool: "read_file" }],
  ])("shows that a record's %s is not right", async (_name, change) => {
    const record = { ...RECORD, ...change };
    const decision = recomputeDecision(record, await aToken());
    expect(decision && agreesWithRecord(record, decision)).toBe(false);
  });

  test("agrees on holds and blocks too", async () => {
    const blocked = check({ token: await aToken(), call: aCall({ tool: "read_file" }), used: [0], now: NOW });
    const { step: _, rule: __, ...rest } = RECORD;
    expect(agreesWithRecord({ ...rest, verdict: "block", reason: "not_in_plan" }, blocked)).toBe(true);
    expect(agreesWithRecord({ ...rest, verdict: "block", reason: "call_limit" }, blocked)).toBe(false);
  });
});
