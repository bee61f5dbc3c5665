import { describe, expect, test, vi } from "vitest";
import { AGENT, ALICE, aCall, aJwt, KEY, NOW, PLAN_ID } from "../../../test/builders.ts";
import { encode, forge } from "../../../test/forge.ts";
import { createProblem, endpoints } from "../../core/api/index.ts";
import {
  APPROVAL_TOKEN_TYPE,
  type ApprovalClaims,
  digestCall,
  generateSigningKey,
  PLAN_TOKEN_TYPE,
  signApprovalToken,
} from "../../core/index.ts";
import { claimApproval } from "./claim-approval.ts";
import { KeySet } from "./key-set.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError, toServerError } from "./server-error.ts";

const FINGERPRINT = `sha256:${"f".repeat(64)}`;
const CALL = aCall({ fingerprint: FINGERPRINT });

const CLAIMS: ApprovalClaims = {
  ver: 1,
  iss: "server",
  aud: AGENT,
  jti: "approval-1",
  iat: NOW,
  exp: NOW + 60,
  holdId: "hold-1",
  planId: PLAN_ID,
  tool: CALL.tool,
  rule: "hold-it",
  digest: digestCall(CALL),
  fingerprint: FINGERPRINT,
  approvedBy: "bob@acme.dev",
};

/** Claims an approval for a call, from a server that answers so. */
async function claim(approval: unknown, { call = CALL, answer = async (): Promise<unknown> => ({}) } = {}) {
  const ask = vi.fn<(endpoint: unknown, ask: unknown) => Promise<unknown>>(answer);
  const client = { ask } as unknown as ServerClient;
  const keys = new KeySet(client, [KEY.publicKey]);
  const given = { ...call, ...(approval !== undefined && { approval: approval as string }) };
  const claimed = await claimApproval({ client, keys, agent: AGENT }, PLAN_ID, given);
  return { claimed, ask };
}

async function sign(over: Partial<ApprovalClaims> = {}, key = KEY): Promise<string> {
  return await signApprovalToken({ ...CLAIMS, ...over }, key);
}

test("an approval of the very call is claimed at the server, and is evidence then", async () => {
  const approval = await sign();
  const { claimed, ask } = await claim(approval);
  const { planId, rule, digest, fingerprint, approvedBy, exp, holdId } = CLAIMS;
  expect(claimed).toEqual({ approval: { planId, rule, digest, fingerprint, approvedBy, exp, holdId } });
  expect(ask.mock.calls).toEqual([[endpoints.claimHold, { params: { holdId }, body: { approval } }]]);
});

describe("an approval is neither claimed nor evidence", () => {
  const forAnother = "the approval is for another call";
  test.each<[string, Partial<ApprovalClaims>]>([
    ["of another plan", { planId: "plan-2" }],
    ["of another tool", { tool: "delete_repo" }],
    ["of other arguments", { digest: digestCall({ ...CALL, args: { to: "landlord", amount: 21 } }) }],
    ["of another state of the tool", { fingerprint: `sha256:${"e".repeat(64)}` }],
  ])("%s", async (_name, over) => {
    const { claimed, ask } = await claim(await sign(over));
    expect(claimed).toEqual({ refusal: { reason: "gate_rejected", stage: "gate", detail: forAnother } });
    expect(ask).not.toHaveBeenCalled();
  });

  test("of a tool without a fingerprint for one with it, nor the other way", async () => {
    const { fingerprint: _, ...bare } = CLAIMS;
    const { fingerprint: __, ...call } = CALL;
    const one = await claim(await signApprovalToken(bare, KEY));
    const other = await claim(await sign(), { call });
    for (const { claimed, ask } of [one, other]) {
      expect(claimed).toMatchObject({ refusal: { detail: forAnother } });
      expect(ask).not.toHaveBeenCalled();
    }
    expect((await claim(await signApprovalToken(bare, KEY), { call })).claimed).toMatchObject({
      approval: { holdId: "hold-1" },
    });
  });

  test.each<[string, () => Promise<unknown>]>([
    ["that is none", async () => undefined],
    ["that is empty", async () => ""],
    ["that is no text", async () => ({ holdId: "hold-1" })],
    ["that somebody else has signed", async () => await sign({}, await generateSigningKey())],
    [
      "that somebody else has signed in the server's name",
      async () => {
        const eve = await generateSigningKey();
        const { kid } = KEY;
        return await sign({}, { kid, publicKey: { ...eve.publicKey, kid }, privateKey: { ...eve.privateKey, kid } });
      },
    ],
    ["that nobody has signed", async () => `${encode({ alg: "none", typ: APPROVAL_TOKEN_TYPE })}.${encode(CLAIMS)}.`],
    ["that is the plan's own token", async () => await aJwt()],
    [
      "that is a token of another kind with the claims of an approval",
      async () => forge({ alg: "EdDSA", typ: PLAN_TOKEN_TYPE, kid: KEY.kid }, CLAIMS),
    ],
    ["for another agent", async () => await sign({ aud: "agent-2" })],
    [
      "that was changed on the way",
      async () => (await sign()).replace(/\.[\w-]+\./, (part) => `${part.slice(0, -2)}AA.`),
    ],
  ])("%s", async (_name, make) => {
    const { claimed, ask } = await claim(await make());
    expect(claimed).toEqual({
      refusal: {
        reason: "gate_rejected",
        stage: "gate",
        detail: expect.stringContaining("the approval is not valid: "),
      },
    });
    expect(ask).not.toHaveBeenCalled();
  });

  test.each<[string, unknown, string]>([
    ["that was claimed before", toServerError(409, createProblem("already_claimed"), undefined), "gate_rejected"],
    ["of a plan that was revoked", toServerError(409, createProblem("plan_revoked"), undefined), "plan_revoked"],
    ["that no server could be asked about", new ServerError("ERR_SERVER_UNAVAILABLE", "down"), "server_unavailable"],
    ["by a key that is not let in", toServerError(401, undefined, undefined), "api_key_rejected"],
    ["when anything else goes wrong", new TypeError("a bug"), "internal_error"],
  ])("%s", async (_name, error, reason) => {
    const { claimed } = await claim(await sign(), { answer: () => Promise.reject(error) });
    expect(claimed).toEqual({ refusal: { reason, stage: "gate", detail: expect.any(String) } });
  });

  test("for a call whose arguments are no JSON", async () => {
    const args = { to: 1n } as never;
    const { claimed, ask } = await claim(await sign(), { call: aCall({ fingerprint: FINGERPRINT, args }) });
    expect(claimed).toMatchObject({ refusal: { reason: "internal_error" } });
    expect(ask).not.toHaveBeenCalled();
  });
});

test("whom the agent acts for does not matter here: the server and check() say who may approve", async () => {
  expect((await claim(await sign({ approvedBy: ALICE }))).claimed).toMatchObject({ approval: { approvedBy: ALICE } });
});
