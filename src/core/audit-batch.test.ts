import { describe, expect, test } from "vitest";
import { aCall, KEY, NOW, PLAN_ID } from "../../test/builders.ts";
import {
  type AuditEntry,
  type AuditEvent,
  type ChainHead,
  chainEntry,
  continueChain,
  type DecisionRecord,
  startChain,
  verifyChain,
} from "./audit.ts";
import {
  AUDIT_BATCH_TYPE,
  type AuditBatch,
  describeBatch,
  MAX_BATCH_ENTRIES,
  openBatch,
  signBatch,
} from "./audit-batch.ts";
import { digestCall } from "./call.ts";
import { portableSha256 } from "./digest.ts";
import { generateSigningKey } from "./signing-key.ts";

const RECORD: DecisionRecord = {
  type: "decision",
  jti: "token-1",
  callId: "call-1",
  tool: "send_money",
  digest: digestCall(aCall()),
  args: aCall().args,
  used: [0],
  now: NOW,
  verdict: "allow",
  step: 0,
  rule: "allow-in-plan",
};
const EVENTS: readonly AuditEvent[] = [
  { type: "plan_signed", token: "a.b.c" },
  RECORD,
  { type: "outcome", decisionSeq: 1, status: "ok" },
  { ...RECORD, callId: "call-2" },
  { type: "closed" },
];

function chain(planId = PLAN_ID, events = EVENTS): AuditEntry[] {
  let head = startChain(planId);
  return events.map((event) => {
    const next = chainEntry(head, event, { at: NOW * 1000 });
    head = next.head;
    return next.entry;
  });
}

function headBefore(seq: number): ChainHead {
  const { head } = verifyChain(chain().slice(0, seq), PLAN_ID);
  if (!head) throw new Error("no head");
  return head;
}

describe("continueChain", () => {
  test.each([0, 1, 3, 5])("goes on from entry %i to the head of all", (seq) => {
    const all = verifyChain(chain(), PLAN_ID);
    expect(all.head?.seq).toBe(5);
    expect(continueChain(headBefore(seq), chain().slice(seq))).toEqual(all);
    expect(continueChain(headBefore(seq), chain().slice(seq), portableSha256)).toEqual(all);
  });

  test.each<[string, ChainHead, AuditEntry[], number, string]>([
    ["a gap", headBefore(1), chain().slice(2), 1, "entry 2 stands where 1 should"],
    ["entries that are known", headBefore(2), chain().slice(1), 2, "entry 1 stands where 2 should"],
    ["a fork", { ...headBefore(2), prev: `sha256:${"0".repeat(64)}` }, chain().slice(2), 2, "it does not follow"],
    ["another plan", headBefore(2), chain("plan-2").slice(2), 2, "another version or plan"],
    ["no entry", headBefore(2), [null as never], 2, "it is not an audit entry"],
  ])("finds %s", (_name, head, entries, seq, problem) => {
    expect(continueChain(head, entries)).toEqual({ problem: { seq, problem: expect.stringContaining(problem) } });
  });
});

