import { describe, expect, test } from "vitest";
import { ALICE, aCall, aLedger, aPlan, aPolicy, aRule, decide, NOW, PLAN_ID } from "../../../test/builders.ts";
import { digestCall } from "../call.ts";
import type { PlanClaims } from "../claims.ts";
import type { AllowDecision, Decision } from "../verdict.ts";
import { answersCall, decisionSchema } from "./decisions.ts";

const DIGEST = digestCall(aCall());
const added = { digest: DIGEST, elapsedUs: 12.5, seq: 3 };
const HOLD = { decision: "hold", approvers: { roles: ["approver"], emails: [ALICE], self: true } } as const;

async function anAllow(over: Partial<AllowDecision> = {}): Promise<AllowDecision> {
  return { ...(await decide()), ...added, ...over } as AllowDecision;
}

describe("a decision of check()", () => {
  test.each<[string, Partial<PlanClaims>, object]>([
    ["allow", {}, {}],
    ["allow with a budget", { budget: { session: { calls: 5 } } }, { evidence: { ledger: aLedger() } }],
    ["hold", { policy: aPolicy(aRule(HOLD)) }, {}],
    ["hold with a reason", { policy: aPolicy(aRule({ ...HOLD, reason: "r".repeat(1000) })) }, {}],
    ["block by a rule", { policy: aPolicy(aRule({ decision: "block", reason: "r".repeat(1000) })) }, {}],
    ["call_limit", { plan: aPlan({ maxCalls: 1 }) }, { used: [1] }],
    ["not_in_plan", {}, { call: aCall({ tool: "read_file" }) }],
    ["token_expired", {}, { now: NOW + 10_000 }],
    ["budget_exhausted", { budget: { session: { calls: 0 } } }, { evidence: { ledger: aLedger() } }],
    ["internal_error", {}, { now: Number.NaN }],
    ["a call that is hardly one", {}, { call: aCall({ callId: "x".repeat(2000), tool: "y".repeat(2000) }) }],
    ["a call whose id is no text", {}, { call: aCall({ callId: "\ud800", tool: 5 as never }) }],
  ])("%s travels whole", async (_name, claims, input) => {
    const decision = { ...(await decide(claims, input)), ...added };
    expect(decisionSchema.parse(JSON.parse(JSON.stringify(decision)))).toEqual(decision);
  });

  test("that is a block needs neither number nor digest", async () => {
    const decision = await decide({}, { call: aCall({ args: null }) });
    expect(decisionSchema.parse(decision)).toEqual(decision);
  });
});

describe("what is no decision", () => {
  test.each<[string, object]>([
    ["no verdict", { verdict: undefined }],
    ["another verdict", { verdict: "approve" }],
    ["the verdict in capitals", { verdict: "ALLOW" }],
    ["the verdict in a list", { verdict: ["allow"] }],
    ["an allow without a step", { step: undefined }],
    ["a step below 0", { step: -1 }],
    ["a step that no plan has", { step: 200 }],
    ["a step as text", { step: "0" }],
    ["an allow without a rule", { rule: undefined }],
    ["an allow without a digest", { digest: undefined }],
    ["a digest that is none", { digest: "sha256:0" }],
    ["an allow without a word on the budget", { budgetRemaining: undefined }],
    ["a budget below 0", { budgetRemaining: { session: { calls: -1 } } }],
    ["a payout below 0", { payoutMicros: -1 }],
    ["a number that is none", { seq: 0.5 }],
    ["a hold without approvers", { verdict: "hold", timeoutSeconds: 300 }],
    ["a hold without end", { verdict: "hold", approvers: {}, timeoutSeconds: 1e9 }],
    ["a block without a reason", { verdict: "block", stage: "plan", message: "x" }],
    ["a block with a reason that is a sentence", { verdict: "block", reason: "you may", stage: "plan", message: "x" }],
    [
      "a block with an endless message",
      { verdict: "block", reason: "aborted", stage: "gate", message: "x".repeat(4001) },
    ],
    ["a block of another stage", { verdict: "block", reason: "aborted", stage: "later", message: "x" }],
  ])("%s", async (_name, over) => {
    const value = Object.fromEntries(
      Object.entries({ ...(await anAllow()), ...over }).filter(([, field]) => field !== undefined),
    );
    expect(decisionSchema.safeParse(value).success).toBe(false);
  });
});

describe("answersCall", () => {
  const asked = { callId: "call-1", tool: "send_money", planId: PLAN_ID, digest: DIGEST };

  test("takes the answer to the call", async () => {
    expect(answersCall(await anAllow(), asked)).toBe(true);
    const { seq: _, ...peeked } = await anAllow();
    expect(answersCall(peeked, { ...asked, peek: true })).toBe(true);
  });

  test.each<[string, Partial<AllowDecision>]>([
    ["another call", { callId: "call-2" }],
    ["another tool", { tool: "read_file" }],
    ["another plan", { planId: "plan-2" }],
    ["other arguments", { digest: digestCall(aCall({ args: {} })) }],
  ])("refuses the answer to %s", async (_name, over) => {
    const allow = await anAllow(over);
    expect(answersCall(allow, asked)).toBe(false);
    expect(answersCall({ ...allow, verdict: "hold", approvers: {}, timeoutSeconds: 1 } as Decision, asked)).toBe(false);
  });

  test("refuses an allow that is not on record, and one of arguments that are no JSON", async () => {
    const { seq: _, ...unrecorded } = await anAllow();
    expect(answersCall(unrecorded, asked)).toBe(false);
    expect(answersCall(await anAllow(), { ...asked, peek: true })).toBe(false);
    const { digest: __, ...bare } = await anAllow();
    expect(answersCall(bare, { ...asked, digest: undefined })).toBe(false);
  });

  test("takes any block", async () => {
    expect(answersCall(await decide({}, { call: aCall({ tool: "read_file" }) }), asked)).toBe(true);
  });
});
