import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { AgentSettings } from "../src/core/api/index.ts";
import { HybridGate } from "../src/gates/hybrid.ts";
import { summarize } from "./builders.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";
import { aFolder } from "./server-gates.ts";
import { aServer, PUBLIC_URL } from "./servers.ts";

/** A gate with a plan that it has just had signed, and the requests for another token of it. */
async function aSignedPlan(settings: AgentSettings) {
  const under = await aServer({ settings });
  onTestFinished(() => under.close());
  const renewals: string[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const answer = await under.server.fetch(request);
    if (request.url.endsWith("/refresh")) renewals.push(request.url);
    return answer;
  };
  const outbox = join(await aFolder(), "outbox.db");
  const options = { baseUrl: PUBLIC_URL, apiKey: under.agent.apiKey, clock: under.clock.now };
  const gate = new HybridGate({ ...options, fetch, outbox, closeTimeoutMs: 200 });
  onTestFinished(() => gate.close());
  return { under, gate, renewals, plan: await gate.sign(aSignRequest()) };
}

test("a token that still counts is renewed beside the calls, and never for a mere look", async () => {
  const { under, gate, renewals, plan } = await aSignedPlan({ planTtlSeconds: 900 });
  under.clock.advance(850);
  expect(summarize(await gate.peek(plan, aGateCall()))).toBe("allow");
  expect(renewals).toHaveLength(0);
  expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
  await vi.waitFor(() => expect(renewals).toHaveLength(1));
});

test("once it has heard that the plan was revoked, no call is allowed, though the token that it has still counts", async () => {
  const { under, gate, plan } = await aSignedPlan({ planTtlSeconds: 900 });
  await under.ask("POST", `/v1/plans/${plan.planId}/revoke`, { body: {} });
  expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
  await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_PLAN_REVOKED" });
  expect(summarize(await gate.peek(plan, aGateCall()))).toBe("block:plan_revoked");
  const refused = await gate.check(plan, aGateCall());
  // The block is on record.
  expect([summarize(refused), refused.seq]).toEqual(["block:plan_revoked", 2]);
});

test("once its key has been refused, no call is allowed either", async () => {
  const { under, gate, plan } = await aSignedPlan({ planTtlSeconds: 900 });
  await under.store.apiKeys.revoke(under.agent.keyId, under.clock.now());
  expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
  await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_API_KEY_REJECTED" });
  expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:api_key_rejected");
});
