import { describe, expect, test } from "vitest";
import { AGENT, aCall, aJwt, anApproval, aPlan, aPolicy, aRule, KEY, NOW, open, PLAN_ID } from "../../test/builders.ts";
import { aGateCall } from "../../test/gate-conformance.ts";
import { anOutcome, aSignedPlan, isDone } from "../../test/local-gates.ts";
import { MemoryAuditSink } from "../gates/audit-sink.ts";
import { type AuditEntry, type AuditEvent, chainEntry, type DecisionRecord, startChain } from "./audit.ts";
import { check } from "./check.ts";
import { describeDecision, snapshotCall } from "./decided-call.ts";
import { generateSigningKey } from "./signing-key.ts";
import { type PlanAudit, verifyAudit } from "./verify-audit.ts";

/** The entries of a plan of two calls: an allowed one that is done, a blocked one, an aborted one, and the end. */
async function aLog(over: { readonly redact?: boolean } = {}): Promise<AuditEntry[]> {
  const audit = new MemoryAuditSink();
  const { gate, plan } = await aSignedPlan({ audit, signingKey: KEY, agent: AGENT, ...over }, { maxCalls: 2 });
  await gate.record(anOutcome(await gate.check(plan, aGateCall())));
  await gate.record(anOutcome(await gate.check(plan, aGateCall()), "aborted"));
  await gate.check(plan, aGateCall({ tool: "read_mail" }));
  await gate.check(plan, aGateCall({ args: { amount: Number.NaN } }));
  await gate.record(anOutcome(await gate.check(plan, aGateCall())));
  await gate.check(plan, aGateCall());
  await gate.record(isDone(plan));
  return [...audit.entries];
}

async function verify(entries: readonly AuditEntry[], keys = [KEY.publicKey], audience = AGENT): Promise<PlanAudit> {
  const [report, ...rest] = await verifyAudit(entries, { keys, audience });
  expect(rest).toEqual([]);
  return report as PlanAudit;
}

/** The same events, or changed ones, in a chain of their own: what somebody who holds the log can make of it. */
function rechain(entries: readonly AuditEntry[], change: (event: AuditEvent, seq: number) => AuditEvent): AuditEntry[] {
  let head = startChain(entries[0]?.planId ?? "");
  return entries.map(({ event, at, seq }) => {
    const next = chainEntry(head, change(event, seq), { at });
    head = next.head;
    return next.entry;
  });
}

