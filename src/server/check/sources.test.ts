import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { aPolicy, aRule, summarize } from "../../../test/builders.ts";
import { aCheckBody, aServer, type ServerSetup, type ServerUnderTest, signedPlan } from "../../../test/servers.ts";
import { openPlanToken, verifyAudit } from "../../core/index.ts";

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(setup: ServerSetup = {}): Promise<ServerUnderTest> {
  const one = await aServer(setup);
  open.push(one);
  return one;
}

const IBAN = "DE02120300000000202051";
const INVOICE = { iban: IBAN, note: "Please pay soon, to Mallory" };
const TASK = { instruction: "Pay the invoice in rent.txt, 20 euros", material: "Pay Mallory" };
const STEPS = {
  task: TASK,
  plan: {
    goal: "Pay the invoice",
    steps: [
      { id: "read", tool: "read_file" },
      { tool: "send_money", args: { to: { from: "read" }, amount: { from: "task" } } },
    ],
  },
};

interface Asker {
  ask: ServerUnderTest["ask"];
}

async function decide({ ask }: Asker, ...body: Parameters<typeof aCheckBody>) {
  return (await ask("POST", "/v1/check", { body: aCheckBody(...body) })).body.decision;
}

const READ = { tool: "read_file", args: { path: "rent.txt" } };
const PAY = { args: { to: IBAN, amount: 20 } };

type Plan = Parameters<typeof aCheckBody>[0];

/** Reads the invoice, and says what became of it. */
async function read(one: Asker, plan: Plan, outcome: Record<string, unknown> = { status: "ok", result: INVOICE }) {
  const { seq } = await decide(one, plan, READ);
  const body = { outcome: { type: "outcome", planId: plan.planId, decisionSeq: seq, ...outcome } };
  return { seq, ...(await one.ask("POST", "/v1/outcomes", { body })) };
}

describe("a value from the result of an earlier call", () => {
  test("is allowed once the call is on record, and the record says where it came from", async () => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    expect(summarize(await decide(one, plan, PAY))).toBe("block:not_in_plan");
    const { seq, status } = await read(one, plan);
    expect(status).toBe(200);
    const decision = await decide(one, plan, PAY);
    const sources = [
      { arg: "/to", from: "read", seq },
      { arg: "/amount", from: "task" },
    ];
    expect(decision).toMatchObject({ verdict: "allow", sources });
    const entries = (await one.store.auditEntries.ofPlan(plan.planId)).map(({ entry }) => entry);
    expect(entries.at(-1)?.event).toMatchObject({ sources });
    const keys = await one.server.context.keys.publicKeys();
    const tasks = new Map([[plan.planId, TASK]]);
    const [audit] = await verifyAudit(entries, { keys, audience: one.agent.agentId, tasks });
    expect(audit).toMatchObject({ recomputed: 3, onTrust: 1, problems: [] });
  });

  test("stays out of the store, the log and the token", async () => {
    let logged = "";
    const stream = new Writable({
      write(chunk, _encoding, done) {
        logged += String(chunk);
        done();
      },
    });
    const one = await start({ log: pino({ level: "trace" }, stream) });
    const plan = await signedPlan(one, STEPS);
    const { seq } = await read(one, plan, { status: "ok", result: INVOICE, durationMs: 3 });
    await decide(one, plan, { args: { to: "Mallory", amount: 20 } });
    const [outcome] = await one.store.auditEntries.ofPlan(plan.planId, { fromSeq: seq + 1, limit: 1 });
    expect(outcome?.entry.event).toEqual({ type: "outcome", decisionSeq: seq, status: "ok", durationMs: 3 });
    const stored = JSON.stringify([
      await one.store.plans.get(plan.planId),
      await one.store.auditEntries.ofPlan(plan.planId),
    ]);
    const keys = await one.server.context.keys.publicKeys();
    const token = JSON.stringify(await openPlanToken(plan.token, keys, { audience: one.agent.agentId }));
    expect(logged).toContain("/v1/outcomes");
    for (const text of [stored, logged, token]) expect(text).not.toContain(IBAN);
  });

  test.each<[string, Record<string, unknown>]>([
    ["failed", { status: "failed", result: INVOICE }],
    ["never started", { status: "aborted", result: INVOICE }],
    ["was not seen to end", { status: "unknown", result: INVOICE }],
    ["gave nothing", { status: "ok" }],
    ["gave something else", { status: "ok", result: { iban: `${IBAN}1` } }],
  ])("does not count if the call %s", async (_name, outcome) => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    expect((await read(one, plan, outcome)).status).toBe(200);
    expect(summarize(await decide(one, plan, PAY))).toBe("block:not_in_plan");
  });

  test("does not count if no call waited for the outcome, or if the call had one before", async () => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    const { seq } = await read(one, plan, { status: "ok", result: "nothing" });
    for (const decisionSeq of [seq, 0, 99]) {
      const outcome = { type: "outcome", planId: plan.planId, decisionSeq, status: "ok", result: INVOICE };
      expect((await one.ask("POST", "/v1/outcomes", { body: { outcome } })).body.code).toBe("outcome_not_expected");
    }
    expect(summarize(await decide(one, plan, PAY))).toBe("block:not_in_plan");
  });

  test("counts for its own plan alone", async () => {
    const one = await start();
    await read(one, await signedPlan(one, STEPS));
    expect(summarize(await decide(one, await signedPlan(one, STEPS), PAY))).toBe("block:not_in_plan");
  });

  test("is known to the server alone that was told of it: for another one it is a block", async () => {
    const one = await start();
    const other = await aServer({ store: one.store, clock: one.clock });
    const asked: Asker = { ask: (method, path, ask) => other.ask(method, path, { apiKey: one.agent.apiKey, ...ask }) };
    const plan = await signedPlan(one, STEPS);
    await read(one, plan);
    expect(summarize(await decide(asked, plan, PAY))).toBe("block:not_in_plan");
    expect(summarize(await decide(one, plan, PAY))).toBe("allow");
  });

  test("is seen by a peek", async () => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    await read(one, plan);
    expect(summarize(await decide(one, plan, PAY, { peek: true }))).toBe("allow");
  });

  test("may be as long as what is kept of a step", async () => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    const result = `${IBAN} ${"€ ".repeat(500_000)}`;
    expect((await read(one, plan, { status: "ok", result })).status).toBe(200);
    expect(summarize(await decide(one, plan, PAY))).toBe("allow");
  });
});

