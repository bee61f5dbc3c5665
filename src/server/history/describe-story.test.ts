import { beforeEach, describe, expect, test } from "vitest";
import { ALICE, aJwt, anApproval, aPlan, NOW } from "../../../test/builders.ts";
import { addHold, addPeople, addPerson, CAROL, createContext, type TestContext } from "../../../test/people.ts";
import { aDecision, addPlan, aHold, appendEvents, NOW_MS, type PlanInStore } from "../../../test/store-builders.ts";
import { readMessage, type StoryQuery, storyAnswerSchema } from "../../core/api/index.ts";
import type { AuditEvent, DecisionRecord } from "../../core/index.ts";
import { describeStory } from "./describe-story.ts";

const ROOT = "root@acme.dev";
let context: TestContext;

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  await addPerson(context.store, ROOT, ["admin"]);
  return () => context.store.close();
});

async function tell(planId: string, query: StoryQuery = {}, email = ROOT) {
  return await describeStory(context, (await context.store.people.get(email))!, { planId, ...query });
}

function decided(plan: PlanInStore, over: Partial<DecisionRecord> = {}): DecisionRecord {
  return { ...(aDecision(plan) as DecisionRecord), ...over };
}

describe("the story of a plan", () => {
  test("has the plan, all that happened and its holds, and no token", async () => {
    const { hold, plan } = await addHold(context.store);
    const token = await aJwt({ jti: "second", exp: NOW + 900 });
    const events: AuditEvent[] = [
      decided(plan, { verdict: "hold", args: { to: "landlord" } }),
      { type: "hold", decisionSeq: 1, holdId: hold.id },
      { type: "approval", decisionSeq: 1, approval: anApproval() },
      { type: "refresh", token },
      { type: "outcome", decisionSeq: 1, status: "ok", durationMs: 5 },
      { type: "closed" },
    ];
    await appendEvents(context.store, plan, events, { verdictChecks: ["recomputed"] });
    const story = await tell(plan.id);
    expect(story.plan).toMatchObject({
      planId: plan.id,
      status: "open",
      agentName: `agent ${plan.agentId}`,
      user: ALICE,
      task: { instruction: "Pay the rent" },
      plan: aPlan(),
      seq: 7,
    });
    expect(story.plan).not.toHaveProperty("flagged");
    const { holdId, approvedBy } = anApproval();
    expect(story.entries.map(({ event }) => event)).toEqual([
      { type: "plan_signed", jti: "", expiresAt: 0 },
      events[0],
      events[1],
      { type: "approval", decisionSeq: 1, holdId, approvedBy },
      { type: "refresh", jti: "second", expiresAt: NOW + 900 },
      events[4],
      events[5],
    ]);
    expect(story.entries[1]).toMatchObject({ seq: 1, at: NOW_MS, receivedAt: NOW_MS, verdictCheck: "recomputed" });
    expect(story.entries[0]).not.toHaveProperty("verdictCheck");
    expect(story.holds).toMatchObject([{ holdId: hold.id, tool: "send_money" }]);
    expect(story.next).toBeUndefined();
    const text = JSON.stringify(story);
    for (const secret of [token, token.split(".")[1]!, `token ${plan.id}`]) expect(text).not.toContain(secret);
    expect(readMessage(storyAnswerSchema, JSON.parse(text))).toEqual({ valid: true, value: story });
  });

  test.each([
    ["no text of a token", "x"],
    ["no number", { jti: "a", exp: "soon" }],
    ["a time that is none", { jti: "a", exp: -1 }],
    ["an id that is none", { jti: { a: 1 }, exp: NOW }],
    ["an endless id", { jti: "x".repeat(100_000), exp: NOW }],
  ])("says nothing of a token that has %s", async (_name, payload) => {
    const plan = await addPlan(context.store);
    const token = typeof payload === "string" ? payload : `e30.${btoa(JSON.stringify(payload))}.x`;
    await appendEvents(context.store, plan, [{ type: "refresh", token }]);
    const event = (await tell(plan.id)).entries[1]?.event as { jti: string; expiresAt: number };
    expect(event.jti.length).toBeLessThanOrEqual(200);
    expect(readMessage(storyAnswerSchema, await tell(plan.id)).valid).toBe(true);
  });

  test("says why somebody should look at it, unless somebody has", async () => {
    const { id } = await addPlan(context.store);
    await context.store.plans.flag(id, { kind: "never_closed", at: 5 });
    expect((await tell(id)).plan.flagged).toEqual({ kind: "never_closed", at: 5 });
    await context.store.plans.setStatus(id, "revoked", { from: ["open"], now: NOW_MS });
    await context.store.plans.flag(id, { kind: "revoked", by: ROOT, reason: "wrong" });
    const { plan } = await tell(id);
    expect(plan).toMatchObject({ status: "revoked", reason: "wrong" });
    expect(plan).not.toHaveProperty("flagged");
  });

  test("is for nobody else, and does not say that there is one", async () => {
    const { plan } = await addHold(context.store, { approvers: { emails: [CAROL] } });
    await addPerson(context.store, "eve@acme.dev", ["approver"]);
    expect((await tell(plan.id, {}, CAROL)).holds).toHaveLength(1);
    expect((await tell(plan.id, {}, ALICE)).holds).toHaveLength(1);
    const errors = await Promise.all(
      [plan.id, "none"].map((id) => tell(id, {}, "eve@acme.dev").catch((error: unknown) => error)),
    );
    for (const error of errors) expect(error).toMatchObject({ code: "not_found", more: {} });
  });
});

