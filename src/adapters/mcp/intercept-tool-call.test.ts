import { describe, expect, test } from "vitest";
import { ALICE, aPlan, aPolicy, aRule } from "../../../test/builders.ts";
import { aRequest, aRequestText } from "../../../test/mcp.ts";
import { aSession, aTool, hold, listEntries, planOf, ScriptedGate, untilAborted } from "../../../test/sessions.ts";
import type { Budget } from "../../core/index.ts";
import { LocalGate, MemoryAuditSink } from "../../gates/index.ts";
import { claimToolCall, releaseToolCall } from "./claim-tool-call.ts";
import { interceptToolCall } from "./intercept-tool-call.ts";
import { DENIAL_CODES, isAllowed, type ToolVerdict } from "./tool-verdict.ts";

const NAN = expect.any(Number);

/** What is expected of a blocked verdict, its response included. */
function blocked(id: unknown, over: object): object {
  return { outcome: "blocked", elapsedUs: NAN, response: { jsonrpc: "2.0", id, error: expect.any(Object) }, ...over };
}

describe("a request that is well-formed", () => {
  test("is allowed, with exactly what the type says", async () => {
    const { session, audit } = await aSession();
    const verdict = await interceptToolCall(aRequestText(), { session });
    const allowed = { outcome: "allowed", tool: "send_money", budgetRemaining: null, elapsedUs: NAN, payoutMicros: 0 };
    expect(verdict).toEqual(allowed);
    expect([isAllowed(verdict), Object.isFrozen(verdict)]).toEqual([true, true]);
    expect(listEntries(audit)).toEqual(["call-1:allow"]);
  });

  test.each<[string, object]>([
    ["whose id is a number", { id: 0 }],
    ["whose id is empty", { id: "" }],
    ["with what the protocol adds", { params: { name: "send_money", arguments: {}, _meta: { progressToken: 1 } } }],
    ["without arguments", { params: { name: "send_money" } }],
  ])("is allowed %s", async (_name, over) => {
    const { session } = await aSession();
    const bytes = new TextEncoder().encode(aRequestText(over));
    expect(await interceptToolCall(bytes, { session })).toMatchObject({ outcome: "allowed" });
  });

  test.each<[string, object, object, string]>([
    [
      "a tool that there is not",
      { params: { name: "delete_all", arguments: {} } },
      { tool: "delete_all", stage: "schema", denialCode: "unknown_tool" },
      "unknown_tool",
    ],
    [
      "a tool named like a property of every object",
      { params: { name: "constructor", arguments: {} } },
      { tool: "constructor", stage: "schema", denialCode: "unknown_tool" },
      "unknown_tool",
    ],
    [
      "arguments that the schema refuses",
      { params: { name: "send_money", arguments: { to: 7 } } },
      {
        tool: "send_money",
        stage: "schema",
        denialCode: "invalid_args",
        reason: expect.stringContaining("to must be"),
      },
      "invalid_args",
    ],
    [
      "what is not in the plan",
      { params: { name: "send_money", arguments: { to: "attacker" } } },
      { tool: "send_money", stage: "policy", denialCode: "not_in_plan" },
      "not_in_plan",
    ],
    [
      "what a rule forbids",
      { params: { name: "send_money", arguments: { to: "landlord", amount: 1000 } } },
      { tool: "send_money", stage: "policy", policy: "no-fortunes", denialCode: "rule_denied" },
      "no-fortunes",
    ],
  ])("is blocked for %s, once on record", async (_name, over, expected, entry) => {
    const rule = aRule({ id: "no-fortunes", match: { args: { amount: { gte: 1000 } } }, decision: "block" });
    const gateOptions = { policy: aPolicy(rule, aRule()), audit: new MemoryAuditSink() };
    const plan = aPlan({ args: { to: { eq: "landlord" } } });
    const { session } = await aSession({ gate: new LocalGate(gateOptions), plan });
    const verdict = await interceptToolCall(aRequestText(over), { session });
    expect(verdict).toEqual(
      blocked("call-1", { reason: expect.stringMatching(/^Blocked by Intentlock/), ...expected }),
    );
    expect(listEntries(gateOptions.audit)).toEqual([`call-1:${entry}`]);
    if (isAllowed(verdict)) throw new Error("allowed");
    const { denialCode, stage, reason, response } = verdict;
    expect(response.error).toEqual({ code: expect.any(Number), message: reason, data: { denialCode, stage, reason } });
    expect(response.error.code).toBeGreaterThanOrEqual(-32_099);
    expect(response.error.code).toBeLessThanOrEqual(-32_000);
    expect(DENIAL_CODES).toContain(denialCode);
  });

  test("names a limit of the plan as no policy", async () => {
    const { session } = await aSession({ plan: aPlan({ maxCalls: 1 }) });
    await interceptToolCall(aRequestText(), { session });
    const verdict = await interceptToolCall(aRequestText({ id: 2 }), { session });
    expect(verdict).toMatchObject({ stage: "policy", denialCode: "call_limit" });
    expect(verdict).not.toHaveProperty("policy");
  });
});

