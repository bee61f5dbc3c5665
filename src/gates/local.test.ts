import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { HeldAuditSink, settle } from "../../test/audit-sinks.ts";
import { AGENT, ALICE, anApproval, aPolicy, aRule, KEY, NOW, summarize } from "../../test/builders.ts";
import { aGateCall, aSignRequest, toolPrint } from "../../test/gate-conformance.ts";
import { aLocalGate, anOutcome, aSignedPlan, isDone } from "../../test/local-gates.ts";
import {
  type Budget,
  digestCall,
  generateSigningKey,
  openPlanToken,
  PolicyError,
  parsePolicy,
  verifyChain,
} from "../core/index.ts";
import { type AuditSink, MemoryAuditSink } from "./audit-sink.ts";
import type { GateCall, SignedPlan } from "./gate.ts";
import { LocalGate, type LocalGateOptions } from "./local.ts";

const TTL = 900;

describe("options", () => {
  test("of a policy as text or parsed are the same", async () => {
    const text =
      "version: 1\ndefault: block\nrules:\n  - { id: never, match: { tool: send_money }, decision: block }\n";
    for (const policy of [text, parsePolicy(text)]) {
      const { gate, plan } = await aSignedPlan({ policy });
      expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:never");
    }
  });

  test.each<[string, unknown]>([
    ["text", "version: 1"],
    ["an object", { version: 1, default: "allow", rules: [] }],
    [
      "an object with a bad pattern",
      { version: 1, default: "block", rules: [aRule({ match: { args: { a: { regex: "(" } } } })] },
    ],
    ["nothing", undefined],
    ["a number", 5],
  ])("refuse a bad policy given as %s", (_name, policy) => {
    expect(() => new LocalGate({ policy: policy as string })).toThrow(PolicyError);
  });

  test.each([[{}], [undefined]])("say that the policy is missing: %j", (options) => {
    const missing = expect.objectContaining({ issues: [expect.objectContaining({ path: "policy" })] });
    expect(() => new LocalGate(options as never)).toThrow(missing);
  });

  test.each(["planTtlSeconds", "planMaxAgeSeconds"])("name %s if it is wrong; a second is enough", (name) => {
    expect(() => aLocalGate({ [name]: 0 })).toThrow(name);
    expect(() => aLocalGate({ [name]: 1 })).not.toThrow();
  });

  test.each<[Partial<LocalGateOptions>]>([
    [{ audit: [] as unknown as AuditSink }],
    [{ planTtlSeconds: 0 }],
    [{ planTtlSeconds: 0.5 }],
    [{ planTtlSeconds: Number.NaN }],
    [{ planTtlSeconds: Number.POSITIVE_INFINITY }],
    [{ planTtlSeconds: "900" as never }],
    [{ planMaxAgeSeconds: -1 }],
    [{ budget: { session: { calls: -1 } } }],
    [{ budget: { session: { call: 1 } } as Budget }],
    [{ budget: null as never }],
  ])("refuse %j", (over) => {
    expect(() => aLocalGate(over)).toThrow(expect.objectContaining({ code: "ERR_INVALID_OPTIONS" }));
  });

  test("are copied: what happens to a budget later does not matter", async () => {
    const session = { calls: 1 };
    const { gate, plan } = await aSignedPlan({ budget: { session } });
    session.calls = 100;
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:budget_exhausted");
  });

  test("of a key that is none are an error when a plan is to be signed", async () => {
    const other = await generateSigningKey();
    const { gate } = aLocalGate({ signingKey: { ...KEY, publicKey: other.publicKey } });
    await expect(gate.sign(aSignRequest())).rejects.toMatchObject({ code: "ERR_INVALID_KEY" });
  });

  describe("the defaults", () => {
    afterEach(() => vi.useRealTimers());

    test("are 15 minutes, the agent `local`, a key of its own, no audit sink and the clock of the machine", async () => {
      vi.useFakeTimers({ now: NOW * 1000, toFake: ["Date"] });
      const gate = new LocalGate({ policy: aPolicy() });
      const plan = await gate.sign(aSignRequest({ user: { email: ALICE, roles: ["admin"], groups: ["g"] } }));
      expect(plan.expiresAt).toBe(NOW + TTL);
      const payload = JSON.parse(Buffer.from(plan.token.split(".")[1] ?? "", "base64url").toString());
      expect(payload).toMatchObject({ iss: "local", aud: "local", user: { roles: ["admin"], groups: ["g"] } });
      expect(payload).not.toHaveProperty("budget");
      expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "allow", seq: 1 });
      expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "allow", seq: 2 });
      await gate.close();
    });
  });
});

