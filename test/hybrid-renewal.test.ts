import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { HybridGate } from "../src/gates/hybrid.ts";
import { summarize } from "./builders.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";
import { aFolder } from "./server-gates.ts";
import { aServer, PUBLIC_URL } from "./servers.ts";

test("a token that still counts is renewed beside the calls, and never for a mere look", async () => {
  const under = await aServer({ settings: { planTtlSeconds: 900 } });
  onTestFinished(() => under.close());
  const renewals: string[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    if (request.url.endsWith("/refresh")) renewals.push(request.url);
    return await under.server.fetch(request);
  };
  const outbox = join(await aFolder(), "outbox.db");
  const options = { baseUrl: PUBLIC_URL, apiKey: under.agent.apiKey, clock: under.clock.now };
  const gate = new HybridGate({ ...options, fetch, outbox });
  const plan = await gate.sign(aSignRequest());
  under.clock.advance(850);
  expect(summarize(await gate.peek(plan, aGateCall()))).toBe("allow");
  expect(renewals).toHaveLength(0);
  expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
  await vi.waitFor(() => expect(renewals).toHaveLength(1));
  await gate.close();
});