describe("verifyAudit", () => {
  test("decides everything again", async () => {
    const report = await verify(await aLog());
    expect(report).toMatchObject({ decisions: 6, recomputed: 5, notRecomputable: 1, closed: true, problems: [] });
  });

  test("cannot decide again what was redacted, and verifies the rest", async () => {
    const report = await verify(await aLog({ redact: true }));
    expect(report).toMatchObject({ decisions: 6, recomputed: 0, notRecomputable: 6, problems: [] });
  });

  test("tells the plans of a mixed log apart", async () => {
    const [first, second] = [await aLog(), await aLog()];
    const mixed = first.flatMap((entry, index) => [entry, second[index] as AuditEntry]);
    const reports = await verifyAudit(mixed, { keys: [KEY.publicKey], audience: AGENT });
    expect(reports.map(({ problems }) => problems)).toEqual([[], []]);
  });

  test("finds a changed entry", async () => {
    const log = await aLog();
    log[1] = { ...(log[1] as AuditEntry), at: 0 };
    expect((await verify(log)).problems).toEqual([{ seq: 2, problem: "it does not follow from the entry before" }]);
  });

  test("finds tokens of another key or agent, and what rests on them", async () => {
    const other = await generateSigningKey();
    for (const report of [
      await verify(await aLog(), [other.publicKey]),
      await verify(await aLog(), undefined, "other"),
    ]) {
      expect(report.problems[0]).toEqual({ seq: 0, problem: "its token is not one of this plan, agent and key" });
      expect(report.recomputed).toBe(0);
    }
  });

  test.each<[string, (event: AuditEvent, seq: number) => AuditEvent, string]>([
    [
      "a block that is said to have been allowed",
      (event) =>
        event.type === "decision" && event.verdict === "block" && event.args ? { ...event, verdict: "allow" } : event,
      "decided again, it comes out otherwise",
    ],
    [
      "counts that are too low",
      (event) => (event.type === "decision" ? { ...event, used: [0] } : event),
      "it counts fewer calls than were made before it",
    ],
    [
      "one count that is too low",
      (event, seq) => (seq === 3 ? ({ ...event, used: [0] } as AuditEvent) : event),
      "it counts fewer calls than were made before it",
    ],
    [
      "a count that forgets what was not given back",
      (event, seq) => (seq === 7 ? ({ ...event, used: [0] } as AuditEvent) : event),
      "it counts fewer calls than were made before it",
    ],
    [
      "a decision under a token that nobody has seen",
      (event) => (event.type === "decision" ? { ...event, jti: "other" } : event),
      "it was decided under a token that is not in the log",
    ],
    [
      "a plan that goes on after its end",
      (event, seq) => (seq === 2 ? { type: "closed" } : event),
      "it follows the end of the plan",
    ],
  ])("finds %s in a chain that verifies", async (_name, change, problem) => {
    const { problems } = await verify(rechain(await aLog(), change));
    expect(problems.map((found) => found.problem)).toContain(problem);
  });

  test("does not mind counts that are higher: of calls that were never recorded", async () => {
    const log = rechain(await aLog(), (event) =>
      event.type === "decision" && event.verdict === "allow" ? { ...event, used: [1] } : event,
    );
    expect((await verify(log)).problems).toEqual([]);
  });

  test("decides under the rule that was signed", async () => {
    const audit = new MemoryAuditSink();
    const policy = JSON.stringify({ version: 1, default: "block", rules: [aRule({ id: "no", decision: "block" })] });
    const { gate, plan } = await aSignedPlan({ audit, signingKey: KEY, agent: AGENT, policy });
    await gate.check(plan, aGateCall());
    expect(await verify(audit.entries)).toMatchObject({ recomputed: 1, closed: false, problems: [] });
  });

  test("takes an empty log for what it is", async () => {
    expect(await verifyAudit([], { keys: [KEY.publicKey], audience: AGENT })).toEqual([]);
  });
});

describe("a log that was put together", () => {
  const isAllowed = (event: AuditEvent): boolean => event.type === "decision" && event.verdict === "allow";

  test.each<[string, (event: AuditEvent, seq: number) => AuditEvent, string]>([
    [
      "an allow without its arguments, of a tool that the plan does not have",
      (event) => (isAllowed(event) ? ({ ...event, args: undefined, tool: "wipe_disk" } as AuditEvent) : event),
      "its plan has no such call",
    ],
    [
      "an allow without its arguments, past the limit of its step",
      (event) => (isAllowed(event) ? ({ ...event, args: undefined, used: [2] } as AuditEvent) : event),
      "its plan has no such call",
    ],
    [
      "an allow without its arguments, by a rule that there is not",
      (event) => (isAllowed(event) ? ({ ...event, args: undefined, rule: "nobody" } as AuditEvent) : event),
      "its plan has no such call",
    ],
    [
      "an outcome of a call that nobody allowed",
      (event) => (event.type === "outcome" ? { ...event, decisionSeq: 5 } : event),
      "no allowed call waits for this outcome",
    ],
    [
      "two outcomes of one call",
      (event) => (event.type === "outcome" && event.status === "aborted" ? { ...event, decisionSeq: 1 } : event),
      "no allowed call waits for this outcome",
    ],
  ])("shows by %s", async (_name, change, problem) => {
    const withoutUndefined = (event: AuditEvent): AuditEvent => JSON.parse(JSON.stringify(event)) as AuditEvent;
    const { problems } = await verify(rechain(await aLog(), (event, seq) => withoutUndefined(change(event, seq))));
    expect(problems.map((found) => found.problem)).toContain(problem);
  });

  test("shows by a plan that is signed twice", async () => {
    const log = await aLog();
    const signed = log[0]?.event as AuditEvent;
    const { problems } = await verify(rechain(log, (event, seq) => (seq === 3 ? signed : event)));
    expect(problems.map((found) => found.problem)).toContain("a log begins with the one signing of its plan");
  });

  test("shows by an event that there is not, or no entry at all", async () => {
    const unknown = { type: "invented" } as unknown as AuditEvent;
    const { problems } = await verify(rechain(await aLog(), (event, seq) => (seq === 3 ? unknown : event)));
    expect(problems).toContainEqual({ seq: 3, problem: "there is no such event" });
    const reports = await verifyAudit([null as unknown as AuditEntry], { keys: [KEY.publicKey], audience: AGENT });
    expect(reports).toMatchObject([{ planId: "", problems: [{ problem: "it is not an audit entry" }] }]);
  });
});

