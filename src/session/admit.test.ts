import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALICE, aPlan, aPolicy } from "../../test/builders.ts";
import { aSession, aSessionCall, hold, listEntries, listEvents, ScriptedGate } from "../../test/sessions.ts";
import type { Budget } from "../core/index.ts";
import { LocalGate, MemoryAuditSink } from "../gates/index.ts";
import type { AdmittedCall } from "./admitted-call.ts";
import type { Session } from "./session.ts";

async function admitOne(session: Session, callId = "call-1"): Promise<AdmittedCall> {
  const admitted = await session.admit(aSessionCall({ callId }));
  if (admitted.isError) throw new Error(admitted.content);
  return admitted;
}

describe("a call that somebody else runs", () => {
  test("is claimed once, however many try, and settled once", async () => {
    const { session, audit, events } = await aSession();
    const admitted = await admitOne(session);
    expect(admitted.args).toEqual(aSessionCall().args);
    expect(Object.isFrozen(admitted.args)).toBe(true);
    const claims = await Promise.all(Array.from({ length: 20 }, () => admitted.claim()));
    expect(claims.filter(Boolean)).toHaveLength(1);
    await Promise.all([admitted.settle("ok"), admitted.settle("aborted"), admitted.release()]);
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
    expect(listEvents(events)).toEqual(["plan_signed", "allow"]);
  });

  test("is blocked as any other, once on record", async () => {
    const { session, audit } = await aSession();
    const admitted = await session.admit(aSessionCall({ tool: "delete_all" }));
    expect(admitted).toMatchObject({ isError: true, decision: { reason: "unknown_tool" } });
    expect(listEntries(audit)).toEqual(["call-1:unknown_tool"]);
  });

  test.each<[string, (admitted: AdmittedCall) => Promise<unknown>, string[]]>([
    ["gave it back", (admitted) => admitted.release(), ["call-1:allow", "aborted", "call-2:allow"]],
    [
      "did not reach the tool",
      async (admitted) => (await admitted.claim()) && (await admitted.settle("aborted")),
      ["call-1:allow", "aborted", "call-2:allow"],
    ],
    [
      "reached it, and does not know",
      async (admitted) => (await admitted.claim()) && (await admitted.settle("unknown")),
      ["call-1:allow", "unknown", "call-2:call_limit"],
    ],
    ["says so without a claim", (admitted) => admitted.settle("aborted"), ["call-1:allow", "call-2:call_limit"]],
  ])("counts unless it never started: who has it %s", async (_name, end, entries) => {
    const { session, audit } = await aSession({ plan: aPlan({ maxCalls: 1 }) });
    await end(await admitOne(session));
    await session.admit(aSessionCall({ callId: "call-2" }));
    expect(listEntries(audit)).toEqual(entries);
  });

  test("is in flight until it is settled: another under its id is none", async () => {
    const { session, audit } = await aSession();
    const admitted = await admitOne(session);
    const twin = await session.admit(aSessionCall());
    expect(twin).toMatchObject({ isError: true, decision: { reason: "invalid_call" } });
    await admitted.claim();
    await admitted.settle("ok");
    await admitOne(session);
    expect(listEntries(audit)).toEqual(["call-1:allow", "call-1:invalid_call", "ok", "call-1:allow"]);
  });

  test.each<[string, (session: Session, abort: AbortController) => unknown]>([
    ["the session is closed", (session) => session.close()],
    ["the call is aborted", (_session, abort) => abort.abort()],
  ])("is not claimed, and given back, once %s", async (_name, end) => {
    const { session, audit } = await aSession();
    const abort = new AbortController();
    const admitted = await session.admit(aSessionCall({ signal: abort.signal }));
    await end(session, abort);
    expect(admitted).toMatchObject({ isError: false });
    expect(await (admitted as AdmittedCall).claim()).toBe(false);
    expect(listEntries(audit)).toEqual(["call-1:allow", "aborted"]);
  });

  test("that was claimed before the session was closed has its outcome", async () => {
    const { session, audit } = await aSession();
    const admitted = await admitOne(session);
    await admitted.claim();
    await session.close();
    await admitted.settle("failed");
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed"]);
  });

  test("waits for a person, or says who was asked", async () => {
    const answer = { status: "approved", approval: "token", approvedBy: "bob@acme.dev" };
    const waiting = await aSession({ gate: new ScriptedGate({ check: [hold], awaitHold: () => answer }) });
    expect(await waiting.session.admit(aSessionCall())).toMatchObject({ decision: { reason: "hold_rejected" } });
    const openHold = (): object => ({ status: "pending", holdId: "hold-1", expiresAt: 9 });
    const asking = await aSession({ gate: new ScriptedGate({ check: [hold], openHold }), onHold: "suspend" });
    expect(await asking.session.admit(aSessionCall())).toMatchObject({ isError: true, hold: { holdId: "hold-1" } });
  });

  test("whatever happens, the budget has what ran, and nothing else", async () => {
    const budget: Budget = {
      session: { calls: 10 },
      principal: { calls: 12, payoutMicros: 300, windowSeconds: 86_400 },
      payouts: [{ tool: "send_money", arg: "amount", microsPerUnit: 1 }],
    };
    const step = fc.record({
      end: fc.constantFrom("release", "aborted", "unknown", "ok", "failed", "twice"),
      to: fc.nat(60),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const gate = new LocalGate({ policy: aPolicy(), budget, audit: new MemoryAuditSink() });
        const { session } = await aSession({ gate, user: ALICE });
        let [calls, paid] = [0, 0];
        await Promise.all(
          steps.map(async ({ end, to: amount }, index) => {
            const admitted = await session.admit(aSessionCall({ callId: `${index}`, args: { amount } }));
            if (admitted.isError) return;
            if (end === "release") return await admitted.release();
            await admitted.claim();
            if (end === "twice") await Promise.all([admitted.settle("aborted"), admitted.settle("aborted")]);
            else await admitted.settle(end as "ok");
            if (end !== "aborted" && end !== "twice") [calls, paid] = [calls + 1, paid + amount];
          }),
        );
        const last = await session.peek(aSessionCall({ callId: "last", args: { amount: 0 } }));
        if (last.verdict !== "allow") {
          // Not returned: fast-check takes anything but undefined and true for a failure.
          expect(calls).toBe(10);
          return;
        }
        expect(last.budgetRemaining).toEqual({
          session: { calls: 10 - calls - 1 },
          principal: { calls: 12 - calls - 1, payoutMicros: 300 - paid },
        });
      }),
      { numRuns: 100 },
    );
  });
});
