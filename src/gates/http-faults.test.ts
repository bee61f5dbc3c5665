import { describe, expect, test } from "vitest";
import { aPlan } from "../../test/builders.ts";
import { aGateCall, aSignRequest } from "../../test/gate-conformance.ts";
import { aProblem, aScriptedServer, type Script, silence } from "../../test/scripted-server.ts";
import { digestCall } from "../core/index.ts";
import type { GateTrouble, SignedPlan } from "./gate.ts";
import { HttpGate } from "./http.ts";

const baseUrl = "https://intentlock.acme.dev";
const apiKey = `ilk_${"k".repeat(43)}`;
const PLAN: SignedPlan = { planId: "plan-1", plan: aPlan(), token: "t", expiresAt: 2_000_000_000 };
const ALLOW = { verdict: "allow", step: 0, rule: "allow-in-plan", budgetRemaining: null } as const;

const signed = (): Response => Response.json({ ...PLAN, serverTime: Date.now() }, { status: 201 });

async function aGate(script: Script, over: { timeoutMs?: number } = {}) {
  const server = aScriptedServer({ "POST /v1/plans": signed, ...script });
  const gate = new HttpGate({ baseUrl, apiKey, fetch: server.fetch, ...over });
  const troubles: GateTrouble[] = [];
  const plan = await gate.sign(aSignRequest({ listener: (trouble) => troubles.push(trouble) }));
  return { gate, plan, troubles, server };
}

describe("a server that does not decide", () => {
  test.each<[string, Script[string], string, string]>([
    [
      "cannot be reached",
      () => Promise.reject(new TypeError("fetch failed")),
      "server_unavailable",
      "ERR_SERVER_UNAVAILABLE",
    ],
    ["answers 500", () => new Response("oops", { status: 500 }), "server_unavailable", "ERR_SERVER_UNAVAILABLE"],
    ["has an error", () => aProblem("internal"), "server_unavailable", "internal"],
    [
      "answers 502 with a page",
      () => new Response("<html>", { status: 502 }),
      "server_unavailable",
      "ERR_SERVER_UNAVAILABLE",
    ],
    ["does not know the key", () => aProblem("api_key_rejected"), "api_key_rejected", "api_key_rejected"],
    ["answers 401 without words", () => new Response("", { status: 401 }), "api_key_rejected", "ERR_API_KEY_REJECTED"],
    ["refuses the request", () => aProblem("invalid_request"), "gate_rejected", "invalid_request"],
    ["answers 403", () => new Response("", { status: 403 }), "gate_rejected", "ERR_REQUEST_REFUSED"],
    ["answers 418", () => new Response("", { status: 418 }), "gate_rejected", "ERR_REQUEST_REFUSED"],
    ["has revoked the plan", () => aProblem("plan_revoked"), "plan_revoked", "plan_revoked"],
    [
      "answers 200 with nothing",
      () => new Response("", { status: 200 }),
      "server_unavailable",
      "ERR_SERVER_UNAVAILABLE",
    ],
    [
      "answers 200 with a page",
      () => new Response("<html>", { status: 200 }),
      "server_unavailable",
      "ERR_SERVER_UNAVAILABLE",
    ],
    [
      "answers with half a decision",
      () => Response.json({ decision: { verdict: "allow" } }),
      "server_unavailable",
      "ERR_SERVER_UNAVAILABLE",
    ],
    [
      "answers with another verdict",
      () => Response.json({ decision: { ...ALLOW, verdict: "yes" } }),
      "server_unavailable",
      "ERR_SERVER_UNAVAILABLE",
    ],
    [
      "redirects",
      () => new Response("", { status: 302, headers: { location: "https://evil.example" } }),
      "server_unavailable",
      "ERR_SERVER_UNAVAILABLE",
    ],
  ])("%s: a block", async (_, answer, reason, code) => {
    const { gate, plan, troubles } = await aGate({ "POST /v1/check": answer });
    expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "block", reason, stage: "gate" });
    expect(troubles.map((trouble) => trouble.code)).toEqual([code]);
  });

  test("is silent: a block once the time is over", async () => {
    const { gate, plan, server } = await aGate({ "POST /v1/check": silence }, { timeoutMs: 20 });
    expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "block", reason: "server_unavailable" });
    expect(server.asked.filter((line) => line === "POST /v1/check")).toHaveLength(1);
  });

  test("signs nothing", async () => {
    const server = aScriptedServer({ "*": () => aProblem("api_key_rejected") });
    const gate = new HttpGate({ baseUrl, apiKey, fetch: server.fetch });
    await expect(gate.sign(aSignRequest())).rejects.toMatchObject({ code: "ERR_API_KEY_REJECTED", status: 401 });
  });
});