describe("what is signed", () => {
  test("does not change when the application changes what it asked with", async () => {
    const audit = new MemoryAuditSink();
    const { gate, clock } = aLocalGate({ audit, signingKey: KEY, agent: AGENT });
    const user = { email: ALICE, roles: ["member"], groups: ["intern"] };
    const request = { ...aSignRequest(), user, tools: { ...aSignRequest().tools }, task: { instruction: "Pay" } };
    const plan = await gate.sign(request);
    Object.assign(user, { email: "eve@evil.example", groups: [] });
    user.roles.push("admin");
    request.tools.send_money = toolPrint("evil");
    clock.advance(10);
    const token = await openPlanToken((await gate.refresh(plan)).token, [KEY.publicKey], { audience: AGENT });
    expect(token).toMatchObject({
      claims: { sub: ALICE, user: { roles: ["member"], groups: ["intern"] }, tools: aSignRequest().tools },
    });
  });

  test("can be verified with the gate's key, and is for its agent", async () => {
    const { gate, plan } = await aSignedPlan({ signingKey: KEY, agent: AGENT });
    expect(gate.agent).toBe(AGENT);
    const keys = [await gate.publicKey()];
    expect(await openPlanToken(plan.token, keys, { audience: AGENT })).toMatchObject({ valid: true });
  });

  test("is nothing that a person has to see", async () => {
    const audit = new MemoryAuditSink();
    const { gate } = aLocalGate({ audit });
    const refused = { code: "ERR_HOLD_UNSUPPORTED" };
    await expect(gate.sign(aSignRequest({ approvePlan: true }))).rejects.toMatchObject(refused);
    expect(audit.entries).toEqual([]);
  });

  test("is not good for a gate of another agent, though it has the same key", async () => {
    const one = await aSignedPlan({ signingKey: KEY, agent: "agent-1" });
    const { gate } = await aSignedPlan({ signingKey: KEY, agent: "agent-2" });
    expect(summarize(await gate.check(one.plan, aGateCall()))).toBe("block:invalid_token");
  });

  test("is frozen", async () => {
    const { plan } = await aSignedPlan();
    expect([plan, plan.plan, plan.plan.steps].every(Object.isFrozen)).toBe(true);
  });

  test("needs groups that are a list", async () => {
    const { gate } = aLocalGate();
    const user = { email: ALICE, groups: "intern" as never };
    await expect(gate.sign(aSignRequest({ user }))).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
  });

  test("needs fingerprints", async () => {
    const { gate } = aLocalGate();
    await expect(gate.sign(aSignRequest({ tools: { send_money: "x" } }))).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
    });
  });
});