describe("a payload that the strict parse refuses", () => {
  const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
  const NAMED = "send_money";
  const cases: [name: string, payload: string | Uint8Array, code: string, id: unknown, tool: string][] = [
    ["nothing", "", "invalid_json", null, "<unparsed>"],
    ["no JSON", "{", "invalid_json", null, "<unparsed>"],
    ["a duplicate key", aRequestText().replace('"to"', '"to":"landlord","to"'), "invalid_json", null, "<unparsed>"],
    ["a duplicate id", aRequestText().replace('"id"', '"id":1,"id"'), "invalid_json", null, "<unparsed>"],
    [
      "a duplicate key behind an escape",
      aRequestText().replace('"to"', '"to":"a","t\\u006f"'),
      "invalid_json",
      null,
      "<unparsed>",
    ],
    ["a second document", `${aRequestText()}\n${aRequestText()}`, "invalid_json", null, "<unparsed>"],
    ["a lone surrogate", aRequestText().replace("landlord", "\\ud800"), "invalid_json", null, "<unparsed>"],
    ["a lone surrogate as it is", aRequestText().replace("landlord", "\ud800"), "invalid_encoding", null, "<unparsed>"],
    ["a number that is none", aRequestText().replace("20", "1e999"), "invalid_json", null, "<unparsed>"],
    ["a byte order mark", `\ufeff${aRequestText()}`, "invalid_encoding", null, "<unparsed>"],
    ["a byte order mark in bytes", utf8(`\ufeff${aRequestText()}`), "invalid_encoding", null, "<unparsed>"],
    ["bytes that are not UTF-8", Uint8Array.of(...utf8(aRequestText()), 0xff), "invalid_encoding", null, "<unparsed>"],
    ["an overlong encoding", Uint8Array.of(0xc0, 0xaf), "invalid_encoding", null, "<unparsed>"],
    ["more than it may have", " ".repeat(8_388_609), "invalid_encoding", null, "<unparsed>"],
    ["what is no payload", undefined as never, "invalid_encoding", null, "<unparsed>"],
    ["a batch", `[${aRequestText()}]`, "invalid_request", null, "<unparsed>"],
    ["a text", '"tools/call"', "invalid_request", null, "<unparsed>"],
    ["another version", aRequestText({ jsonrpc: "1.0" }), "invalid_request", "call-1", NAMED],
    ["no version", aRequestText({ jsonrpc: undefined }), "invalid_request", "call-1", NAMED],
    ["no id", aRequestText({ id: undefined }), "invalid_request", null, NAMED],
    ["null for an id", aRequestText({ id: null }), "invalid_request", null, NAMED],
    ["a fraction for an id", aRequestText({ id: 1.5 }), "invalid_request", null, NAMED],
    ["a list for an id", aRequestText({ id: ["call-1"] }), "invalid_request", null, NAMED],
    ["another method", aRequestText({ method: "tools/list" }), "invalid_request", "call-1", NAMED],
    ["a result, too", aRequestText({ result: {} }), "invalid_request", "call-1", NAMED],
    ["params in capitals, too", aRequestText({ Params: { name: "x" } }), "invalid_request", "call-1", NAMED],
    ["no params", aRequestText({ params: undefined }), "invalid_request", "call-1", "<unparsed>"],
    ["params in a list", aRequestText({ params: ["send_money"] }), "invalid_request", "call-1", "<unparsed>"],
    ["no name", aRequestText({ params: { arguments: {} } }), "invalid_request", "call-1", "<unparsed>"],
    ["a name of an own kind", aRequestText({ params: { name: {} } }), "invalid_request", "call-1", "<unparsed>"],
    [
      "a name by way of the prototype",
      '{"jsonrpc":"2.0","id":"call-1","method":"tools/call","params":{"__proto__":{"name":"send_money"}}}',
      "invalid_request",
      "call-1",
      "<unparsed>",
    ],
    [
      "arguments in a list",
      aRequestText({ params: { name: NAMED, arguments: [] } }),
      "invalid_request",
      "call-1",
      NAMED,
    ],
    [
      "null for arguments",
      aRequestText({ params: { name: NAMED, arguments: null } }),
      "invalid_request",
      "call-1",
      NAMED,
    ],
    ["a task", aRequestText({ params: { name: NAMED, arguments: {}, task: {} } }), "invalid_request", "call-1", NAMED],
  ];

  test.each(cases)("%s", async (_name, payload, denialCode, id, tool) => {
    const { session, audit } = await aSession();
    const verdict = await interceptToolCall(payload, { session });
    expect(verdict).toEqual(blocked(id, { tool, stage: "parse", denialCode, reason: expect.any(String) }));
    const callId = id === null ? "" : id;
    expect(listEntries(audit)).toEqual(tool === NAMED ? [`${callId}:invalid_call`] : []);
  });

  test("has no name longer than a decision repeats", async () => {
    const { session } = await aSession();
    const payload = aRequestText({ jsonrpc: "1.0", params: { name: "x".repeat(10_000), arguments: {} } });
    expect((await interceptToolCall(payload, { session })).tool).toHaveLength(64);
  });
});