describe("a decision that came over the network", () => {
  const call = aGateCall();
  const digest = digestCall(call);
  const decision = { ...ALLOW, callId: call.callId, tool: call.tool, planId: PLAN.planId, digest, seq: 1 };

  test("allows the call that it is about", async () => {
    const { gate, plan } = await aGate({ "POST /v1/check": () => Response.json({ decision }) });
    expect(await gate.check(plan, call)).toMatchObject({ verdict: "allow", seq: 1 });
  });

  test.each([
    ["another id", { callId: "other" }],
    ["another tool", { tool: "other" }],
    ["another plan", { planId: "other" }],
    ["other arguments", { digest: digestCall({ tool: call.tool, args: { to: "eve" } }) }],
  ])("allows nothing else: %s", async (_, other) => {
    const { gate, plan } = await aGate({
      "POST /v1/check": () => Response.json({ decision: { ...decision, ...other } }),
    });
    expect(await gate.check(plan, call)).toMatchObject({ verdict: "block", reason: "server_unavailable" });
  });

  test("that was only asked about is none", async () => {
    const { seq: _, ...look } = decision;
    const { gate, plan } = await aGate({ "POST /v1/check": () => Response.json({ decision: look }) });
    expect(await gate.check(plan, call)).toMatchObject({ verdict: "block" });
    expect(await gate.peek(plan, call)).toMatchObject({ verdict: "allow" });
  });
});

describe("what is asked again", () => {
  test("a check, only when the server says that it did nothing", async () => {
    const busy: Script[string] = (_, before) => (before === 0 ? aProblem("unavailable") : aProblem("internal"));
    const { gate, plan, server } = await aGate({ "POST /v1/check": busy });
    await gate.check(plan, aGateCall());
    expect(server.asked.filter((line) => line === "POST /v1/check")).toHaveLength(2);
  });

  test("a refresh, when there is no answer", async () => {
    const again: Script[string] = (_, before) => (before < 2 ? Promise.reject(new TypeError("reset")) : signed());
    const { gate, plan } = await aGate({ "POST /v1/plans/plan-1/refresh": again });
    expect(await gate.refresh(plan)).toMatchObject({ planId: "plan-1" });
  });

  test("no refusal", async () => {
    const { gate, plan, server } = await aGate({ "POST /v1/plans/plan-1/refresh": () => aProblem("plan_expired") });
    await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_PLAN_EXPIRED" });
    expect(server.asked).toHaveLength(2);
  });
});

test.each([300_000, -300_000, 7_200_000, -7_200_000])("a clock that is %s ms off is told of, once", async (offMs) => {
  const answer = (): Response => Response.json({ ...PLAN, serverTime: Date.now() + offMs }, { status: 201 });
  const { gate, plan, troubles } = await aGate({ "POST /v1/plans": answer, "POST /v1/plans/plan-1/refresh": answer });
  await gate.refresh(plan);
  expect(troubles.map(({ code }) => code)).toEqual(["clock_skew"]);
  expect(troubles[0]?.message).toContain(
    `${Math.abs(offMs) / 1000} s ${offMs > 0 ? "behind" : "ahead of"} the server's`,
  );
});

describe("options", () => {
  test.each<[string, object, string]>([
    ["plain http to another machine", { baseUrl: "http://intentlock.acme.dev" }, "baseUrl"],
    ["a host that only begins like this machine", { baseUrl: "http://127.0.0.1.evil.example" }, "baseUrl"],
    ["a host that is called localhost somewhere", { baseUrl: "http://localhost.evil.example" }, "baseUrl"],
    ["a user in the URL", { baseUrl: "https://a:b@acme.dev" }, "baseUrl"],
    ["a query in the URL", { baseUrl: "https://acme.dev/?a=1" }, "baseUrl"],
    ["another protocol", { baseUrl: "file:///etc/passwd" }, "baseUrl"],
    ["no URL", { baseUrl: undefined }, "baseUrl"],
    ["a key of somebody else", { apiKey: "sk-123" }, "apiKey"],
    ["a key with a line feed", { apiKey: `${apiKey}\n` }, "apiKey"],
    ["no time", { timeoutMs: 0 }, "timeoutMs"],
  ])("%s is refused", (_, options, name) => {
    expect(() => new HttpGate({ baseUrl, apiKey, ...options })).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_OPTIONS", message: expect.stringContaining(name) }),
    );
  });

  test.each(["http://localhost:4700", "http://127.0.0.1:4700/", "http://[::1]:4700", "https://acme.dev/intentlock/"])(
    "%s is taken",
    (url) => {
      expect(() => new HttpGate({ baseUrl: url, apiKey })).not.toThrow();
    },
  );
});