describe("a long story", () => {
  /** Every part of it. */
  async function tellAll(planId: string, query: StoryQuery = {}) {
    const parts = [];
    let after: string | undefined;
    do {
      const { from, ...rest } = query;
      const place = after === undefined ? from !== undefined && { from } : { after };
      const part = await tell(planId, { ...rest, ...place });
      parts.push(part);
      after = part.next;
    } while (after !== undefined);
    return parts;
  }

  test("comes in parts of 200 entries at most", async () => {
    const plan = await addPlan(context.store);
    await appendEvents(
      context.store,
      plan,
      Array.from({ length: 450 }, () => decided(plan)),
    );
    const parts = await tellAll(plan.id, { limit: 1000 });
    expect(parts.map(({ entries }) => entries.length)).toEqual([200, 200, 51]);
    const seqs = parts.flatMap(({ entries }) => entries.map(({ seq }) => seq));
    expect(seqs).toEqual(Array.from({ length: 451 }, (_, seq) => seq));
    expect((await tell(plan.id, { limit: 3 })).entries).toHaveLength(3);
  });

  test("begins with the entry that is asked for, and has all of the holds", async () => {
    const plan = await addPlan(context.store);
    const decisions = Array.from({ length: 9 }, () => decided(plan));
    await appendEvents(context.store, plan, decisions);
    const { hold } = await context.store.holds.open(aHold(plan, { decisionSeq: 1 }), { maxHolds: 9 });
    const parts = await tellAll(plan.id, { from: 3, limit: 4 });
    expect(parts.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([
      [3, 4, 5, 6],
      [7, 8, 9],
    ]);
    expect(parts.map(({ holds }) => holds.map(({ holdId }) => holdId))).toEqual([[hold!.id], []]);
    const { entries, next } = await tell(plan.id, { from: 10 });
    expect([entries, next]).toEqual([[], undefined]);
    expect((await tell(plan.id, { from: Number.MAX_SAFE_INTEGER })).entries).toEqual([]);
    await expect(tell(plan.id, { from: 3, after: "4.0" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("comes in parts that can be carried: of long entries there are fewer, and of holds too", async () => {
    const plan = await addPlan(context.store);
    const args = { text: "x".repeat(1_000_000) };
    await appendEvents(
      context.store,
      plan,
      Array.from({ length: 6 }, () => decided(plan, { args })),
    );
    for (let decisionSeq = 1; decisionSeq <= 10; decisionSeq++) {
      await context.store.holds.open(aHold(plan, { decisionSeq, args, digest: `sha256:${"b".repeat(64)}` }), {
        maxHolds: 20,
      });
    }
    const parts = await tellAll(plan.id);
    expect(parts.map(({ entries, holds }) => [entries.length, holds.length])).toEqual([
      [5, 4],
      [2, 4],
      [0, 2],
    ]);
    const holds = parts.flatMap((part) => part.holds.map(({ holdId }) => holdId));
    expect(new Set(holds).size).toBe(10);
    for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(9_000_000);
  });

  test("goes on behind an entry that is too long for any part", async () => {
    const plan = await addPlan(context.store);
    const token = "x".repeat(5_000_000);
    await appendEvents(context.store, plan, [
      { type: "refresh", token },
      { type: "refresh", token },
    ]);
    const parts = await tellAll(plan.id);
    expect(parts.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([[0], [1], [2]]);
  });

  test.each(["x", "", "1", "1.", "-1.0", "1.1.1", "9999999999999999.1"])("does not go on after %j", async (after) => {
    const { id } = await addPlan(context.store);
    await expect(tell(id, { after })).rejects.toMatchObject({ code: "invalid_request" });
  });
});
