import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGENT, KEY, summarize } from "../../test/builders.ts";
import { plan as anyPlan, policy as anyPolicy, user as anyUser, call } from "../../test/decision-arbitraries.ts";
import { aGateCall, aSignRequest, toolPrint } from "../../test/gate-conformance.ts";
import { aLocalGate, anOutcome, aSignedPlan } from "../../test/local-gates.ts";
import { agreesWithRecord, type Budget, openPlanToken, recomputeDecision, verifyChain } from "../core/index.ts";
import { MemoryAuditSink } from "./audit-sink.ts";

describe("a local gate, whatever happens", () => {
  test("a decision made again from its record and its token is the same", { timeout: 60_000 }, async () => {
    const seen = new Set<string>();
    const budget = fc.option(
      fc.constant<Budget>({
        session: { calls: 3, payoutMicros: 30 },
        payouts: [{ tool: "send_money", arg: "amount", microsPerUnit: 1 }],
      }),
    );
    const calls = fc.array(fc.tuple(call, fc.constantFrom("ok", "aborted", "none")), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(anyPlan, anyPolicy, anyUser, budget, calls, async (plan, policy, user, budget, calls) => {
        const audit = new MemoryAuditSink();
        const { gate } = aLocalGate({ policy, audit, signingKey: KEY, agent: AGENT, ...(budget && { budget }) });
        const tools = Object.fromEntries(plan.steps.map(({ tool }) => [tool, toolPrint(tool)]));
        const signed = await gate.sign(aSignRequest({ plan, user, tools }));
        const decisions = await Promise.all(
          calls.map(async ([call, status]) => {
            const decision = await gate.check(signed, aGateCall(call));
            if (decision.verdict === "allow" && status !== "none") await gate.record(anOutcome(decision, status));
            return decision;
          }),
        );
        const token = await openPlanToken(signed.token, [KEY.publicKey], { audience: AGENT });
        // Stored and read again, as somebody else would.
        const entries: typeof audit.entries = JSON.parse(JSON.stringify(audit.entries));
        expect(verifyChain(entries, signed.planId).problem).toBeUndefined();
        for (const decision of decisions) {
          const event = entries[decision.seq ?? -1]?.event;
          if (event?.type !== "decision") throw new Error("no decision on record");
          expect([event.callId, event.tool, event.digest]).toEqual([decision.callId, decision.tool, decision.digest]);
          expect(event.answer ?? event.reason).toBe(decision.verdict === "block" ? decision.reason : undefined);
          const again = recomputeDecision(event, token);
          seen.add(again ? summarize(again).replace(/rule-\d/, "rule") : "none");
          if (again) expect(agreesWithRecord(event, again)).toBe(true);
          else expect(event).toMatchObject({ verdict: "block", reason: "invalid_call" });
        }
      }),
      { numRuns: 300 },
    );
    expect([...seen]).toEqual(
      expect.arrayContaining(["allow", "hold:rule", "block:rule", "block:not_in_plan", "none"]),
    );
  });

  test("no order of calls, outcomes and failing writes exceeds a limit", { timeout: 60_000 }, async () => {
    const status = fc.constantFrom("ok", "failed", "aborted");
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.tuple(status, fc.boolean()), { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.nat(4)),
        // One of them alone: where both are set, each would hide what the other lets through.
        fc.constantFrom("step", "person"),
        async (scheduler, maxCalls, calls, luck, limited) => {
          const stored = new MemoryAuditSink();
          let isReady = false;
          const audit = {
            append: async (entries: Parameters<MemoryAuditSink["append"]>[0]) => {
              if (isReady) await scheduler.schedule(Promise.resolve(), "write");
              if (isReady && luck.next().value === 0) throw new Error("disk full");
              stored.append(entries);
            },
          };
          const budget: Budget = { principal: { calls: maxCalls, windowSeconds: 60 } };
          const { gate, plan } =
            limited === "step" ? await aSignedPlan({ audit }, { maxCalls }) : await aSignedPlan({ audit, budget }, {});
          isReady = true;
          // Calls whose effect may have happened, or still may.
          let taken = 0;
          const run = async ([status, isLate]: (typeof calls)[number]): Promise<void> => {
            if (isLate) await scheduler.schedule(Promise.resolve(), "call");
            const decision = await gate.check(plan, aGateCall());
            if (decision.verdict !== "allow") return;
            taken++;
            expect(taken).toBeLessThanOrEqual(maxCalls);
            await scheduler.schedule(Promise.resolve(), "tool");
            if (status === "aborted") taken--;
            await gate.record(anOutcome(decision, status)).catch(() => {
              // It was not written, so nothing is given back.
              if (status === "aborted") taken++;
            });
          };
          await scheduler.waitFor(Promise.all(calls.map(run)));
          expect(verifyChain(stored.entries, plan.planId).problem).toBeUndefined();
          isReady = false;
          for (let left = maxCalls - taken; left > 0; left--) {
            expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
          }
          expect((await gate.check(plan, aGateCall())).verdict).toBe("block");
        },
      ),
      { numRuns: 200 },
    );
  });
});
