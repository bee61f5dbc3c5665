import { beforeEach, describe, expect, test, vi } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import {
  addHold,
  addPeople,
  addPerson,
  addPlanHold,
  CAROL,
  createContext,
  type TestContext,
} from "../../../test/people.ts";
import { BOB, NOW_MS } from "../../../test/store-builders.ts";
import { type InboxQuery, inboxItemSchema, readMessage } from "../../core/api/index.ts";
import type { Role } from "../../core/index.ts";
import type { Hold } from "../store/index.ts";
import { decideHold } from "./decide-hold.ts";
import { listInbox } from "./list-inbox.ts";

let context: TestContext;

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  return () => context.store.close();
});

async function list(email: string, query: InboxQuery = {}) {
  return await listInbox(context, (await context.store.people.get(email))!, query);
}

async function idsOf(email: string, query: InboxQuery = {}): Promise<readonly string[]> {
  return (await list(email, query)).holds.map(({ holdId }) => holdId);
}

describe("the inbox", () => {
  test("shows all of what is asked", async () => {
    const { hold, plan } = await addHold(context.store);
    const [item] = (await list(CAROL)).holds;
    expect(item).toMatchObject({
      holdId: hold.id,
      status: "pending",
      kind: "call",
      planId: plan.id,
      agentName: `agent ${plan.agentId}`,
      user: ALICE,
      task: { instruction: "Pay the rent" },
      tool: "send_money",
      args: { to: "landlord", amount: 20 },
      step: 0,
      rule: "hold-money",
      ruleReason: "Money",
      createdAt: NOW_MS,
      expiresAt: NOW_MS / 1000 + 300,
    });
    expect(readMessage(inboxItemSchema, JSON.parse(JSON.stringify(item)))).toEqual({ valid: true, value: item });
  });

  test("shows a plan that waits", async () => {
    const { hold } = await addPlanHold(context.store);
    const [item] = (await list(CAROL)).holds;
    expect(item).toMatchObject({ holdId: hold.id, kind: "plan", plan: { goal: "Pay the rent" } });
    expect(readMessage(inboxItemSchema, item).valid).toBe(true);
  });

  test.each<[string, string, readonly Role[], boolean]>([
    ["an approver", CAROL, ["approver"], true],
    ["a member", CAROL, ["member"], false],
    ["an administrator", CAROL, ["admin"], false],
    ["the person that the agent acts for", ALICE, ["approver"], false],
    ["the owner of the key", BOB, ["approver"], false],
  ])("has for %s what they may decide", async (_who, email, roles, isThere) => {
    const { hold } = await addHold(context.store);
    await addPerson(context.store, email, roles);
    expect(await idsOf(email)).toEqual(isThere ? [hold.id] : []);
  });

  test("has nothing that nobody can decide any more", async () => {
    await addHold(context.store, { expiresAt: NOW_MS });
    const { plan } = await addHold(context.store);
    await context.store.plans.setStatus(plan.id, "revoked", { from: ["open"], now: NOW_MS });
    const { hold } = await addHold(context.store);
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "approve" });
    expect(await idsOf(CAROL)).toEqual([]);
  });

  test("has the history for those that it concerns", async () => {
    const { hold } = await addHold(context.store, { approvers: { emails: [CAROL] } });
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "reject", comment: "no" });
    for (const [email, role] of [
      ["root@acme.dev", "admin"],
      ["dave@acme.dev", "approver"],
    ] as const) {
      await addPerson(context.store, email, [role]);
    }
    const status = "rejected";
    expect((await list(CAROL, { status })).holds).toMatchObject([{ holdId: hold.id, decidedBy: CAROL, comment: "no" }]);
    expect(await idsOf(ALICE, { status })).toEqual([hold.id]);
    expect(await idsOf("root@acme.dev", { status })).toEqual([hold.id]);
    expect(await idsOf("dave@acme.dev", { status })).toEqual([]);
    expect(await idsOf(BOB, { status })).toEqual([]);
    expect(await idsOf(CAROL, { status: "approved" })).toEqual([]);
  });

  test("comes in parts, without those of others", async () => {
    const own: Hold[] = [];
    for (let index = 0; index < 9; index += 1) {
      const isOwn = index % 2 === 0;
      // Two of each end at once.
      const over = { expiresAt: NOW_MS + 9000 - 1000 * (index >> 2), ...(!isOwn && { approvers: { emails: [BOB] } }) };
      const { hold } = await addHold(context.store, over);
      if (isOwn) own.push(hold);
    }
    own.sort((one, other) => one.expiresAt - other.expiresAt || (one.id < other.id ? -1 : 1));
    const found: string[] = [];
    let after: string | undefined;
    do {
      const answer = await list(CAROL, { limit: 2, ...(after !== undefined && { after }) });
      expect(answer.holds.length).toBeLessThanOrEqual(2);
      found.push(...answer.holds.map(({ holdId }) => holdId));
      after = answer.next;
    } while (after !== undefined);
    expect(found).toEqual(own.map(({ id }) => id));
  });

  test("has what was decided last first, in parts", async () => {
    const decided: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { hold } = await addHold(context.store, { createdAt: NOW_MS - index });
      // Two at the same moment.
      if (index !== 1) context.advance(10);
      await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "approve" });
      decided.unshift(hold.id);
    }
    const query = { status: "approved", limit: 2 } as const;
    const first = await list(CAROL, query);
    const second = await list(CAROL, { ...query, after: first.next! });
    const third = await list(CAROL, { ...query, after: second.next! });
    const found = [first, second, third].flatMap(({ holds }) => holds);
    expect(new Set(found.map(({ holdId }) => holdId))).toEqual(new Set(decided));
    expect(found.map(({ decidedAt }) => decidedAt)).toEqual([40, 30, 20, 10, 10].map((later) => NOW_MS + later));
    expect(third.next).toBeUndefined();
  });

  test("ends a part when it is long, and loses nothing", async () => {
    const text = "x".repeat(900_000);
    for (let index = 0; index < 6; index += 1) await addHold(context.store, { args: { text, index } });
    const first = await list(CAROL);
    expect(first.holds).toHaveLength(4);
    const second = await list(CAROL, { after: first.next! });
    expect(second.holds).toHaveLength(2);
    expect(second.next).toBeUndefined();
  });

  test("asks as often for many as for one", async () => {
    const reads = async (): Promise<number> => {
      const { holds, plans, agents, apiKeys } = context.store;
      const spies = [
        ...(["heads", "getAll", "get"] as const).map((name) => vi.spyOn(holds, name)),
        ...(["texts", "states", "get", "state"] as const).map((name) => vi.spyOn(plans, name)),
        ...(["getAll", "get"] as const).map((name) => vi.spyOn(agents, name)),
        ...(["listOf", "list"] as const).map((name) => vi.spyOn(apiKeys, name)),
      ];
      await list(CAROL);
      const count = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      for (const spy of spies) spy.mockRestore();
      return count;
    };
    await addHold(context.store);
    const forOne = await reads();
    for (let index = 0; index < 20; index += 1) await addHold(context.store);
    expect(await reads()).toBe(forOne);
  });

  test.each(["x", "", "1.", "1.a b", "-1.a", "1.a' OR 1=1", "99999999999999999.a"])(
    "refuses to go on after %j",
    async (after) => {
      await expect(list(CAROL, { after })).rejects.toMatchObject({ code: "invalid_request" });
    },
  );
});
