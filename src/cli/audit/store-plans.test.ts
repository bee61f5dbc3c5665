import { expect, onTestFinished, test } from "vitest";
import { storePlan } from "../../../test/command-lines.ts";
import { addAgent, addPlan, anAppend, NOW_MS } from "../../../test/store-builders.ts";
import { openStore, type Store } from "../../server/store/index.ts";
import type { KeptPlan } from "./audit-report.ts";
import { readStorePlans } from "./store-plans.ts";

async function aStore(): Promise<Store> {
  const store = await openStore({ sqlite: ":memory:" });
  onTestFinished(() => store.close());
  return store;
}

async function readAll(plans: AsyncGenerator<KeptPlan>): Promise<KeptPlan[]> {
  const all: KeptPlan[] = [];
  for await (const plan of plans) all.push(plan);
  return all;
}

test("each plan is read once, however many there are", async () => {
  const store = await aStore();
  const owner = await addAgent(store);
  const ids: string[] = [];
  // Many have one time: pages are told apart by the id, too.
  for (let index = 0; index < 120; index++) {
    ids.push((await addPlan(store, { ...owner, createdAt: NOW_MS + Math.floor(index / 40) })).id);
  }
  const read = (await readAll(readStorePlans(store, {}))).map(({ planId }) => planId);
  expect([read.length, new Set(read)]).toEqual([120, new Set(ids)]);
});

test("all entries of a plan are read, however many there are", async () => {
  const store = await aStore();
  let plan = await addPlan(store);
  for (let index = 0; index < 1001; index++) {
    const append = anAppend(plan);
    await store.plans.append(plan.id, append);
    plan = { ...plan, head: { planId: plan.id, seq: plan.head.seq + 1, prev: append.head ?? null } };
  }
  const [read] = await readAll(readStorePlans(store, { planId: plan.id }));
  expect(read?.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 1002 }, (_, seq) => seq));
  expect(read).toMatchObject({ count: 1002, head: plan.head.prev });
});

test("only the plans of one agent are read, and one that has none is no mistake", async () => {
  const store = await aStore();
  const [one, other] = [await addAgent(store), await addAgent(store)];
  const id = await storePlan(store, one);
  const [agent, empty] = [await store.agents.get(one.agentId), await store.agents.get(other.agentId)];
  expect((await readAll(readStorePlans(store, { agent }))).map(({ planId }) => planId)).toEqual([id]);
  expect(await readAll(readStorePlans(store, { agent: empty }))).toEqual([]);
  const notTheirs = readAll(readStorePlans(store, { agent: empty, planId: id }));
  await expect(notTheirs).rejects.toMatchObject({ code: "ERR_NOT_FOUND" });
});

test("a plan that goes on while it is read ends where it was", async () => {
  const store = await aStore();
  const owner = await addAgent(store);
  const plans = [await addPlan(store, owner), await addPlan(store, owner)];
  const reading = readStorePlans(store, {});
  const { value: first } = await reading.next();
  for (const plan of plans) await store.plans.append(plan.id, anAppend(plan));
  const { value: second } = await reading.next();
  expect(first).toMatchObject({ count: 1, entries: [{ seq: 0 }] });
  expect(second).toEqual({ ...second, count: 1, head: plans.find(({ id }) => id === second?.planId)?.head.prev });
  expect(second?.entries).toHaveLength(1);
});
