import { afterEach, expect, test } from "vitest";
import { aPolicy, aRule, summarize } from "../../../test/builders.ts";
import {
  aCheckBody,
  approveHold,
  aServer,
  askServer,
  type ServerUnderTest,
  signedPlan,
} from "../../../test/servers.ts";
import { BOB } from "../../../test/store-builders.ts";
import { inboxItemAnswerSchema, readMessage } from "../../core/api/index.ts";
import { getInboxItem } from "../people/inbox-item.ts";

const open: ServerUnderTest[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const HOLD = { id: "open-payee", decision: "hold", approvers: { roles: ["approver"] } } as const;
const POLICY = aPolicy(aRule({ ...HOLD, match: { unpinned: ["to", "amount"] } }), aRule());
const IBAN = "DE02120300000000202051";
const PAY = { args: { to: IBAN, amount: 20 } };

/** A server with a plan, and the number of a call that has given an account. */
async function start() {
  const one = await aServer({ policy: POLICY });
  open.push(one);
  const plan = await signedPlan(one, {
    task: { instruction: "Pay the invoice in rent.txt, 20 euros" },
    plan: {
      goal: "Pay the invoice",
      steps: [
        { id: "read", tool: "read_file" },
        { tool: "send_money", args: { to: { from: "read" }, amount: { from: "task" } } },
      ],
    },
  });
  const check = async (call: Record<string, unknown>) =>
    (await one.ask("POST", "/v1/check", { body: aCheckBody(plan, call) })).body.decision;
  const { seq } = await check({ tool: "read_file", args: {} });
  const outcome = { type: "outcome", planId: plan.planId, decisionSeq: seq, status: "ok", result: { iban: IBAN } };
  await one.ask("POST", "/v1/outcomes", { body: { outcome } });
  return { one, plan, check, seq };
}

test("a hold that rests on a result is opened by any server, says where the value came from, and its approval counts", async () => {
  const { one, plan, check, seq } = await start();
  const decision = await check(PAY);
  expect(decision).toMatchObject({ verdict: "hold", rule: "open-payee", unpinned: ["to"] });
  // This one has not seen the result.
  const other = await aServer({ store: one.store, clock: one.clock });
  const body = { planId: plan.planId, decisionSeq: decision.seq, args: PAY.args };
  const opened = await askServer(other.server, "POST", "/v1/holds", { body, apiKey: one.agent.apiKey });
  expect(opened.body).toMatchObject({ status: "pending" });
  const { holdId } = opened.body;
  const item = await getInboxItem(one.server.context, (await one.store.people.get(BOB))!, holdId);
  const sources = [
    { arg: "/to", from: "read", seq },
    { arg: "/amount", from: "task" },
  ];
  expect(item).toMatchObject({ rule: "open-payee", unpinned: ["to"], sources });
  expect(readMessage(inboxItemAnswerSchema, JSON.parse(JSON.stringify(item)))).toMatchObject({ valid: true });
  const approval = await approveHold(one, holdId);
  expect(await check({ ...PAY, approval })).toMatchObject({
    verdict: "allow",
    rule: "open-payee",
    approvedBy: BOB,
    sources,
  });
});

test("of a hold that another rule opened by now, it does not say what that of the record found open", async () => {
  const { one, plan, check } = await start();
  const decision = await check(PAY);
  const stricter = aPolicy(aRule({ ...HOLD, id: "all-payments", match: { tool: "send_money" } }), aRule());
  const pushed = { agentId: one.agent.agentId, text: JSON.stringify(stricter), createdAt: 1, createdBy: BOB };
  await one.store.policies.push({ ...pushed, comment: null });
  expect((await one.ask("POST", `/v1/plans/${plan.planId}/refresh`)).status).toBe(201);
  const body = { planId: plan.planId, decisionSeq: decision.seq, args: PAY.args };
  const { holdId } = (await one.ask("POST", "/v1/holds", { body })).body;
  const item = await getInboxItem(one.server.context, (await one.store.people.get(BOB))!, holdId);
  expect(item.rule).toBe("all-payments");
  expect(item).not.toHaveProperty("unpinned");
  expect(item.sources).toHaveLength(2);
});

test("a policy is tried on decisions whose results are gone: what they found is taken from their record", async () => {
  const { one, check } = await start();
  await check(PAY);
  const text = JSON.stringify(aPolicy(aRule({ ...HOLD, id: "open-amount", match: { unpinned: ["amount"] } }), aRule()));
  const { body } = await one.ask("POST", "/v1/policies/test", { body: { agent: one.agent.name, text, replay: 10 } });
  expect(body.notRecomputable).toBe(0);
  expect(body.rows[0]).toMatchObject({ before: { verdict: "hold", rule: "open-payee" }, after: { verdict: "allow" } });
  expect(summarize(await check({ args: { to: IBAN, amount: 21 } }))).toBe("block:not_in_plan");
});
