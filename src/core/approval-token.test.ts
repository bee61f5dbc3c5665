import { describe, expect, test } from "vitest";
import { AGENT, aCall, anApproval, aPolicy, aRule, decide, KEY, NOW, PLAN_ID } from "../../test/builders.ts";
import { type ApprovalClaims, openApprovalToken, signApprovalToken, toApproval } from "./approval-token.ts";
import { type Call, digestCall } from "./call.ts";

const FINGERPRINT = `sha256:${"f".repeat(64)}`;

function approvalClaims(over: Partial<ApprovalClaims> = {}, call: Call = aCall()): ApprovalClaims {
  return {
    ver: 1,
    iss: "server",
    aud: AGENT,
    jti: "approval-1",
    iat: NOW,
    exp: NOW + 60,
    holdId: "hold-1",
    planId: PLAN_ID,
    tool: call.tool,
    rule: "hold-it",
    digest: digestCall(call),
    approvedBy: "bob@acme.dev",
    ...over,
  };
}

async function openSigned(claims: ApprovalClaims): Promise<ApprovalClaims> {
  const opened = await openApprovalToken(await signApprovalToken(claims, KEY), [KEY.publicKey], { audience: AGENT });
  if (!opened.valid) throw new Error(opened.detail);
  return opened.claims;
}

describe("an approval token", () => {
  test("opens with its claims, frozen, and its version", async () => {
    const { ver: _, ...given } = approvalClaims({ fingerprint: FINGERPRINT });
    const token = await signApprovalToken(given, KEY);
    const opened = await openApprovalToken(token, [KEY.publicKey], { audience: AGENT });
    expect(opened).toEqual({ valid: true, claims: { ver: 1, ...given } });
    expect(opened.valid && Object.isFrozen(opened.claims)).toBe(true);
  });

  test("opens long after it has expired: time is for check()", async () => {
    expect(await openSigned(approvalClaims({ iat: 0, exp: 1 }))).toMatchObject({ exp: 1 });
  });

  test("opens for its agent alone", async () => {
    const token = await signApprovalToken(approvalClaims({ aud: "other-agent" }), KEY);
    const opened = await openApprovalToken(token, [KEY.publicKey], { audience: AGENT });
    expect(opened).toEqual({ valid: false, detail: "it was signed for another agent" });
  });

  test("opens for nobody without saying for whom, and throws nothing", async () => {
    const token = await signApprovalToken(approvalClaims(), KEY);
    expect(await openApprovalToken(token, [KEY.publicKey], undefined as never)).toMatchObject({ valid: false });
  });

  test("has room for the longest claims", async () => {
    const longest = "\u0001".repeat(200);
    const claims = approvalClaims({ iss: longest, aud: longest, jti: longest, holdId: longest, planId: longest });
    const token = await signApprovalToken({ ...claims, fingerprint: "\u0001".repeat(1000) }, KEY);
    expect(await openApprovalToken(token, [KEY.publicKey], { audience: longest })).toHaveProperty("valid", true);
  });

  test.each<[string, Partial<Record<keyof ApprovalClaims, unknown>>]>([
    ["the approver in capitals", { approvedBy: "Bob@acme.dev" }],
    ["the approver with a Kelvin sign", { approvedBy: "\u212aen@acme.dev" }],
    ["the approver decomposed", { approvedBy: "zoe\u0308@acme.dev" }],
    ["an approver who is none", { approvedBy: "bob" }],
    ["a list of approvers", { approvedBy: ["bob@acme.dev"] }],
    ["a tool's name that is none", { tool: "send money" }],
    ["a rule that is none", { rule: "Hold It" }],
    ["a digest in capitals", { digest: FINGERPRINT.toUpperCase() }],
    ["a digest and a line feed", { digest: `${FINGERPRINT}\n` }],
    ["a fingerprint that is null", { fingerprint: null }],
    ["a fingerprint of 1001 characters", { fingerprint: "x".repeat(1001) }],
    ["a time as text", { exp: "9" }],
    ["a fraction of a second", { exp: NOW + 0.5 }],
    ["NaN", { exp: Number.NaN }],
    ["an empty id", { holdId: "" }],
  ])("is not signed with %s", async (_name, over) => {
    const signing = signApprovalToken({ ...approvalClaims(), ...over } as ApprovalClaims, KEY);
    await expect(signing).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
  });
});

describe("as evidence", () => {
  test("has no fingerprint, not even as undefined, where the claims have none", async () => {
    const { holdId, planId, rule, digest, approvedBy, exp } = approvalClaims();
    expect(toApproval(await openSigned(approvalClaims()))).toStrictEqual({
      holdId,
      planId,
      rule,
      digest,
      approvedBy,
      exp,
    });
  });

  const policy = aPolicy(aRule({ id: "hold-it", decision: "hold", approvers: { self: true } }));
  const judge = async (claims: ApprovalClaims, call: Call, now = NOW) =>
    (await decide({ policy }, { call, now, evidence: { approval: toApproval(await openSigned(claims)) } })).verdict;

  test.each([
    ["without a fingerprint", aCall()],
    ["with one", aCall({ fingerprint: FINGERPRINT })],
  ])("is all that check() needs, %s", async (_name, call) => {
    const { fingerprint } = call;
    const claims = approvalClaims(fingerprint === undefined ? {} : { fingerprint }, call);
    expect(toApproval(await openSigned(claims))).toEqual(anApproval(call));
    expect(await judge(claims, call)).toBe("allow");
  });

  test.each<[string, Partial<ApprovalClaims>, Partial<Call>]>([
    ["other arguments", {}, { args: { to: "eve", amount: 20 } }],
    ["another rule", { rule: "another" }, {}],
    ["another plan", { planId: "plan-2" }, {}],
    ["a tool with a fingerprint", {}, { fingerprint: FINGERPRINT }],
    ["a tool without one", { fingerprint: FINGERPRINT }, {}],
    ["a time after it has expired", { exp: NOW }, {}],
  ])("is none for %s", async (_name, over, call) => {
    expect(await judge(approvalClaims(over), aCall(call))).toBe("hold");
  });
});