describe("the budget", () => {
  const payouts = [{ tool: "send_money", arg: "amount", microsPerUnit: 1_000_000 }];

  async function intercept(budget: Budget, args: object): Promise<ToolVerdict> {
    const gate = new LocalGate({ policy: aPolicy(), budget });
    const { session } = await aSession({ gate });
    return await interceptToolCall(aRequestText({ params: { name: "send_money", arguments: args } }), { session });
  }

  test.each<[string, Budget, object, object]>([
    ["calls of the session", { session: { calls: 3 } }, {}, { budgetRemaining: 2, payoutMicros: 0 }],
    [
      "calls of the person",
      { session: { calls: 3 }, principal: { calls: 2, windowSeconds: 60 } },
      {},
      { budgetRemaining: 1, payoutMicros: 0, principalId: ALICE },
    ],
    [
      "money, where it is gone before the calls are",
      { session: { calls: 50, payoutMicros: 20_000_000 }, payouts },
      { amount: 5 },
      { budgetRemaining: 15_000_000, payoutMicros: 5_000_000 },
    ],
    [
      "calls, where they are gone before the money is",
      { session: { calls: 2, payoutMicros: 20_000_000 }, payouts },
      { amount: 5 },
      { budgetRemaining: 1, payoutMicros: 5_000_000 },
    ],
    [
      "calls, of which alone a call without money takes",
      { session: { calls: 50, payoutMicros: 1 }, payouts },
      { amount: 0 },
      { budgetRemaining: 49, payoutMicros: 0 },
    ],
    ["nothing that is limited", { payouts: [] }, {}, { budgetRemaining: null, payoutMicros: 0 }],
  ])("that binds: %s", async (_name, budget, args, expected) => {
    expect(await intercept(budget, args)).toEqual({
      outcome: "allowed",
      tool: "send_money",
      elapsedUs: NAN,
      ...expected,
    });
  });

  test.each<[string, Budget | undefined, number | undefined]>([
    ["the step", undefined, 50],
    ["the session", { session: { calls: 50 } }, undefined],
    ["the person", { session: { calls: 90 }, principal: { calls: 50, windowSeconds: 86_400 } }, 80],
    ["the money", { session: { payoutMicros: 50 }, payouts: [{ ...payouts[0], microsPerUnit: 1 }] as never }, 80],
  ])("of %s is met exactly by 256 at a time, and again by what is given back", async (_name, budget, maxCalls) => {
    const gate = new LocalGate({ policy: aPolicy(), budget });
    const plan = aPlan(maxCalls === undefined ? {} : { maxCalls });
    const { session } = await aSession({ gate, plan });
    let id = 0;
    const interceptMany = async (): Promise<ToolVerdict[]> => {
      const params = { name: "send_money", arguments: { amount: 1 } };
      const asked = Array.from({ length: 256 }, () =>
        interceptToolCall(aRequestText({ id: id++, params }), { session }),
      );
      return (await Promise.all(asked)).filter(isAllowed);
    };
    const allowed = await interceptMany();
    expect(allowed).toHaveLength(50);
    await Promise.all([...allowed.slice(0, 7), ...allowed.slice(0, 7)].map(releaseToolCall));
    const claims = await Promise.all(allowed.slice(7, 20).map(claimToolCall));
    await Promise.all(claims.map((claim, index) => claim?.settle(index < 3 ? "aborted" : "unknown")));
    expect(await interceptMany()).toHaveLength(10);
  });

  test("that is used up blocks last", async () => {
    const verdict = await intercept({ session: { calls: 0 } }, {});
    expect(verdict).toMatchObject({ outcome: "blocked", stage: "budget", denialCode: "budget_exhausted" });
    expect(verdict).not.toHaveProperty("policy");
  });
});

