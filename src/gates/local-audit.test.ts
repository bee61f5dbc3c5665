import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { FailingAuditSink, HeldAuditSink, settle } from "../../test/audit-sinks.ts";
import { AGENT, aPlan, KEY, summarize } from "../../test/builders.ts";
import { aGateCall, aSignRequest } from "../../test/gate-conformance.ts";
import { aLocalGate, anOutcome, aSignedPlan, isDone, SINK_FAILURES } from "../../test/local-gates.ts";
import { digestCall, IntentlockError, openPlanToken, recomputeDecision, verifyChain } from "../core/index.ts";
import { MemoryAuditSink } from "./audit-sink.ts";

const TTL = 900;

describe("an audit sink", () => {
  test.each(SINK_FAILURES)(
    "that %s blocks the call, gives back what it took and leaves no gap",
    async (_name, fail) => {
      const audit = new FailingAuditSink();
      const budget = { session: { calls: 1 } };
      const { gate, plan } = await aSignedPlan({ audit, budget }, { maxCalls: 1 });
      audit.fail = fail;
      const failed = await gate.check(plan, aGateCall());
      expect(failed).toMatchObject({
        verdict: "block",
        reason: "audit_write_failed",
        stage: "gate",
        planId: plan.planId,
      });
      expect(failed).not.toHaveProperty("seq");
      expect(JSON.stringify(failed)).not.toContain("disk");
      expect(summarize(await gate.check(plan, aGateCall({ tool: "read_file" })))).toBe("block:audit_write_failed");
      audit.fail = undefined;
      expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "allow", seq: 1 });
      expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:call_limit");
      expect(verifyChain(audit.entries, plan.planId)).toMatchObject({ head: { seq: 3 } });
    },
  );

  test("that has too much waiting blocks the call, and says so", async () => {
    const audit = new FailingAuditSink();
    const { gate, plan } = await aSignedPlan({ audit });
    for (const [code, reason] of [
      ["ERR_AUDIT_BACKLOG", "audit_backlog"],
      ["ERR_AUDIT_WRITE", "audit_write_failed"],
    ] as const) {
      audit.fail = () => {
        throw new IntentlockError(code, "no");
      };
      expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "block", reason, stage: "gate" });
    }
  });

  test.each(SINK_FAILURES)("that %s lets no plan be signed or renewed, and no outcome be lost", async (_name, fail) => {
    const audit = new FailingAuditSink();
    const { gate, plan } = await aSignedPlan({ audit }, { maxCalls: 1 });
    const decision = await gate.check(plan, aGateCall());
    audit.fail = fail;
    const isAuditError = { code: "ERR_AUDIT_WRITE" };
    await expect(gate.sign(aSignRequest())).rejects.toMatchObject(isAuditError);
    await expect(gate.refresh(plan)).rejects.toMatchObject(isAuditError);
    await expect(gate.record(anOutcome(decision, "aborted"))).rejects.toMatchObject(isAuditError);
    audit.fail = undefined;
    // Not given back before it is on record, and then once.
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:call_limit");
    await gate.record(anOutcome(decision, "aborted"));
    await expect(gate.record(anOutcome(decision, "aborted"))).rejects.toMatchObject({ code: "ERR_INVALID_OUTCOME" });
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
    expect(audit.entries.map(({ event }) => event.type)).toEqual([
      "plan_signed",
      "decision",
      "decision",
      "outcome",
      "decision",
    ]);
  });

  test("that hangs makes the call wait, with its place taken", async () => {
    const audit = new HeldAuditSink();
    const { gate } = aLocalGate({ audit });
    const signing = gate.sign(aSignRequest({ plan: aPlan({ maxCalls: 1 }) }));
    while (audit.waiting.length === 0) await settle();
    await audit.finish();
    const plan = await signing;
    let answered = false;
    const first = gate.check(plan, aGateCall()).finally(() => {
      answered = true;
    });
    const second = gate.check(plan, aGateCall());
    await settle();
    expect(answered).toBe(false);
    expect(summarize(await gate.peek(plan, aGateCall()))).toBe("block:call_limit");
    await audit.finish(new Error("disk full"));
    expect(summarize(await first)).toBe("block:audit_write_failed");
    await audit.finish();
    // Decided while the first still had its place.
    expect(summarize(await second)).toBe("block:call_limit");
    expect(summarize(await gate.peek(plan, aGateCall()))).toBe("allow");
    expect(verifyChain(audit.stored, plan.planId)).toMatchObject({ head: { seq: 2 } });
  });

  test("gets no duration that is no number, and others do not suffer from it", async () => {
    const audit = new FailingAuditSink();
    const { gate, plan } = await aSignedPlan({ audit });
    const decision = await gate.check(plan, aGateCall());
    const bad = gate.record({ ...anOutcome(decision), durationMs: Number.NaN });
    const good = gate.check(plan, aGateCall());
    await expect(bad).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    expect(summarize(await good)).toBe("allow");
    await gate.record({ ...anOutcome(decision), durationMs: 1.5, secret: "x" } as never);
    expect(audit.entries.at(-1)?.event).toEqual({ type: "outcome", decisionSeq: 1, status: "ok", durationMs: 1.5 });
  });

  test("is told no arguments if they are to be left out, and its entries verify", async () => {
    const audit = new MemoryAuditSink();
    const { gate, plan } = await aSignedPlan({ audit, redact: true, signingKey: KEY, agent: AGENT });
    await gate.check(plan, aGateCall({ args: { to: "SECRET" } }));
    await gate.check(plan, aGateCall({ tool: "read_file", args: { path: "SECRET" } }));
    expect(JSON.stringify(audit.entries)).not.toContain("SECRET");
    expect(verifyChain(audit.entries, plan.planId)).toMatchObject({ head: { seq: 3 } });
    const [, first] = audit.entries;
    if (first?.event.type !== "decision") throw new Error("no decision");
    expect(first.event.digest).toBe(digestCall(aGateCall({ args: { to: "SECRET" } })));
    const token = await openPlanToken(plan.token, [KEY.publicKey], { audience: AGENT });
    expect(recomputeDecision(first.event, token)).toBeUndefined();
  });
});

