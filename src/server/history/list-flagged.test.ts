import { beforeEach, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import { createContext, type TestContext } from "../../../test/people.ts";
import { addAgent, addPlan, NOW_MS } from "../../../test/store-builders.ts";
import type { FlaggedPlansAnswer } from "../../core/api/index.ts";
import { listFlagged } from "./list-flagged.ts";

const DAY = 86_400_000;
let context: TestContext;

beforeEach(async () => {
  context = await createContext();
  return () => context.store.close();
});

async function aFlagged(flagged: unknown, over: Parameters<typeof addPlan>[1] = {}) {
  const plan = await addPlan(context.store, over);
  await context.store.plans.flag(plan.id, flagged);
  return plan;
}

test("says whose plan it is, how it stands and why somebody should look at it", async () => {
  await addPlan(context.store);
  const flagged = { kind: "audit", at: 5, doubts: [{ seq: 3, problem: "nothing waited" }] };
  const { id, agentId } = await aFlagged(flagged);
  const agent = (await context.store.agents.get(agentId))!;
  const plan = { planId: id, agentId, agentName: agent.name, user: ALICE, createdAt: NOW_MS, flagged };
  expect(await listFlagged(context, { flagged: "true" })).toEqual({ plans: [{ ...plan, status: "open" }] });
  context.advance(30 * DAY);
  expect(await listFlagged(context, { flagged: "true" })).toEqual({ plans: [{ ...plan, status: "expired" }] });
});

test("is of a time and of an agent, if that is asked for", async () => {
  const owner = await addAgent(context.store);
  await aFlagged({ kind: "never_closed" });
  await aFlagged({ kind: "never_closed" }, { ...owner, createdAt: NOW_MS - DAY });
  const { id } = await aFlagged({ kind: "never_closed" }, owner);
  const { agentId } = owner;
  const { plans } = await listFlagged(context, { flagged: "true", agentId, from: NOW_MS });
  expect(plans.map(({ planId }) => planId)).toEqual([id]);
});

test("comes in parts, however many are asked for", async () => {
  const owner = await addAgent(context.store);
  const made: string[] = [];
  for (let index = 0; index < 102; index += 1) {
    made.unshift((await aFlagged({ kind: "never_closed" }, { ...owner, createdAt: NOW_MS + index })).id);
  }
  const first = await listFlagged(context, { flagged: "true", limit: 1000 });
  expect(first.plans).toHaveLength(100);
  const last: FlaggedPlansAnswer = await listFlagged(context, { flagged: "true", after: first.next! });
  expect([...first.plans, ...last.plans].map(({ planId }) => planId)).toEqual(made);
  expect(last).not.toHaveProperty("next");
});

test.each(["x", "", "1", "1.", ".a", "1.a b", "-1.a", "1.a' OR 1=1", "9999999999999999.a"])(
  "does not go on after %j",
  async (after) => {
    await expect(listFlagged(context, { flagged: "true", after })).rejects.toMatchObject({ code: "invalid_request" });
  },
);
