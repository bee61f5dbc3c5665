import { describe, expect, test } from "vitest";
import { sampleEntries } from "../../../test/api-samples.ts";
import { AGENT, aRule, KEY } from "../../../test/builders.ts";
import { aGateCall } from "../../../test/gate-conformance.ts";
import { anOutcome, aSignedPlan, isDone } from "../../../test/local-gates.ts";
import { MemoryAuditSink } from "../../gates/audit-sink.ts";
import { verifyChain } from "../audit.ts";
import { canonicalJson } from "../canonical-json.ts";
import { MAX_ARGS_BYTES } from "../json.ts";
import { auditEntrySchema } from "./audit-entry.ts";
import { readMessage } from "./read-message.ts";

type Fields = Readonly<Record<string, unknown>>;
const events = sampleEntries.map((entry): [string, Fields] => [(entry["event"] as { type: string }).type, entry]);
const decision = events.find(([type]) => type === "decision")?.[1] as Fields;

function isRead(entry: unknown): boolean {
  return readMessage(auditEntrySchema, entry).valid;
}

function withEvent(entry: Fields, over: Fields): Fields {
  return { ...entry, event: { ...(entry["event"] as Fields), ...over } };
}

describe("an audit entry", () => {
  test("of a gate is read, whatever it recorded, and its chain verifies still", async () => {
    for (const redact of [false, true]) {
      const audit = new MemoryAuditSink();
      const options = { audit, signingKey: KEY, agent: AGENT, redact, budget: { session: { calls: 5 } } };
      const { gate, plan } = await aSignedPlan(options, { maxCalls: 2 });
      await gate.record(anOutcome(await gate.check(plan, aGateCall())));
      for (const over of [
        { tool: "read_mail" },
        { args: { amount: Number.NaN } },
        { callId: "\ud800" },
        { callId: "x".repeat(5000), tool: "y".repeat(5000) },
        { fingerprint: "x".repeat(5000) },
        { refusal: { reason: "invalid_args", stage: "schema", detail: "no" } as const },
      ]) {
        await gate.check(plan, aGateCall(over));
      }
      await gate.refresh(plan);
      await gate.record(isDone(plan));
      expect(audit.entries.length).toBe(11);
      const read = audit.entries.map((entry) => auditEntrySchema.parse(JSON.parse(JSON.stringify(entry))));
      expect(read).toEqual(audit.entries);
      const head = verifyChain(audit.entries, plan.planId);
      expect(head.problem).toBeUndefined();
      expect(verifyChain(read, plan.planId)).toEqual(head);
    }
  });

  test("of a held call is read", async () => {
    const audit = new MemoryAuditSink();
    const policy = JSON.stringify({
      version: 1,
      default: "block",
      rules: [aRule({ id: "hold-it", decision: "hold", approvers: { self: true } })],
    });
    const { gate, plan } = await aSignedPlan({ audit, policy });
    await gate.check(plan, aGateCall());
    const [, held] = audit.entries;
    expect(held?.event).toMatchObject({ verdict: "hold", answer: "hold_requires_server" });
    expect(isRead(held)).toBe(true);
  });

  test.each(events)("%s is read whole, and in the order in which it is hashed", (_type, entry) => {
    const result = readMessage(auditEntrySchema, Object.fromEntries(Object.entries(entry).reverse()));
    expect(result).toEqual({ valid: true, value: entry });
    expect(result.valid && JSON.stringify(result.value)).toBe(canonicalJson(entry));
  });

  test.each(events)("%s is refused with a field more, or any field null", (_type, entry) => {
    const { event, ...rest } = entry as { event: Fields };
    for (const key of ["typo", "__proto__", "constructor"]) {
      expect(isRead(Object.fromEntries([...Object.entries(entry), [key, 1]]))).toBe(false);
      expect(isRead({ ...rest, event: Object.fromEntries([...Object.entries(event), [key, 1]]) })).toBe(false);
    }
    for (const name of Object.keys(event)) {
      if (name !== "args") expect(isRead(withEvent(entry, { [name]: null })), name).toBe(false);
    }
    for (const name of Object.keys(rest)) {
      if (name !== "prev") expect(isRead({ ...entry, [name]: null }), name).toBe(false);
    }
  });

  test.each<[string, Fields]>([
    ["another version", { v: 2 }],
    ["a number below 0", { seq: -1 }],
    ["a number that is not exact", { seq: 2 ** 53 }],
    ["a time before the epoch", { at: -1 }],
    ["a digest that is none", { prev: "x" }],
    ["no event", { event: {} }],
    ["an event that there is not", { event: { type: "approved" } }],
    ["an event in a list", { event: [{ type: "closed" }] }],
    ["an empty plan", { planId: "" }],
  ])("is refused with %s", (_name, over) => {
    expect(isRead({ ...decision, ...over })).toBe(false);
  });

  test.each<[string, Fields]>([
    ["a verdict that there is not", { verdict: "approve" }],
    ["a reason that is a sentence", { reason: "because I say so" }],
    ["a step that no plan has", { step: 200 }],
    ["counts below 0", { used: [-1] }],
    ["counts of more steps than a plan has", { used: new Array(201).fill(0) }],
    ["a time that is endless", { now: 1e300 }],
    ["a call id of 1001 characters", { callId: "x".repeat(1001) }],
    ["arguments of more than a call has", { args: { x: "x".repeat(MAX_ARGS_BYTES) } }],
    ["an approval that is none", { evidence: { approval: { holdId: "hold-1" } } }],
    ["evidence of another kind", { evidence: { note: "trust me" } }],
    ["half a ledger", { evidence: { ledger: { session: { calls: 0, payoutMicros: 0 } } } }],
  ])("of a decision is refused with %s", (_name, over) => {
    expect(isRead(withEvent(decision, over))).toBe(false);
  });
});