describe("closing", () => {
  test("while a token is renewed blocks the call that waits for it", async () => {
    const audit = new MemoryAuditSink();
    const waiting: (() => void)[] = [];
    let slow = false;
    const users = (email: string) =>
      slow ? new Promise<string>((resolve) => waiting.push(() => resolve(email))) : email;
    const { gate, plan, clock } = await aSignedPlan({ audit, users });
    slow = true;
    clock.advance(TTL);
    const checking = gate.check(plan, aGateCall());
    const looking = gate.peek(plan, aGateCall());
    await settle();
    await gate.record(isDone(plan));
    for (const go of waiting) go();
    expect(summarize(await checking)).toBe("block:invalid_token");
    expect(summarize(await looking)).toBe("block:invalid_token");
    expect(audit.entries.map(({ event }) => event.type)).toEqual(["plan_signed", "closed"]);
  });

  test("while a decision is written comes after it, and its outcome after that", async () => {
    const audit = new HeldAuditSink();
    const { gate } = aLocalGate({ audit });
    const signing = gate.sign(aSignRequest());
    while (audit.waiting.length === 0) await settle();
    await audit.finish();
    const plan = await signing;
    const checks = Promise.all([gate.check(plan, aGateCall()), gate.check(plan, aGateCall())]);
    await settle();
    const closing = gate.record(isDone(plan));
    await settle();
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:invalid_token");
    await audit.finish();
    await audit.finish();
    const [first, second] = await checks;
    await closing;
    for (const decision of [first, second]) {
      expect(summarize(decision)).toBe("allow");
      const recording = gate.record(anOutcome(decision));
      await audit.finish();
      await recording;
    }
    expect(audit.stored.map(({ event }) => event.type)).toEqual([
      "plan_signed",
      "decision",
      "decision",
      "closed",
      "outcome",
      "outcome",
    ]);
    await expect(gate.record(anOutcome(first))).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
  });

  test.each(SINK_FAILURES)("with a sink that %s allows no more calls, and can be tried again", async (_name, fail) => {
    const audit = new FailingAuditSink();
    const { gate, plan } = await aSignedPlan({ audit });
    audit.fail = fail;
    await expect(gate.record(isDone(plan))).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    audit.fail = undefined;
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:invalid_token");
    await Promise.all([gate.record(isDone(plan)), gate.record(isDone(plan))]);
    await expect(gate.record(isDone(plan))).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
    expect(audit.entries.map(({ event }) => event.type)).toEqual(["plan_signed", "closed"]);
  });

  test("the gate closes every plan before the sink, once, though one cannot be closed", async () => {
    const audit = new FailingAuditSink();
    const { gate, plan } = await aSignedPlan({ audit });
    const others = [await gate.sign(aSignRequest()), await gate.sign(aSignRequest())];
    let failures = 1;
    audit.fail = () => {
      if (failures-- > 0) throw new Error("disk full");
      audit.fail = undefined;
      // What failed was the first; the others come after it.
      return settle().then(() => Promise.reject(new Error("disk full")));
    };
    await expect(gate.close()).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    await expect(gate.close()).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    expect(audit.closed).toBe(1);
    const closedPlans = audit.entries.filter(({ event }) => event.type === "closed").map(({ planId }) => planId);
    expect(closedPlans).toEqual([others[1]?.planId]);
    for (const one of [plan, ...others]) expect((await gate.check(one, aGateCall())).verdict).toBe("block");
  });

  test("the gate while a plan is signed leaves no plan open", async () => {
    const { gate } = aLocalGate();
    const signing = gate.sign(aSignRequest());
    await gate.close();
    await expect(signing).rejects.toMatchObject({ code: "ERR_CLOSED" });
  });
});