describe("a decision", () => {
  test("is about the arguments as they were when they were first read", async () => {
    const audit = new MemoryAuditSink();
    const { gate, plan } = await aSignedPlan({ audit }, { args: { amount: { lte: 20 } } });
    let reads = 0;
    const args = {
      get amount() {
        return ++reads === 1 ? 20 : 1_000_000;
      },
    };
    const decision = await gate.check(plan, aGateCall({ args }));
    expect(decision).toMatchObject({ verdict: "allow", digest: digestCall(aGateCall({ args: { amount: 20 } })) });
    expect(audit.entries.at(-1)?.event).toMatchObject({ args: { amount: 20 } });
    expect(reads).toBe(1);
  });

  test("does not change when the arguments change while it is written", async () => {
    const audit = new HeldAuditSink();
    const { gate } = aLocalGate({ audit });
    const signing = gate.sign(aSignRequest());
    while (audit.waiting.length === 0) await settle();
    await audit.finish();
    const plan = await signing;
    const args = { to: "landlord", list: [1] };
    const checking = gate.check(plan, aGateCall({ args }));
    await settle();
    args.to = "eve";
    args.list.push(2);
    await audit.finish();
    await checking;
    expect(audit.stored.at(-1)?.event).toMatchObject({ args: { to: "landlord", list: [1] } });
    expect(verifyChain(audit.stored, plan.planId).problem).toBeUndefined();
  });

  test("is not helped by an approval", async () => {
    const policy = aPolicy(aRule({ id: "hold-it", decision: "hold", approvers: { self: true } }));
    const audit = new MemoryAuditSink();
    const { gate, plan } = await aSignedPlan({ policy, audit });
    const call = { ...aGateCall(), approval: "x", evidence: { approval: anApproval() } } as GateCall;
    expect(await gate.check(plan, call)).toMatchObject({ reason: "hold_requires_server", stage: "gate", step: 0 });
    expect(audit.entries.at(-1)?.event).toMatchObject({
      verdict: "hold",
      rule: "hold-it",
      answer: "hold_requires_server",
    });
    const hold = { ...(await gate.check(plan, call)), verdict: "hold" } as never;
    await expect(gate.awaitHold(hold, { timeoutMs: 1 })).rejects.toMatchObject({ code: "ERR_HOLD_UNSUPPORTED" });
  });

  test("that was refused before is recorded with what check() says of it, and takes nothing", async () => {
    const audit = new MemoryAuditSink();
    const { gate, plan } = await aSignedPlan({ audit }, { maxCalls: 1 });
    const refusal = { reason: "aborted", stage: "gate", detail: "the run was aborted" } as const;
    expect(await gate.check(plan, aGateCall({ refusal }))).toMatchObject({ verdict: "block", reason: "aborted" });
    expect(audit.entries.at(-1)?.event).toMatchObject({ verdict: "allow", answer: "aborted" });
    expect(await gate.peek(plan, aGateCall({ refusal }))).toMatchObject({ verdict: "block", reason: "aborted" });
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
  });

  test("says how long it took", async () => {
    const { gate, plan } = await aSignedPlan();
    const now = vi.spyOn(performance, "now");
    onTestFinished(() => now.mockRestore());
    now.mockReturnValueOnce(1000).mockReturnValue(1002.5);
    expect((await gate.check(plan, aGateCall())).elapsedUs).toBe(2500);
  });

  test("that was a block has no outcome", async () => {
    const { gate, plan } = await aSignedPlan();
    const blocked = await gate.check(plan, aGateCall({ tool: "read_file" }));
    expect(blocked.verdict).toBe("block");
    await expect(gate.record(anOutcome(blocked))).rejects.toMatchObject({ code: "ERR_INVALID_OUTCOME" });
  });

  test("about arguments that cannot be read has no digest", async () => {
    const { gate, plan } = await aSignedPlan();
    expect(await gate.check(plan, aGateCall({ args: { amount: 1n } }))).not.toHaveProperty("digest");
  });

  test("is frozen, and says how long it took, in whole microseconds", async () => {
    const { gate, plan } = await aSignedPlan();
    const decision = await gate.check(plan, aGateCall());
    expect(Object.isFrozen(decision)).toBe(true);
    expect(decision.elapsedUs).toBeGreaterThanOrEqual(0);
    expect(Number.isInteger(decision.elapsedUs)).toBe(true);
  });

  test("is an internal error when the clock fails", async () => {
    let now: number | undefined = NOW * 1000;
    const { gate, plan } = await aSignedPlan({
      clock: () => {
        if (now === undefined) throw new Error("no time");
        return now;
      },
    });
    now = Number.NaN;
    expect(await gate.check(plan, aGateCall())).toMatchObject({
      verdict: "block",
      reason: "internal_error",
      stage: "gate",
    });
    now = undefined;
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:internal_error");
    expect(summarize(await gate.peek(plan, aGateCall()))).toBe("block:internal_error");
  });
});

