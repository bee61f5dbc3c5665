import { beforeEach, describe, expect, test } from "vitest";
import { ALICE, anApproval } from "../../../test/builders.ts";
import { addPeople, addPerson, createContext, type TestContext } from "../../../test/people.ts";
import { aDecision, addPlan, appendEvents, BOB, NOW_MS, type PlanInStore } from "../../../test/store-builders.ts";
import { type DecisionsQuery, endpoints, readMessage } from "../../core/api/index.ts";
import type { DecisionRecord } from "../../core/index.ts";
import { listDecisions } from "./list-decisions.ts";

const ROOT = "root@acme.dev";
let context: TestContext;
let plan: PlanInStore;

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  await addPerson(context.store, ROOT, ["admin"]);
  plan = await addPlan(context.store);
  return () => context.store.close();
});

function decided(over: Partial<DecisionRecord> = {}): DecisionRecord {
  return { ...(aDecision(plan) as DecisionRecord), ...over };
}

async function list(query: DecisionsQuery = {}, email = ROOT) {
  return await listDecisions(context, (await context.store.people.get(email))!, query);
}

const digest = `sha256:${"a".repeat(64)}`;

describe("a decision in the list", () => {
  test("says who asked for what, and how it was answered", async () => {
    const record = decided({ step: 0, rule: "allow-it", digest, evidence: { approval: anApproval() } });
    await appendEvents(context.store, plan, [record], { verdictChecks: ["recomputed"] });
    const answer = await list();
    expect(answer).toEqual({
      decisions: [
        {
          planId: plan.id,
          seq: 1,
          at: NOW_MS,
          receivedAt: NOW_MS,
          agentId: plan.agentId,
          agentName: `agent ${plan.agentId}`,
          user: ALICE,
          callId: "call",
          tool: "send_money",
          verdict: "allow",
          step: 0,
          rule: "allow-it",
          digest,
          approvedBy: anApproval().approvedBy,
          verdictCheck: "recomputed",
        },
      ],
    });
    expect(readMessage(endpoints.listDecisions.answers[200]!, answer)).toEqual({ valid: true, value: answer });
  });

  test.each<[string, Partial<DecisionRecord>, object]>([
    ["a block", { verdict: "block", reason: "call_limit" }, { verdict: "block", reason: "call_limit" }],
    ["an allow that was none", { answer: "invalid_args" }, { verdict: "block", reason: "invalid_args" }],
    ["a hold that was none", { verdict: "hold", answer: "hold_limit" }, { verdict: "block", reason: "hold_limit" }],
    ["a block for another reason", { verdict: "block", reason: "x", answer: "y" }, { verdict: "block", reason: "y" }],
  ])("has the answer of %s", async (_name, over, expected) => {
    await appendEvents(context.store, plan, [decided({ ...over, evidence: { approval: anApproval() } })]);
    const [item] = (await list()).decisions;
    expect(item).toMatchObject(expected);
    expect(item).not.toHaveProperty("approvedBy");
    expect(item).not.toHaveProperty("args");
  });
});

test("people see what was done for them, whatever they ask for", async () => {
  await appendEvents(context.store, plan, [decided()]);
  const own = await addPlan(context.store, { userEmail: BOB });
  await appendEvents(context.store, own, [aDecision(own, "own")]);
  const ofBob = [expect.objectContaining({ callId: "own" })];
  expect((await list({}, BOB)).decisions).toEqual(ofBob);
  expect((await list({ user: BOB }, BOB)).decisions).toEqual(ofBob);
  expect(await list({ user: ALICE }, BOB)).toEqual({ decisions: [] });
  expect((await list({ agentId: plan.agentId }, BOB)).decisions).toEqual([]);
  expect((await list({ user: BOB })).decisions).toEqual(ofBob);
  expect((await list()).decisions).toHaveLength(2);
});

test("comes in parts, also when decisions are so long that few fit into one", async () => {
  const args = { text: "x".repeat(1_000_000) };
  await appendEvents(
    context.store,
    plan,
    Array.from({ length: 12 }, (_, index) => decided({ callId: `${index}`, args })),
  );
  const found: string[] = [];
  const lengths: number[] = [];
  let after: string | undefined;
  do {
    const answer = await list({ limit: 100, ...(after !== undefined && { after }) });
    found.push(...answer.decisions.map(({ callId }) => callId));
    lengths.push(answer.decisions.length);
    after = answer.next;
  } while (after !== undefined);
  expect(found).toEqual(Array.from({ length: 12 }, (_, index) => `${11 - index}`));
  expect(lengths).toEqual([5, 5, 2]);
});

test.each(["x", "", "1.1", "1.1.", "1.1.a b", "-1.1.a", "1.a.1", "1.1.a' OR 1=1", "9999999999999999.1.a"])(
  "nothing goes on after %j",
  async (after) => {
    await expect(list({ after })).rejects.toMatchObject({ code: "invalid_request" });
  },
);
