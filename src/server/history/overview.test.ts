import { beforeEach, describe, expect, test } from "vitest";
import { addHold, createContext, type TestContext } from "../../../test/people.ts";
import { aDecision, addPlan, appendEvents, NOW_MS } from "../../../test/store-builders.ts";
import { overviewAnswerSchema, readMessage } from "../../core/api/index.ts";
import type { DecisionRecord } from "../../core/index.ts";
import { cutTime, getOverview } from "./overview.ts";

const HOUR = 3_600_000;

describe("the time of an overview", () => {
  test("is cut into 24 to 60 parts that begin at round times, whatever is asked for", () => {
    for (let hours = 1; hours <= 8784; hours++) {
      for (const now of [NOW_MS, NOW_MS + 1, NOW_MS + 1234567, Math.ceil(NOW_MS / HOUR) * HOUR]) {
        const { from, partMs, parts } = cutTime(hours * HOUR, now);
        const to = from + parts * partMs;
        const isRight =
          parts >= 24 &&
          parts <= 60 &&
          from % partMs === 0 &&
          from <= now - hours * HOUR &&
          to > now &&
          to - partMs <= now + partMs;
        if (!isRight) expect({ hours, now, from, partMs, parts }).toBeUndefined();
      }
    }
  });

  test.each([
    [1, 2],
    [24, 30],
    [720, 1440],
  ])("of %i hours has parts of %i minutes", (hours, minutes) => {
    expect(cutTime(hours * HOUR, NOW_MS).partMs).toBe(minutes * 60_000);
  });
});

describe("an overview", () => {
  let context: TestContext;
  beforeEach(async () => {
    context = await createContext();
    return () => context.store.close();
  });

  test("has every part, also those in which nothing happened", async () => {
    const { store } = context;
    const plan = await addPlan(store);
    const decided = (over: Partial<DecisionRecord> = {}) => ({ ...(aDecision(plan) as DecisionRecord), ...over });
    const early = await appendEvents(store, plan, [decided()], { now: NOW_MS - 24 * HOUR });
    const block = decided({ verdict: "block", reason: "call_limit", tool: "post_comment" });
    await appendEvents(store, early, [block, decided({ verdict: "hold" }), decided({ answer: "invalid_args" })]);
    await addHold(store);
    const flagged = await addPlan(store);
    await store.plans.flag(flagged.id, { kind: "never_closed" });

    const answer = await getOverview(context, {});
    expect(readMessage(overviewAnswerSchema, answer)).toEqual({ valid: true, value: answer });
    expect(answer.parts.map(({ at }) => at)).toEqual(
      answer.parts.map((_, index) => answer.from + index * answer.partMs),
    );
    expect(answer.to).toBe(answer.from + answer.parts.length * answer.partMs);
    const counted = answer.parts.filter(({ allow, hold, block: blocked }) => allow + hold + blocked > 0);
    expect(counted).toEqual([
      expect.objectContaining({ allow: 1, hold: 0, block: 0 }),
      expect.objectContaining({ allow: 0, hold: 1, block: 2 }),
    ]);
    expect(counted[0]?.at).toBeLessThanOrEqual(NOW_MS - 24 * HOUR);
    expect(answer.parts.at(-1)?.at).toBeLessThanOrEqual(NOW_MS + answer.partMs);
    expect(answer.reasons).toEqual([
      { reason: "call_limit", count: 1 },
      { reason: "invalid_args", count: 1 },
    ]);
    expect(answer.tools).toEqual([
      { tool: "send_money", allow: 1, hold: 1, block: 1 },
      { tool: "post_comment", allow: 0, hold: 0, block: 1 },
    ]);
    expect([answer.pendingHolds, answer.flaggedPlans]).toEqual([1, 1]);
  });

  test("of one agent, or of another time, has nothing else", async () => {
    const { store } = context;
    const plan = await addPlan(store);
    await appendEvents(store, plan, [aDecision(plan)], { now: NOW_MS - 5 * HOUR });
    const other = await addPlan(store);
    const sum = async (query: object): Promise<number> =>
      (await getOverview(context, query)).parts.reduce((total, { allow }) => total + allow, 0);
    expect(await sum({ agentId: plan.agentId })).toBe(1);
    expect(await sum({ agentId: other.agentId })).toBe(0);
    expect(await sum({ agentId: "none" })).toBe(0);
    expect(await sum({ hours: 4 })).toBe(0);
    expect(await sum({ hours: 5 })).toBe(1);
  });
});