describe("memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;

  async function isFreed(ref: WeakRef<object>): Promise<boolean> {
    for (let round = 0; round < 5 && ref.deref() !== undefined; round++) {
      await settle();
      collect();
    }
    return ref.deref() === undefined;
  }

  test("of a closed plan is freed", async () => {
    const { gate } = aLocalGate({ audit: new MemoryAuditSink() });
    const ref = await (async () => {
      const plan = await gate.sign(aSignRequest());
      const decision = await gate.check(plan, aGateCall());
      await gate.record(anOutcome(decision));
      await gate.record(isDone(plan));
      return new WeakRef(plan);
    })();
    expect(await isFreed(ref)).toBe(true);
  });

  test("of a closed plan with calls that still run is freed with the last", async () => {
    const { gate } = aLocalGate();
    let finish: (() => Promise<void>) | undefined;
    const ref = await (async () => {
      const plan = await gate.sign(aSignRequest());
      const { planId, seq = -1 } = await gate.check(plan, aGateCall());
      await gate.record(isDone(plan));
      finish = () => gate.record({ type: "outcome", planId, decisionSeq: seq, status: "failed" });
      return new WeakRef(plan);
    })();
    expect(await isFreed(ref)).toBe(false);
    await finish?.();
    expect(await isFreed(ref)).toBe(true);
  });

  test("of a plan that nobody closed is freed when it can no longer be renewed", async () => {
    const { gate, clock } = aLocalGate();
    const ref = await (async () => new WeakRef(await gate.sign(aSignRequest())))();
    clock.advance(86_400 + TTL);
    await gate.sign(aSignRequest());
    expect(await isFreed(ref)).toBe(false);
    clock.advance(1);
    await gate.sign(aSignRequest());
    expect(await isFreed(ref)).toBe(true);
  });
});