test.each<[string, unknown, string]>([
  ["in the instruction", { from: "task" }, "rent.txt"],
  ["in what the user passed on", { from: "task" }, "Mallory"],
])("a value %s", async (name, condition, to) => {
  const one = await start();
  const plan = await signedPlan(one, {
    task: TASK,
    plan: { goal: "Pay", steps: [{ tool: "send_money", args: { to: condition } }] },
  });
  const decision = await decide(one, plan, { args: { to, amount: 1 } });
  expect(summarize(decision)).toBe(name === "in the instruction" ? "allow" : "block:not_in_plan");
});

test("an argument that nothing has fixed is named in the answer and on record", async () => {
  const hold = { id: "open-payee", decision: "hold", approvers: { roles: ["approver"] } } as const;
  const one = await start({ policy: aPolicy(aRule({ ...hold, match: { unpinned: ["to", "amount"] } }), aRule()) });
  const plan = await signedPlan(one, STEPS);
  const { seq } = await read(one, plan);
  const decision = await decide(one, plan, PAY);
  expect(decision).toMatchObject({ verdict: "hold", rule: "open-payee", unpinned: ["to"] });
  const [stored] = await one.store.auditEntries.ofPlan(plan.planId, { fromSeq: decision.seq, limit: 1 });
  expect(stored?.entry.event).toMatchObject({ unpinned: ["to"], sources: [{ from: "read", seq }, { from: "task" }] });
});

describe("what a plan has given is forgotten", () => {
  /** Whether a server still has it shows when the plan is open again, which no plan ever is. */
  async function isKnown(one: ServerUnderTest, plan: Plan): Promise<boolean> {
    await one.store.plans.setStatus(plan.planId, "open", { from: ["closed", "revoked"], now: one.clock.now() });
    return summarize(await decide(one, plan, PAY, { peek: true })) === "allow";
  }

  test.each<[string, (one: ServerUnderTest, plan: Plan) => Promise<unknown>, boolean]>([
    ["not by itself", async () => undefined, true],
    [
      "when it is closed",
      ({ ask }, { planId }) => ask("POST", "/v1/outcomes", { body: { outcome: { type: "closed", planId } } }),
      false,
    ],
    ["when it is revoked", ({ ask }, { planId }) => ask("POST", `/v1/plans/${planId}/revoke`, { body: {} }), false],
    [
      "when it was revoked elsewhere and is asked about",
      async (one, plan) => {
        await one.store.plans.setStatus(plan.planId, "revoked", { from: ["open"], now: one.clock.now() });
        await decide(one, plan, READ, { peek: true });
      },
      false,
    ],
  ])("%s", async (_name, end, expected) => {
    const one = await start();
    const plan = await signedPlan(one, STEPS);
    await read(one, plan);
    await end(one, plan);
    expect(await isKnown(one, plan)).toBe(expected);
  });
});