describe("a call that a person has to approve", () => {
  test("is answered when they have", async () => {
    const gate = new ScriptedGate({ check: [hold], awaitHold: () => ({ status: "rejected" }) });
    const { session } = await aSession({ gate });
    const verdict = await interceptToolCall(aRequestText(), { session });
    expect(verdict).toMatchObject({ outcome: "blocked", stage: "policy", denialCode: "hold_rejected" });
    // The rule has not denied it: a person has.
    expect(verdict).not.toHaveProperty("policy");
  });

  test("is blocked under a code of its own where nobody waits", async () => {
    const openHold = (): object => ({ status: "pending", holdId: "hold-1", expiresAt: 9 });
    const { session } = await aSession({ gate: new ScriptedGate({ check: [hold], openHold }), onHold: "suspend" });
    const verdict = await interceptToolCall(aRequestText(), { session });
    expect(verdict).toMatchObject({ outcome: "blocked", stage: "policy", denialCode: "hold_pending" });
  });

  test("is no longer waited for when the caller has gone", async () => {
    const abort = new AbortController();
    const awaitHold = (_hold: unknown, { signal }: { signal?: AbortSignal }): Promise<never> => {
      queueMicrotask(() => abort.abort());
      return untilAborted(signal);
    };
    const { session } = await aSession({ gate: new ScriptedGate({ check: [hold], awaitHold }) });
    const verdict = await interceptToolCall(aRequestText(), { session, signal: abort.signal });
    expect(verdict).toMatchObject({ outcome: "blocked", denialCode: "aborted" });
  });
});

describe("the claim", () => {
  test("is had once, with what was checked, and by nobody with a copy", async () => {
    const { session, audit } = await aSession();
    const verdict = await interceptToolCall(aRequestText(), { session });
    expect(await claimToolCall({ ...verdict })).toBeUndefined();
    const claims = await Promise.all([1, 2, 3].map(() => claimToolCall(verdict)));
    const [claim, ...lost] = claims.filter((one) => one !== undefined);
    expect(lost).toEqual([]);
    expect(claim).toMatchObject({ callId: "call-1", tool: "send_money", args: { to: "landlord", amount: 20 } });
    await releaseToolCall(verdict);
    await claim?.settle("unknown");
    expect(listEntries(audit)).toEqual(["call-1:allow", "unknown"]);
  });

  test("of two requests with one id is one each", async () => {
    const { session, audit } = await aSession({ plan: aPlan({ maxCalls: 2 }) });
    for (let turn = 0; turn < 2; turn++) {
      const claim = await claimToolCall(await interceptToolCall(aRequestText(), { session }));
      await claim?.settle("ok");
    }
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok", "call-1:allow", "ok"]);
  });

  test("that nobody has gives back what the call took", async () => {
    const { session, audit } = await aSession({ plan: aPlan({ maxCalls: 1 }) });
    const verdict = await interceptToolCall(aRequestText(), { session });
    await releaseToolCall(verdict);
    expect(await claimToolCall(verdict)).toBeUndefined();
    expect(await interceptToolCall(aRequestText({ id: 2 }), { session })).toMatchObject({ outcome: "allowed" });
    expect(listEntries(audit)).toEqual(["call-1:allow", "aborted", "2:allow"]);
  });

  test("of a blocked verdict is none", async () => {
    const { session } = await aSession();
    const verdict = await interceptToolCall("{", { session });
    await releaseToolCall(verdict);
    expect(await claimToolCall(verdict)).toBeUndefined();
  });
});

test("what a tool's own parser makes of the arguments is what is claimed", async () => {
  const tool = aTool({ parse: (args) => ({ ...(args as object), amount: 1 }) });
  const { session } = await aSession({ tools: [tool], plan: planOf({ tool: "send_money" }) });
  const claim = await claimToolCall(await interceptToolCall(JSON.stringify(aRequest()), { session }));
  expect(claim?.args).toEqual({ to: "landlord", amount: 1 });
});
