import { describe, expect, test } from "vitest";
import { aGateCall, aSignRequest } from "../../test/gate-conformance.ts";
import { aScriptedServer } from "../../test/scripted-server.ts";
import { planOf } from "../../test/sessions.ts";
import { digestCall, MAX_STEP_RESULTS } from "../core/index.ts";
import type { GateCall, SignedPlan } from "./gate.ts";
import { HttpGate } from "./http.ts";

const PLAN: SignedPlan = {
  planId: "plan-1",
  plan: planOf(
    { id: "read", tool: "read_file" },
    { id: "unnamed", tool: "post_comment" },
    { tool: "send_money", args: { to: { from: "read" } } },
  ),
  token: "t",
  expiresAt: 2_000_000_000,
};
const STEPS = ["read_file", "post_comment", "send_money"];

interface Wire {
  readonly outcome: Record<string, unknown>;
}

/** A gate on a server that allows everything, and the outcomes that it was sent. */
async function start() {
  const outcomes: Wire["outcome"][] = [];
  let seq = 0;
  const server = aScriptedServer({
    "POST /v1/plans": () => Response.json({ ...PLAN, serverTime: Date.now() }, { status: 201 }),
    "POST /v1/check": async (request) => {
      const { call, peek } = (await request.json()) as { readonly call: GateCall; readonly peek?: boolean };
      const { callId, tool } = call;
      const allow = { verdict: "allow", rule: "allow-in-plan", budgetRemaining: null } as const;
      const numbered = peek ? {} : { seq: ++seq };
      const step = STEPS.indexOf(tool);
      const named = { callId, tool, planId: PLAN.planId, step, digest: digestCall(call as never), elapsedUs: 1 };
      return Response.json({ decision: { ...allow, ...named, ...numbered } });
    },
    "POST /v1/outcomes": async (request) => {
      outcomes.push(((await request.json()) as Wire).outcome);
      return Response.json({ recorded: true });
    },
  });
  const gate = new HttpGate({
    baseUrl: "https://intentlock.acme.dev",
    apiKey: `ilk_${"k".repeat(43)}`,
    fetch: server.fetch,
  });
  const plan = await gate.sign(aSignRequest({ plan: PLAN.plan }));
  const settle = async (tool: string, result: unknown, status: "ok" | "failed" = "ok"): Promise<unknown> => {
    const decision = await gate.check(plan, aGateCall({ tool }));
    if (decision.verdict !== "allow") throw new Error(decision.verdict);
    await gate.record({ type: "outcome", planId: plan.planId, decisionSeq: decision.seq ?? -1, status, result });
    return outcomes.at(-1);
  };
  return { gate, plan, outcomes, settle };
}

const sent = (seq: number, over: object = {}) => ({
  type: "outcome",
  planId: "plan-1",
  decisionSeq: seq,
  status: "ok",
  ...over,
});

describe("the results that leave the process", () => {
  test("are those of the steps that a source names, and nothing else", async () => {
    const { settle } = await start();
    const result = { iban: "DE1" };
    expect(await settle("read_file", result)).toEqual(sent(1, { result }));
    expect(await settle("post_comment", result)).toEqual(sent(2));
    expect(await settle("send_money", result)).toEqual(sent(3));
    expect(await settle("read_file", result, "failed")).toEqual(sent(4, { status: "failed" }));
    expect(await settle("read_file", undefined)).toEqual(sent(5));
  });

  test("are no more once the outcome is on record, and none of calls that this gate has not allowed", async () => {
    const { gate, plan, settle, outcomes } = await start();
    await settle("read_file", "DE1");
    await gate.peek(plan, aGateCall({ tool: "read_file" }));
    for (const decisionSeq of [1, 2, 99]) {
      await gate.record({ type: "outcome", planId: plan.planId, decisionSeq, status: "ok", result: "DE1" });
    }
    await gate.record({ type: "outcome", planId: "plan-2", decisionSeq: 1, status: "ok", result: "DE1" });
    expect(outcomes.map((outcome) => "result" in outcome)).toEqual([true, false, false, false, false]);
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const deep = JSON.parse(`${"[".repeat(99)}1${"]".repeat(99)}`) as unknown;

  test.each<[string, unknown]>([
    ["too large", "x".repeat(MAX_STEP_RESULTS)],
    ["circular", cycle],
    ["no JSON", { amount: 1n }],
    ["no text that travels", "\ud800"],
    ["deeper than any message", deep],
    ["a trap", Object.defineProperty({}, "a", { enumerable: true, get: () => cycle.self && JSON.parse("{") })],
  ])("do not hold up the outcome where they are %s", async (_name, result) => {
    const { settle } = await start();
    expect(await settle("read_file", result)).toEqual(sent(1));
  });

  test("are as large as one step's may be", async () => {
    const { settle } = await start();
    const result = "\u20ac".repeat(MAX_STEP_RESULTS - 2);
    expect(await settle("read_file", result)).toEqual(sent(1, { result }));
  });
});