describe("a signed batch", () => {
  test.each<[string, number, number]>([
    ["the whole chain", 0, 5],
    ["its beginning", 0, 1],
    ["a piece", 2, 4],
    ["its end", 4, 5],
  ])("opens with %s", async (_name, from, to) => {
    const entries = chain().slice(from, to);
    const { prev } = headBefore(from);
    const batch = { planId: PLAN_ID, from, count: to - from, prev, head: headBefore(to).prev };
    expect(describeBatch(entries)).toEqual(batch);
    const signature = await signBatch(batch as AuditBatch, KEY);
    expect(await openBatch(signature, KEY.publicKey, entries)).toEqual({ valid: true, batch, head: headBefore(to) });
    // As they come over the network.
    const sent = JSON.parse(JSON.stringify(entries)) as AuditEntry[];
    expect(await openBatch(signature, KEY.publicKey, sent)).toHaveProperty("valid", true);
  });

  test("opens without the arguments, which are in it by their digest", async () => {
    const { args: _, ...event } = RECORD;
    const entries = chain();
    const redacted = entries.with(1, { ...(entries[1] as AuditEntry), event });
    const signature = await signBatch(describeBatch(entries), KEY);
    expect(await openBatch(signature, KEY.publicKey, redacted)).toHaveProperty("valid", true);
  });

  const [first, second, third, fourth, fifth] = chain() as [AuditEntry, AuditEntry, AuditEntry, AuditEntry, AuditEntry];
  const eve: AuditEntry = { ...third, event: { type: "outcome", decisionSeq: 1, status: "aborted" } };
  const paid: AuditEntry = { ...second, event: { ...RECORD, args: { to: "eve" } } };
  test.each<[string, unknown, object]>([
    ["an entry less at the end", [first, second, third, fourth], { detail: /another number/ }],
    ["an entry less at the beginning", [second, third, fourth, fifth], { detail: /another number/ }],
    ["an entry twice", [first, second, second, third, fourth], { entry: 2 }],
    ["entries in another order", [first, third, second, fourth, fifth], { entry: 1 }],
    ["a changed entry", [first, second, eve, fourth, fifth], { entry: 3 }],
    ["a changed last entry", [first, second, third, fourth, { ...fifth, at: 0 }], { detail: /its last entry/ }],
    ["changed arguments", [first, paid, third, fourth, fifth], { entry: 1 }],
    ["entries of another plan", chain("plan-2"), { entry: 0 }],
    ["what are no entries", [1, 2, 3, 4, 5], { entry: 0 }],
    ["nulls", [null, null, null, null, null], { entry: 0 }],
    ["none", [], { detail: /another number/ }],
    ["no list", { length: 5 }, { detail: /another number/ }],
    ["nothing", undefined, { detail: /another number/ }],
  ])("does not open with %s", async (_name, entries, expected) => {
    const signature = await signBatch(describeBatch(chain()), KEY);
    const opened = await openBatch(signature, KEY.publicKey, entries as AuditEntry[]);
    expect(opened.valid).toBe(false);
    const { detail, ...rest } = expected as { detail?: RegExp };
    if (detail) expect(opened).toHaveProperty("detail", expect.stringMatching(detail));
    expect(opened).toMatchObject(rest);
  });

  test("is not signed for a first entry that follows on one, or a later one that follows on none", async () => {
    const { head } = describeBatch(chain());
    for (const [from, prev] of [[0, head] as const, [1, null] as const]) {
      const signing = signBatch({ planId: PLAN_ID, from, count: 1, prev, head }, KEY);
      await expect(signing).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
    }
  });

  test("has a type of its own, so that no other token is taken for one", async () => {
    const [header = ""] = (await signBatch(describeBatch(chain()), KEY)).split(".");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toHaveProperty("typ", AUDIT_BATCH_TYPE);
    expect(AUDIT_BATCH_TYPE).toBe("intentlock-audit-batch+jwt");
  });

  test("does not open when its signature is another's, or is none", async () => {
    const signature = await signBatch(describeBatch(chain()), KEY);
    const { publicKey } = await generateSigningKey();
    for (const [given, key] of [[signature, publicKey] as const, ["a.b.c", KEY.publicKey] as const]) {
      expect(await openBatch(given, key, chain())).toEqual({ valid: false, detail: expect.any(String) });
    }
  });

  test("is not signed for no entries, or too many", async () => {
    for (const count of [0, -1, 0.5, MAX_BATCH_ENTRIES + 1]) {
      const signing = signBatch({ ...describeBatch(chain()), count }, KEY);
      await expect(signing).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
    }
  });
});

test(`${MAX_BATCH_ENTRIES} entries are a batch, and one more is none`, () => {
  const events = new Array<AuditEvent>(MAX_BATCH_ENTRIES + 1).fill({ type: "closed" });
  const entries = chain(PLAN_ID, events);
  expect(describeBatch(entries.slice(1))).toHaveProperty("count", MAX_BATCH_ENTRIES);
  expect(() => describeBatch(entries)).toThrow(`A batch has 1 to ${MAX_BATCH_ENTRIES} entries`);
});

test.each<[string, AuditEntry[]]>([
  ["nothing", []],
  ["a gap", chain().toSpliced(1, 1)],
])("%s is no batch", (_name, entries) => {
  expect(() => describeBatch(entries)).toThrow(expect.objectContaining({ code: "ERR_INVALID_BATCH" }));
});