describe("renewal", () => {
  test("leaves all tokens of the plan good, and no other", async () => {
    const audit = new MemoryAuditSink();
    const { gate, plan, clock } = await aSignedPlan({ audit, signingKey: KEY });
    const other = await gate.sign(aSignRequest());
    const renewed: SignedPlan[] = [];
    for (let times = 0; times < 3; times++) {
      clock.advance(1);
      renewed.push(await gate.refresh(plan));
    }
    const count = audit.entries.length;
    const checks = [plan, ...renewed].map((one) => gate.check(one, aGateCall()));
    expect((await Promise.all(checks)).map(summarize)).toEqual(["allow", "allow", "allow", "allow"]);
    expect(audit.entries.slice(count).map(({ event }) => event.type)).toEqual(checks.map(() => "decision"));
    const foreign = { ...plan, token: other.token };
    expect(await gate.check(foreign, aGateCall())).toMatchObject({
      reason: "invalid_token",
      stage: "token",
      planId: "",
    });
    expect(await gate.check({ ...plan, token: "x" }, aGateCall())).toMatchObject({ reason: "invalid_token" });
  });

  test("comes when a tenth of the time is left, once for calls at once, and not for a look", async () => {
    const audit = new MemoryAuditSink();
    let asked = 0;
    const users = (email: string) => {
      asked++;
      return email;
    };
    const { gate, plan, clock } = await aSignedPlan({ audit, users });
    const renewals = () => audit.entries.filter(({ event }) => event.type === "refresh").length;
    clock.advance(TTL * 0.9 - 1);
    await gate.check(plan, aGateCall());
    expect([renewals(), asked]).toEqual([0, 1]);
    clock.advance(1);
    expect(summarize(await gate.peek(plan, aGateCall()))).toBe("allow");
    expect(renewals()).toBe(0);
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => gate.check(plan, aGateCall())));
    expect(verdicts.map(summarize)).toEqual(Array.from({ length: 20 }, () => "allow"));
    expect(renewals()).toBe(1);
    expect(verifyChain(audit.entries, plan.planId).problem).toBeUndefined();
  });

  test("shows what people are now, and to a look as well", async () => {
    const users = [{ email: ALICE, groups: [] as string[] }];
    const policy = aPolicy(
      aRule({ id: "no-interns", match: { user: { group: "intern" } }, decision: "block" }),
      aRule(),
    );
    const { gate, plan, clock } = await aSignedPlan({ users, policy });
    users[0] = { email: ALICE, groups: ["intern"] };
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
    clock.advance(TTL);
    expect(summarize(await gate.peek(plan, aGateCall()))).toBe("block:no-interns");
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:no-interns");
  });

  test.each([
    [TTL - 1, "allow"],
    [TTL, "allow"],
    [TTL + 29, "allow"],
    [TTL + 30, "block:token_expired"],
    [TTL + 9999, "block:token_expired"],
  ])("that fails gives, %d seconds after signing, %s", async (seconds, expected) => {
    let works = true;
    const users = async (email: string) => {
      if (!works) throw new Error("directory is down");
      return email;
    };
    const { gate, plan, clock } = await aSignedPlan({ users });
    works = false;
    clock.advance(seconds);
    expect(summarize(await gate.check(plan, aGateCall()))).toBe(expected);
    expect(summarize(await gate.peek(plan, aGateCall()))).toBe(expected);
    works = true;
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
  });

  test("ends with the plan's age: its last token is good until it expires", async () => {
    const { gate, plan, clock } = await aSignedPlan({ planMaxAgeSeconds: 1800 });
    clock.advance(1799);
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
    clock.advance(1);
    await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_PLAN_EXPIRED" });
    clock.advance(TTL - 1 + 29);
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
    clock.advance(1);
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:token_expired");
  });

  test("keeps the counts", async () => {
    const { gate, plan, clock } = await aSignedPlan({}, { maxCalls: 1 });
    await gate.check(plan, aGateCall());
    clock.advance(TTL);
    const renewed = await gate.refresh(plan);
    expect(summarize(await gate.check(renewed, aGateCall()))).toBe("block:call_limit");
  });

  test("of a plan that is not this gate's is an error", async () => {
    const { gate } = aLocalGate();
    const { plan } = await aSignedPlan();
    await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
  });
});

describe("a gate that is closed", () => {
  test("signs nothing any more, and records nothing of it", async () => {
    const audit = new MemoryAuditSink();
    const { gate } = aLocalGate({ audit });
    await gate.close();
    await expect(gate.sign(aSignRequest())).rejects.toMatchObject({ code: "ERR_CLOSED" });
    expect(audit.entries).toEqual([]);
  });

  test("has closed its plans: to say so of one again is no error, and of a call of it is one", async () => {
    const audit = new MemoryAuditSink();
    const { gate, plan } = await aSignedPlan({ audit });
    const decision = await gate.check(plan, aGateCall({ tool: "read_file" }));
    const unknown = { code: "ERR_UNKNOWN_PLAN" };
    await expect(gate.record(isDone({ ...plan, planId: "other" }))).rejects.toMatchObject(unknown);
    await gate.close();
    await gate.record(isDone(plan));
    await expect(gate.record(anOutcome(decision))).rejects.toMatchObject(unknown);
    expect(audit.entries.filter(({ event }) => event.type === "closed")).toHaveLength(1);
  });

  test("records the outcome of a call that still runs, once", async () => {
    const { gate, plan } = await aSignedPlan();
    const decision = await gate.check(plan, aGateCall());
    await gate.close();
    await gate.record(anOutcome(decision));
    await expect(gate.record(anOutcome(decision))).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
  });
});