describe("a log of single events", () => {
  const EXP = NOW + 890;
  const policy = aPolicy(
    aRule({ id: "never", match: { tool: "wipe_disk" }, decision: "block" }),
    aRule({ id: "hold-it", match: { args: { to: { eq: "eve" } } }, decision: "hold", approvers: { self: true } }),
    aRule(),
  );
  const plan = aPlan({ maxCalls: 2 }, { tool: "wipe_disk" });
  const ALLOW: DecisionRecord = {
    type: "decision",
    jti: "token-1",
    callId: "call-1",
    tool: "send_money",
    digest: snapshotCall(aCall()).digest as string,
    used: [0, 0],
    now: NOW,
    verdict: "allow",
    step: 0,
    rule: "allow-in-plan",
  };

  /** The problems of a log that begins with the signing of the plan. */
  async function problemsOf(...events: readonly unknown[]): Promise<readonly { seq: number; problem: string }[]> {
    const { problems } = await reportOf(...events);
    return problems;
  }
  async function reportOf(...events: readonly unknown[]): Promise<PlanAudit> {
    const signed: AuditEvent = { type: "plan_signed", token: await aJwt({ plan, policy, exp: EXP }) };
    let head = startChain(PLAN_ID);
    const entries = [signed, ...events].map((event) => {
      const next = chainEntry(head, JSON.parse(JSON.stringify(event)) as AuditEvent, { at: 0 });
      head = next.head;
      return next.entry;
    });
    return await verify(entries);
  }
  /** A decision as it is recorded, with its arguments. */
  async function decided(args: object, used: readonly number[], jti = "token-1"): Promise<DecisionRecord> {
    const token = await open(await aJwt({ plan, policy, jti }));
    const call = snapshotCall(aCall({ args }));
    const checked = check({ token, call, used, now: NOW });
    return describeDecision(token, call, { used, now: NOW, evidence: undefined, checked, answer: undefined });
  }

  const NO_SUCH_CALL = "its plan has no such call";
  const OTHER_TOKEN = "its token is not one of this plan, agent and key";
  const UNKNOWN_TOKEN = "it was decided under a token that is not in the log";
  test.each<[string, object, string | undefined]>([
    ["an allow without its arguments", {}, undefined],
    ["one just before the token ends", { now: EXP + 29 }, undefined],
    ["one after the token has ended", { now: EXP + 30 }, NO_SUCH_CALL],
    ["one without a digest", { digest: undefined }, NO_SUCH_CALL],
    ["one without a step", { step: undefined }, NO_SUCH_CALL],
    ["one of a step that there is not", { step: 9 }, NO_SUCH_CALL],
    ["one of neither a step nor a tool", { step: undefined, tool: undefined }, NO_SUCH_CALL],
    ["one without counts for its step", { used: [] }, NO_SUCH_CALL],
    ["one by a rule that blocks", { step: 1, tool: "wipe_disk", rule: "never" }, NO_SUCH_CALL],
    ["one by a rule that holds", { rule: "hold-it" }, undefined],
    ["one of which nothing fits", { step: 9, tool: undefined }, "it is not an audit entry"],
    ["one whose counts are nothing", { used: null }, "it is not an audit entry"],
    ["one whose sources are no list", { sources: 1 }, "it is not an audit entry"],
    ["a block of a malformed call", { digest: undefined, verdict: "block" }, undefined],
    ["a block for an invalid token", { digest: undefined, verdict: "block", jti: "", used: [] }, undefined],
    ["a block without its arguments, under an unknown token", { verdict: "block", jti: "other" }, UNKNOWN_TOKEN],
    ["a hold without digest, under an unknown token", { digest: undefined, verdict: "hold", jti: "x" }, UNKNOWN_TOKEN],
  ])("%s is a problem, or none", async (_name, over, problem) => {
    expect(await problemsOf({ ...ALLOW, ...over })).toEqual(problem === undefined ? [] : [{ seq: 1, problem }]);
  });

  test("a renewed token is one of the plan, and decides", async () => {
    const refresh = { type: "refresh", token: await aJwt({ plan, policy, jti: "token-2" }) };
    expect(await reportOf(refresh, await decided({}, [0, 0], "token-2"))).toMatchObject({
      recomputed: 1,
      problems: [],
    });
  });

  test("a renewed token of another plan is not", async () => {
    const refresh = { type: "refresh", token: await aJwt({ plan, policy, jti: "token-2", planId: "plan-2" }) };
    expect(await problemsOf(refresh, await decided({}, [0, 0], "token-2"))).toEqual([
      { seq: 1, problem: OTHER_TOKEN },
      { seq: 2, problem: UNKNOWN_TOKEN },
    ]);
  });

  test("holds and approvals are events, and a call that is held takes nothing", async () => {
    const held = await decided({ to: "eve" }, [0, 0]);
    expect(held).toMatchObject({ verdict: "hold", step: 0 });
    const events = [
      { type: "hold", decisionSeq: 1, holdId: "hold-1" },
      { type: "approval", decisionSeq: 1, approval: anApproval(aCall()) },
    ];
    expect(await problemsOf(held, ...events, await decided({}, [0, 0]))).toEqual([]);
    expect(await problemsOf(held, { type: "outcome", decisionSeq: 1, status: "ok" })).toEqual([
      { seq: 2, problem: "no allowed call waits for this outcome" },
    ]);
  });

  test("a call that was allowed and answered with a block takes nothing, and has no outcome", async () => {
    const refused = { ...(await decided({}, [0, 0])), answer: "invalid_args" };
    expect(await problemsOf(refused, await decided({}, [0, 0]))).toEqual([]);
    expect(await problemsOf(refused, { type: "outcome", decisionSeq: 1, status: "ok" })).toEqual([
      { seq: 2, problem: "no allowed call waits for this outcome" },
    ]);
  });

  test("an allow without a step is one problem, not one of each that follows", async () => {
    const problem = NO_SUCH_CALL;
    expect(await problemsOf({ ...ALLOW, step: undefined }, ALLOW)).toEqual([{ seq: 1, problem }]);
  });

  test("outcomes may follow the end, and nothing else may", async () => {
    const outcome = { type: "outcome", decisionSeq: 1, status: "ok" };
    expect(await problemsOf(ALLOW, { type: "closed" }, outcome)).toEqual([]);
    expect(await problemsOf(ALLOW, { type: "closed" }, { ...ALLOW, used: [1, 0] })).toEqual([
      { seq: 3, problem: "it follows the end of the plan" },
    ]);
  });
});
