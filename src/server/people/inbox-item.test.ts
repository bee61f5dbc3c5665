import { beforeEach, describe, expect, test } from "vitest";
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
import { addPlan, anAppend, BOB, NOW_MS } from "../../../test/store-builders.ts";
import { inboxItemAnswerSchema, readMessage } from "../../core/api/index.ts";
import type { DecisionRecord } from "../../core/index.ts";
import { decideHold } from "./decide-hold.ts";
import { getInboxItem } from "./inbox-item.ts";
import { listInbox } from "./list-inbox.ts";

let context: TestContext;
const ROOT = "root@acme.dev";

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  await addPerson(context.store, ROOT, ["admin"]);
  return () => context.store.close();
});

async function get(email: string, holdId: string) {
  return await getInboxItem(context, (await context.store.people.get(email))!, holdId);
}

async function codeOf(email: string, holdId: string): Promise<string | undefined> {
  return await get(email, holdId).then(
    () => undefined,
    ({ code }) => code,
  );
}

/** A hold that Carol has approved, in a plan of its own. */
async function addApproved(
  ...[over, plan]: Parameters<typeof addHold> extends [unknown, ...infer Rest] ? Rest : never
) {
  const added = await addHold(context.store, over, plan);
  await decideHold(context, { email: CAROL }, { holdId: added.hold.id, decision: "approve" });
  return added;
}

describe("one hold of the inbox", () => {
  test("is what the list shows, with what was approved", async () => {
    const { hold } = await addHold(context.store);
    const [listed] = (await listInbox(context, (await context.store.people.get(CAROL))!, {})).holds;
    const item = await get(CAROL, hold.id);
    expect(item).toEqual(listed);
    expect(item).toMatchObject({ digest: hold.digest, fingerprint: hold.fingerprint, approvers: hold.approvers });
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "approve" });
    const decided = await get(CAROL, hold.id);
    expect(decided).toMatchObject({ status: "approved", decidedAt: NOW_MS, decidedBy: CAROL, digest: hold.digest });
    expect(readMessage(inboxItemAnswerSchema, JSON.parse(JSON.stringify(decided)))).toMatchObject({ valid: true });
  });

  test("is as if it were none for whoever may not see it", async () => {
    const { hold } = await addHold(context.store);
    for (const email of [ALICE, BOB, ROOT]) expect(await codeOf(email, hold.id)).toBe("not_found");
    expect(await codeOf(CAROL, "no-such-hold")).toBe("not_found");
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "reject" });
    expect(await codeOf(BOB, hold.id)).toBe("not_found");
    for (const email of [ALICE, ROOT, CAROL]) expect(await codeOf(email, hold.id)).toBeUndefined();
  });

  test("has expired when its time is over, whether or not that was written", async () => {
    const { hold } = await addHold(context.store, { expiresAt: NOW_MS + 1000 });
    context.advance(1000);
    expect(await get(CAROL, hold.id)).toMatchObject({ status: "expired" });
  });

  test("may be of a plan", async () => {
    const { hold } = await addPlanHold(context.store);
    const item = await get(CAROL, hold.id);
    expect(item).toMatchObject({ kind: "plan", digest: hold.digest });
    expect(item.similar).toBeUndefined();
  });
});

describe("an earlier call to compare with", () => {
  const decision: DecisionRecord = {
    type: "decision",
    jti: "jti",
    callId: "call",
    tool: "send_money",
    args: { to: "landlord", amount: 5 },
    used: [0],
    now: NOW_MS / 1000,
    verdict: "allow",
  };

  test("is the last one that people approved", async () => {
    await addApproved({ args: { amount: 1 }, createdAt: NOW_MS - 3 });
    const { plan } = await addApproved({ args: { amount: 2 }, createdAt: NOW_MS - 2 });
    const { agentId, apiKeyId } = plan;
    const own = { agentId, apiKeyId };
    await addApproved({ args: { amount: 3 }, createdAt: NOW_MS - 1, tool: "read_file" }, own);
    await addHold(context.store, { args: { amount: 4 }, createdAt: NOW_MS - 1 }, own);
    const { hold } = await addHold(context.store, { args: { amount: 5 } }, own);
    await addApproved({ args: { amount: 6 }, createdAt: NOW_MS + 1 }, own);
    expect((await get(CAROL, hold.id)).similar).toEqual({
      planId: plan.id,
      seq: 1,
      at: NOW_MS - 2,
      args: { amount: 2 },
      verdict: "allow",
      user: ALICE,
    });
  });

  test("is none that the person may not see", async () => {
    const { plan } = await addApproved({ args: { secret: 1 }, createdAt: NOW_MS - 2 });
    const { agentId, apiKeyId } = plan;
    const approvers = { emails: ["dave@acme.dev"] };
    await addPerson(context.store, "dave@acme.dev");
    const { hold } = await addHold(context.store, { approvers }, { agentId, apiKeyId });
    expect((await get("dave@acme.dev", hold.id)).similar).toBeUndefined();
  });

  test.each([
    ["an administrator", ROOT, true],
    ["the person for whom it was", "dave@acme.dev", true],
    ["whoever only decides", CAROL, false],
  ])("of another plan is shown to %s: %s", async (_who, email, isShown) => {
    const { store } = context;
    if (email !== CAROL) await addPerson(store, email, email === ROOT ? ["admin", "approver"] : ["approver"]);
    const { hold, plan } = await addHold(store, { createdAt: NOW_MS + 1 });
    const { agentId, apiKeyId } = plan;
    const other = await addPlan(store, { agentId, apiKeyId, userEmail: "dave@acme.dev" });
    await store.plans.append(other.id, anAppend(other, { event: decision }));
    const { args } = decision;
    const similar = { planId: other.id, seq: 1, at: NOW_MS, args, verdict: "allow", user: "dave@acme.dev" };
    expect((await get(email, hold.id)).similar).toEqual(isShown ? similar : undefined);
  });

  test.each<[string, Partial<DecisionRecord>, boolean]>([
    ["was allowed", {}, true],
    ["was blocked", { verdict: "block" }, false],
    ["was blocked outside of the decision", { answer: "plan_revoked" }, false],
    ["was of another tool", { tool: "read_file" }, false],
    ["was redacted", { args: undefined }, false],
  ])("under the same plan is one that %s", async (_what, over, isThere) => {
    const { hold, plan } = await addHold(context.store, { decisionSeq: 2 });
    const { args, ...rest } = { ...decision, ...over };
    const event = { ...rest, ...(args !== undefined && { args }) };
    await context.store.plans.append(plan.id, anAppend(plan, { event }));
    const similar = { planId: plan.id, seq: 1, at: NOW_MS, args: decision.args, verdict: "allow", user: ALICE };
    expect((await get(CAROL, hold.id)).similar).toEqual(isThere ? similar : undefined);
  });
});
