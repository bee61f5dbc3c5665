import { describe, expect, test } from "vitest";
import {
  type AuditEntry,
  agreesWithRecord,
  type Budget,
  type Decision,
  fingerprintTool,
  type OpenedToken,
  type Policy,
  type PublicKey,
  recomputeDecision,
  verifyChain,
} from "../src/core/index.ts";
import type { Gate, GateCall, SignedPlan, SignRequest, UserInput } from "../src/gates/gate.ts";
import { ALICE, aCall, aPlan, aPolicy, aRule, summarize } from "./builders.ts";
import { TestClock } from "./clock.ts";
import { describeGateSources } from "./gate-sources.ts";

/** What a gate is to be made of. */
export interface GateSetup {
  readonly policy: Policy;
  readonly budget?: Budget;
  /** The people that there are. May be changed by a test, which the next token has to show. */
  readonly users: UserInput[];
  /** Milliseconds since the epoch, by which everything goes. */
  readonly clock: () => number;
  readonly planTtlSeconds: number;
  readonly planMaxAgeSeconds: number;
}

/** A gate, and what a test needs to look behind it. */
export interface GateUnderTest {
  readonly gate: Gate;
  /** There are people to ask: a held call is `hold`, and not blocked as `hold_requires_server`. */
  readonly holds: boolean;
  /** Opens a token as the agent that the gate is for. */
  open(token: string): Promise<OpenedToken>;
  /** Of whom the gate's tokens are, and for whom. */
  keys(): Promise<readonly PublicKey[]>;
  readonly audience: string;
  /** Everything that is on record about a plan. */
  entries(planId: string): Promise<readonly AuditEntry[]>;
}

const TTL = 900;
const MAX_AGE = 86_400;
const TOOLS = ["send_money", "read_file", "post_comment"];

export function toolPrint(name: string): string {
  return fingerprintTool({ name, description: `Does ${name}`, inputSchema: { type: "object" } });
}

/** A request to sign a plan of one step for Alice, unless told otherwise. */
export function aSignRequest(over: Partial<SignRequest> = {}): SignRequest {
  return {
    user: ALICE,
    task: { instruction: "Pay the rent" },
    plan: aPlan(),
    tools: Object.fromEntries(TOOLS.map((name) => [name, toolPrint(name)])),
    ...over,
  };
}

/** A call of a tool as it was when the plan was signed. */
export function aGateCall(over: Partial<GateCall> = {}): GateCall {
  const call = aCall(over);
  return { fingerprint: toolPrint(call.tool.toWellFormed()), ...call };
}

/**
 * What every gate has to do, however it does it.
 *
 * @param options.principal it takes what a person has left over all their plans as a whole, or in portions of the server's
 */
export function describeGate(
  name: string,
  makeGate: (setup: GateSetup) => Promise<GateUnderTest>,
  { principal = "whole" }: { readonly principal?: "whole" | "portions" } = {},
): void {
  async function start(over: Partial<GateSetup> = {}, request: Partial<SignRequest> = {}) {
    const clock = new TestClock();
    const users: UserInput[] = [
      { email: ALICE, roles: ["member"] },
      { email: "bob@acme.dev", roles: ["approver"] },
    ];
    const policy = aPolicy(
      aRule({ id: "no-gifts", match: { args: { to: { eq: "eve" } } }, decision: "block", reason: "No gifts" }),
      aRule({
        id: "hold-comments",
        match: { tool: "post_comment" },
        decision: "hold",
        approvers: { roles: ["approver"] },
      }),
      aRule(),
    );
    const setup = { policy, users, clock: clock.now, planTtlSeconds: TTL, planMaxAgeSeconds: MAX_AGE, ...over };
    const made = await makeGate(setup);
    const plan = await made.gate.sign(aSignRequest(request));
    return { ...made, plan, clock, users: setup.users };
  }

  describe(name, () => {
    describe("signing", () => {
      test("gives the plan with a token for the person and the task", async () => {
        const { plan, open, gate } = await start();
        expect(plan).toMatchObject({ plan: aPlan(), planId: expect.any(String), token: expect.any(String) });
        const token = await open(plan.token);
        if (!token.valid) throw new Error(token.detail);
        expect(token.claims).toMatchObject({ planId: plan.planId, sub: ALICE, exp: plan.expiresAt, plan: aPlan() });
        expect(token.claims.user).toMatchObject({ email: ALICE, roles: ["member"] });
        expect(token.claims.tools).toEqual(aSignRequest().tools);
        expect(token.claims.exp - token.claims.iat).toBe(TTL);
        await gate.close();
      });

      test("gives each plan its own id and token", async () => {
        const { gate, plan } = await start();
        const other = await gate.sign(aSignRequest());
        expect([other.planId === plan.planId, other.token === plan.token]).toEqual([false, false]);
        await gate.close();
      });

      test("normalises the e-mail address", async () => {
        const { plan, open, gate } = await start({}, { user: "Alice@ACME.dev" });
        expect(await open(plan.token)).toMatchObject({ claims: { sub: ALICE } });
        await gate.close();
      });

      test.each([
        ["a stranger", { user: "eve@evil.example" }, "ERR_UNKNOWN_USER"],
        ["somebody without an address", { user: "alice" }, "ERR_UNKNOWN_USER"],
        ["a plan for a tool that there is not", { plan: aPlan({ tool: "rm" }) }, "ERR_INVALID_PLAN"],
        [
          "a plan that is none",
          { plan: { goal: "g", steps: [{ tool: "send_money", args: { a: {} } }] } },
          "ERR_INVALID_PLAN",
        ],
      ])("refuses %s", async (_name, request, code) => {
        const { gate } = await start();
        await expect(gate.sign(aSignRequest(request))).rejects.toMatchObject({ code });
        await gate.close();
      });
    });

    describe("checking", () => {
      test("allows what is planned, with its digest, its number and its time", async () => {
        const { gate, plan } = await start();
        const decision = await gate.check(plan, aGateCall());
        expect(decision).toMatchObject({
          verdict: "allow",
          callId: "call-1",
          tool: "send_money",
          planId: plan.planId,
          step: 0,
          rule: "allow-in-plan",
          budgetRemaining: null,
          digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
          seq: expect.any(Number),
          elapsedUs: expect.any(Number),
        });
        await gate.close();
      });

      test.each<[string, Partial<GateCall>, string]>([
        ["a tool off the plan", { tool: "read_file" }, "block:not_in_plan"],
        ["a call that a rule forbids", { args: { to: "eve" } }, "block:no-gifts"],
        ["a tool that changed", { fingerprint: toolPrint("another") }, "block:tool_changed"],
        ["a tool without a fingerprint", { fingerprint: undefined as never }, "block:tool_changed"],
        ["arguments that are not JSON", { args: { amount: 1n } }, "block:invalid_call"],
        ["arguments that are too large", { args: { a: "x".repeat(1_048_577) } }, "block:invalid_call"],
        ["a name that is none", { tool: "send money" }, "block:invalid_call"],
        ["a name that is too long", { tool: "x".repeat(65) }, "block:invalid_call"],
        ["an id that is none", { callId: "\ud800" }, "block:invalid_call"],
        [
          "a call that the session refused",
          { refusal: { reason: "invalid_args", stage: "schema", detail: "d" } },
          "block:invalid_args",
        ],
      ])("blocks %s, on record", async (_name, over, expected) => {
        const { gate, plan, entries } = await start();
        expect(summarize(await gate.check(plan, aGateCall(over)))).toBe(expected);
        // Nothing was taken.
        expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "allow" });
        const decisions = (await entries(plan.planId)).filter(({ event }) => event.type === "decision");
        expect(decisions).toHaveLength(2);
        await gate.close();
      });

      test("holds or blocks what a person has to approve", async () => {
        const { gate, plan, holds } = await start({}, { plan: aPlan({ tool: "post_comment" }) });
        const decision = await gate.check(plan, aGateCall({ tool: "post_comment" }));
        expect(summarize(decision)).toBe(holds ? "hold:hold-comments" : "block:hold_requires_server");
        await gate.close();
      });

      test("never rejects, and never allows what it does not understand", async () => {
        const { gate, plan } = await start();
        const broken = {
          get callId(): string {
            throw new Error("no");
          },
          tool: "send_money",
          args: {},
        };
        const calls = [undefined, null, 5, "call", {}, [], broken, { ...aGateCall(), tool: undefined }];
        for (const call of calls) expect((await gate.check(plan, call as GateCall)).verdict).toBe("block");
        const plans = [undefined, null, {}, { ...plan, token: undefined }, { ...plan, planId: undefined }];
        for (const other of plans) expect((await gate.check(other as SignedPlan, aGateCall())).verdict).toBe("block");
        for (const other of plans) expect((await gate.peek(other as SignedPlan, aGateCall())).verdict).toBe("block");
        await gate.close();
      });
    });

    describe("tokens", () => {
      test("of another plan, another gate or nobody do not count", async () => {
        const one = await start();
        const two = await start();
        const other = await one.gate.sign(aSignRequest());
        const [header, payload, signature] = one.plan.token.split(".");
        const wrong: SignedPlan[] = [
          two.plan,
          { ...one.plan, token: two.plan.token },
          { ...one.plan, token: other.token },
          { ...one.plan, planId: other.planId },
          { ...one.plan, planId: "__proto__" },
          { ...one.plan, token: "" },
          { ...one.plan, token: `${header}.${payload}.${signature?.replace(/^./, (c) => (c === "A" ? "B" : "A"))}` },
        ];
        for (const plan of wrong) {
          expect(await one.gate.check(plan, aGateCall())).toMatchObject({ verdict: "block", reason: "invalid_token" });
        }
        expect(summarize(await one.gate.check(one.plan, aGateCall()))).toBe("allow");
        await Promise.all([one.gate.close(), two.gate.close()]);
      });

      test("say what is planned, not the plan that a caller shows beside them", async () => {
        const { gate, plan } = await start();
        const forged = { ...plan, plan: aPlan({ tool: "read_file" }), expiresAt: 9e9 };
        expect(summarize(await gate.check(forged, aGateCall({ tool: "read_file" })))).toBe("block:not_in_plan");
        await gate.close();
      });

      test("are renewed on request, with the person as they are now", async () => {
        const { gate, plan, open, users, clock } = await start();
        users[0] = { email: ALICE, roles: ["admin"], groups: ["board"] };
        clock.advance(10);
        const renewed = await gate.refresh(plan);
        expect(renewed).toMatchObject({ planId: plan.planId, plan: plan.plan, expiresAt: plan.expiresAt + 10 });
        expect(await open(renewed.token)).toMatchObject({ claims: { user: { roles: ["admin"], groups: ["board"] } } });
        expect(summarize(await gate.check(renewed, aGateCall()))).toBe("allow");
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
        await gate.close();
      });

      test("are renewed in time by themselves, also for a caller who has the first one", async () => {
        const { gate, plan, clock } = await start();
        for (let hour = 0; hour < 23; hour++) {
          clock.advance(3600);
          expect(summarize(await gate.peek(plan, aGateCall()))).toBe("allow");
          expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
        }
        await gate.close();
      });

      test("are not renewed for ever", async () => {
        const { gate, plan, clock } = await start();
        clock.advance(MAX_AGE);
        await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_PLAN_EXPIRED" });
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:token_expired");
        expect(summarize(await gate.peek(plan, aGateCall()))).toBe("block:token_expired");
        await gate.close();
      });

      test("are not renewed for a person who is gone", async () => {
        const { gate, plan, users, clock } = await start();
        users.shift();
        await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_UNKNOWN_USER" });
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
        clock.advance(TTL + 30);
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:token_expired");
        await gate.close();
      });
    });

    describe("counts", () => {
      test("64 calls at once on a step of 10 are 10 allows", async () => {
        const { gate, plan } = await start({}, { plan: aPlan({ maxCalls: 10 }) });
        const calls = Array.from({ length: 64 }, (_, index) =>
          gate.check(plan, aGateCall({ callId: `call-${index}` })),
        );
        const verdicts = (await Promise.all(calls)).map(summarize);
        expect(count(verdicts, "allow")).toBe(10);
        expect(count(verdicts, "block:call_limit")).toBe(54);
        await gate.close();
      });

      test("the same id again is another call", async () => {
        const { gate, plan } = await start({}, { plan: aPlan({ maxCalls: 1 }) });
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:call_limit");
        await gate.close();
      });

      test("a look takes nothing, and says what a check would", async () => {
        const { gate, plan, entries } = await start({}, { plan: aPlan({ maxCalls: 1 }) });
        const before = await entries(plan.planId);
        for (let look = 0; look < 3; look++) {
          const decision = await gate.peek(plan, aGateCall());
          expect(decision).toMatchObject({ verdict: "allow", step: 0 });
          expect(decision).not.toHaveProperty("seq");
        }
        expect(await entries(plan.planId)).toEqual(before);
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
        expect(summarize(await gate.peek(plan, aGateCall()))).toBe("block:call_limit");
        await gate.close();
      });

      test.each([
        ["aborted", "allow"],
        ["ok", "block:call_limit"],
        ["failed", "block:call_limit"],
        ["unknown", "block:call_limit"],
      ] as const)("a call that is %s leaves the next one %s", async (status, expected) => {
        const { gate, plan } = await start({}, { plan: aPlan({ maxCalls: 1 }) });
        await record(gate, await gate.check(plan, aGateCall()), status);
        expect(summarize(await gate.check(plan, aGateCall()))).toBe(expected);
        await gate.close();
      });

      test("nothing is given back twice, or for a call that there was not", async () => {
        const { gate, plan } = await start({}, { plan: aPlan({ maxCalls: 2 }) });
        const first = await gate.check(plan, aGateCall());
        await gate.check(plan, aGateCall());
        const blocked = await gate.check(plan, aGateCall());
        const results = await Promise.allSettled([1, 2, 3].map(() => record(gate, first, "aborted")));
        expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
        for (const decisionSeq of [blocked.seq ?? -1, 0, -1, 999, Number.NaN, 0.5]) {
          const outcome = { type: "outcome", planId: plan.planId, decisionSeq, status: "aborted" } as const;
          await expect(gate.record(outcome)).rejects.toMatchObject({ code: "ERR_INVALID_OUTCOME" });
        }
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:call_limit");
        await gate.close();
      });

      test("an outcome of another plan is not one of this", async () => {
        const { gate, plan } = await start({}, { plan: aPlan({ maxCalls: 1 }) });
        const other = await gate.sign(aSignRequest());
        const { seq = -1 } = await gate.check(plan, aGateCall());
        const outcome = { type: "outcome", decisionSeq: seq, status: "aborted" } as const;
        await expect(gate.record({ ...outcome, planId: other.planId })).rejects.toMatchObject({
          code: "ERR_INVALID_OUTCOME",
        });
        await expect(gate.record({ ...outcome, planId: "plan-x" })).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:call_limit");
        await gate.close();
      });
    });

    describe("budgets", () => {
      const ofPerson = { calls: 5, payoutMicros: 70_000_000, windowSeconds: 3600 };
      const budget: Budget = {
        session: { calls: 3, payoutMicros: 50_000_000 },
        principal: ofPerson,
        payouts: [{ tool: "send_money", arg: "amount", microsPerUnit: 1_000_000 }],
      };
      const pay = (amount: unknown) => aGateCall({ args: { to: "landlord", amount } });

      test("are taken from session and person, and the rest is told", async () => {
        const { gate, plan } = await start({ budget });
        expect(await gate.check(plan, pay(20))).toMatchObject({
          payoutMicros: 20_000_000,
          budgetRemaining: {
            session: { calls: 2, payoutMicros: 30_000_000 },
            ...(principal === "whole" && { principal: { calls: 4, payoutMicros: 50_000_000 } }),
          },
        });
        expect(summarize(await gate.check(plan, pay(31)))).toBe("block:budget_exhausted");
        expect(summarize(await gate.check(plan, pay(30)))).toBe("allow");
        expect(summarize(await gate.check(plan, pay(1)))).toBe("block:budget_exhausted");
        await gate.close();
      });

      test.runIf(principal === "whole")(
        "of a person hold over all their plans, while a call is in the window, and are no one else's",
        async () => {
          const { gate, plan, clock } = await start({ budget });
          for (let call = 0; call < 3; call++)
            expect(summarize(await gate.check(plan, pay(20)))).toBe(call < 2 ? "allow" : "block:budget_exhausted");
          const second = await gate.sign(aSignRequest());
          expect(summarize(await gate.check(second, pay(31)))).toBe("block:budget_exhausted");
          expect(summarize(await gate.check(second, pay(30)))).toBe("allow");
          const others = await gate.sign(aSignRequest({ user: "bob@acme.dev" }));
          expect(summarize(await gate.check(others, pay(50)))).toBe("allow");
          clock.advance(3600);
          const third = await gate.sign(aSignRequest());
          expect(summarize(await gate.check(third, pay(1)))).toBe("block:budget_exhausted");
          clock.advance(60);
          expect(summarize(await gate.check(third, pay(50)))).toBe("allow");
          await gate.close();
        },
      );

      test("are given back exactly when the call never started", async () => {
        const { gate, plan } = await start({ budget });
        for (let round = 0; round < 10; round++) {
          const decision = await gate.check(plan, pay(49.999999));
          expect(decision).toMatchObject({ verdict: "allow", budgetRemaining: { session: { payoutMicros: 1 } } });
          await record(gate, decision, "aborted");
        }
        expect(summarize(await gate.check(plan, pay(50)))).toBe("allow");
        await gate.close();
      });

      test("are not exceeded by calls at once, on one plan or several", async () => {
        const { gate, plan } = await start({ budget });
        const second = await gate.sign(aSignRequest());
        const calls = Array.from({ length: 40 }, (_, index) => gate.check(index % 2 ? plan : second, pay(1)));
        // Three for each plan, and five for the person.
        expect(count((await Promise.all(calls)).map(summarize), "allow")).toBe(5);
        await gate.close();
      });

      test.each([-1, Number.NaN, "20", null, undefined])("an amount of %s is blocked", async (amount) => {
        const { gate, plan } = await start({ budget });
        expect((await gate.check(plan, pay(amount))).verdict).toBe("block");
        await gate.close();
      });
    });

    describe("records", () => {
      test("hold everything in one chain, and every decision can be made again", async () => {
        const { gate, plan, clock, entries, open } = await start({}, { plan: aPlan({ maxCalls: 2 }) });
        const first = await gate.check(plan, aGateCall());
        await record(gate, first, "ok");
        await gate.check(plan, aGateCall({ args: { to: "eve" } }));
        await record(gate, await gate.check(plan, aGateCall({ callId: "call-2" })), "aborted");
        clock.advance(TTL);
        await gate.check(plan, aGateCall({ callId: "call-3" }));
        await gate.check(plan, aGateCall({ callId: "call-4" }));
        await gate.record({ type: "closed", planId: plan.planId });
        await gate.close();
        const written = await entries(plan.planId);
        expect(verifyChain(written, plan.planId)).toMatchObject({ head: { seq: written.length } });
        expect(written.map(({ event }) => event.type)).toEqual([
          "plan_signed",
          "decision",
          "outcome",
          "decision",
          "decision",
          "outcome",
          "refresh",
          "decision",
          "decision",
          "closed",
        ]);
        expect(first.seq).toBe(1);
        const tokens = new Map<string, OpenedToken>();
        for (const { event } of written) {
          if (event.type === "plan_signed" || event.type === "refresh") {
            const token = await open(event.token);
            if (token.valid) tokens.set(token.claims.jti, token);
          } else if (event.type === "decision") {
            const token = tokens.get(event.jti);
            const decision = token && recomputeDecision(event, token);
            expect(decision && agreesWithRecord(event, decision)).toBe(true);
          }
        }
      });

      test("of a call with any name verify too", async () => {
        const { gate, plan, entries } = await start();
        const names = ["", "x".repeat(65), "\ud800", "send money", "\u0000", "__proto__", "toString"];
        for (const tool of names) await gate.check(plan, aGateCall({ tool, callId: tool }));
        await gate.check(plan, { ...aGateCall(), tool: 5, callId: {}, fingerprint: [] } as unknown as GateCall);
        expect(verifyChain(await entries(plan.planId), plan.planId).problem).toBeUndefined();
        await gate.close();
      });
    });

    describeGateSources(start);

    describe("closing", () => {
      test("a plan blocks its calls, and is recorded once", async () => {
        const { gate, plan, entries } = await start();
        await gate.record({ type: "closed", planId: plan.planId });
        expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:invalid_token");
        expect(summarize(await gate.peek(plan, aGateCall()))).toBe("block:invalid_token");
        await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
        await expect(gate.record({ type: "closed", planId: plan.planId })).rejects.toMatchObject({
          code: "ERR_UNKNOWN_PLAN",
        });
        expect((await entries(plan.planId)).map(({ event }) => event.type)).toEqual(["plan_signed", "closed"]);
        await gate.close();
      });

      test("a plan does not lose the outcomes of calls that still run", async () => {
        const { gate, plan, entries } = await start();
        const decision = await gate.check(plan, aGateCall());
        await gate.record({ type: "closed", planId: plan.planId });
        await record(gate, decision, "ok");
        await expect(record(gate, decision, "ok")).rejects.toThrow();
        const types = (await entries(plan.planId)).map(({ event }) => event.type);
        expect(types).toEqual(["plan_signed", "decision", "closed", "outcome"]);
        await gate.close();
      });

      test("the gate closes its plans, and signs no more", async () => {
        const { gate, plan, entries } = await start();
        const other = await gate.sign(aSignRequest());
        await gate.close();
        await gate.close();
        for (const { planId } of [plan, other]) {
          expect((await entries(planId)).map(({ event }) => event.type)).toEqual(["plan_signed", "closed"]);
        }
        expect((await gate.check(plan, aGateCall())).verdict).toBe("block");
        await expect(gate.sign(aSignRequest())).rejects.toMatchObject({ code: "ERR_CLOSED" });
      });
    });
  });
}

async function record(gate: Gate, decision: Decision, status: "ok" | "failed" | "aborted" | "unknown"): Promise<void> {
  const { planId, seq: decisionSeq = -1 } = decision;
  await gate.record({ type: "outcome", planId, decisionSeq, status });
}

function count(verdicts: readonly string[], verdict: string): number {
  return verdicts.filter((one) => one === verdict).length;
}
