import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALICE, KEY } from "../../../test/builders.ts";
import {
  addHold,
  addPeople,
  addPerson,
  addPlanHold,
  CAROL,
  createContext,
  SERVER,
  type TestContext,
} from "../../../test/people.ts";
import { BOB, NOW_MS } from "../../../test/store-builders.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL, type TestDatabase } from "../../../test/stores.ts";
import { digestCall, openApprovalToken, verifyChain } from "../../core/index.ts";
import { generateSigningKey } from "../../core/signing-key.ts";
import { HOLD_SIGNAL } from "../store/index.ts";
import { APPROVAL_SECONDS, decideHold } from "./decide-hold.ts";

const databases = [
  ["SQLite", createSqliteDatabase] as const,
  ...(POSTGRES_URL === undefined ? [] : [["PostgreSQL", createPostgresDatabase] as const]),
];

describe.each(databases)("a decision about a hold, over %s", (_name, createDatabase) => {
  let database: TestDatabase;
  let context: TestContext;
  beforeAll(async () => {
    database = await createDatabase();
    context = await createContext(await database.open());
    await addPeople(context.store);
  });
  afterAll(() => database.drop());

  const carol = { email: CAROL };
  const approve = (holdId: string, who = carol) => decideHold(context, who, { holdId, decision: "approve" });
  const statusOf = async (id: string) => (await context.store.holds.get(id))?.status;

  test("approves exactly the action that was seen", async () => {
    const { hold, plan } = await addHold(context.store);
    const { promise: told, resolve } = Promise.withResolvers<string | undefined>();
    const stop = context.store.signals.listen(HOLD_SIGNAL, resolve);
    const decided = await decideHold(context, carol, { holdId: hold.id, decision: "approve", comment: "fine" });
    expect(await told).toBe(hold.id);
    stop();
    expect(decided).toMatchObject({ status: "approved", decidedBy: CAROL, comment: "fine", decidedAt: NOW_MS });
    const opened = await openApprovalToken(decided.approval!, [KEY.publicKey], { audience: plan.agentId });
    expect(opened).toMatchObject({
      valid: true,
      claims: {
        iss: SERVER,
        aud: plan.agentId,
        iat: NOW_MS / 1000,
        exp: NOW_MS / 1000 + APPROVAL_SECONDS,
        holdId: hold.id,
        planId: plan.id,
        tool: "send_money",
        rule: "hold-money",
        digest: digestCall({ tool: "send_money", args: { to: "landlord", amount: 20 } }),
        fingerprint: hold.fingerprint,
        approvedBy: CAROL,
      },
    });
    expect(decided.approvalExpiresAt).toBe(NOW_MS + APPROVAL_SECONDS * 1000);
    const others = [(await generateSigningKey()).publicKey];
    expect(await openApprovalToken(decided.approval!, others, { audience: plan.agentId })).toMatchObject({
      valid: false,
    });
  });

  test.each([
    [60, APPROVAL_SECONDS],
    [7200, 7200],
  ])("lets an approval of a hold that waits %s s be used for %s s", async (seconds, lasts) => {
    const { hold } = await addHold(context.store, { expiresAt: NOW_MS + seconds * 1000 });
    expect(await approve(hold.id)).toMatchObject({ approvalExpiresAt: NOW_MS + lasts * 1000 });
  });

  test("is on record, without the arguments", async () => {
    const { hold, plan } = await addHold(context.store);
    const decided = await approve(hold.id);
    const [entry] = await context.store.adminAudit.list({ limit: 1 });
    expect(entry).toMatchObject({ actor: CAROL, action: "hold.approve", target: hold.id, at: NOW_MS });
    expect(entry?.details).toEqual({
      kind: "call",
      planId: plan.id,
      agentId: plan.agentId,
      digest: hold.digest,
      tool: "send_money",
    });
    const chain = (await context.store.auditEntries.ofPlan(plan.id)).map((stored) => stored.entry);
    expect(verifyChain(chain, plan.id).problem).toBeUndefined();
    expect(chain.at(-1)?.event).toMatchObject({
      type: "approval",
      decisionSeq: 1,
      approval: { holdId: hold.id, approvedBy: CAROL },
    });
    for (const text of [JSON.stringify(entry), JSON.stringify(chain), context.logged.join("")]) {
      expect(text).not.toContain("landlord");
      expect(text).not.toContain(decided.approval);
    }
  });

  test("leaves the chain to a client that writes it", async () => {
    const { hold, plan } = await addHold(context.store, {}, { clientKey: KEY.publicKey });
    expect(await approve(hold.id)).toMatchObject({ status: "approved" });
    expect(await context.store.plans.state(plan.id)).toMatchObject({ seq: 1 });
  });

  test("rejects, with the words for the agent", async () => {
    const { hold, plan } = await addHold(context.store);
    const decided = await decideHold(context, carol, { holdId: hold.id, decision: "reject", comment: "Too much" });
    expect(decided).toMatchObject({ status: "rejected", approval: null, comment: "Too much", decidedBy: CAROL });
    expect((await context.store.adminAudit.list({ limit: 1 }))[0]).toMatchObject({
      action: "hold.reject",
      actor: CAROL,
    });
    expect(await context.store.plans.state(plan.id)).toMatchObject({ status: "open", seq: 1 });
  });

  test.each<[string, () => Promise<{ email: string }>, string]>([
    ["the person that the agent acts for", async () => ({ email: ALICE }), "self_approval"],
    ["the owner of the key", async () => ({ email: BOB }), "key_owner_approval"],
    ["somebody the rule does not name", async () => ({ email: "mallory@acme.dev" }), "not_an_approver"],
    ["an administrator whom the rule does not name", async () => ({ email: "root@acme.dev" }), "not_an_approver"],
    ["somebody who was removed meanwhile", async () => ({ email: "gone@acme.dev" }), "not_found"],
  ])("is not for %s", async (_who, who, code) => {
    await addPerson(context.store, ALICE, ["approver"]);
    await addPerson(context.store, BOB, ["approver"]);
    await addPerson(context.store, "mallory@acme.dev");
    await addPerson(context.store, "root@acme.dev", ["admin"]);
    const { hold } = await addHold(context.store);
    const before = await context.store.adminAudit.verify();
    for (const decision of ["approve", "reject"] as const) {
      await expect(decideHold(context, await who(), { holdId: hold.id, decision })).rejects.toMatchObject({ code });
    }
    expect(await statusOf(hold.id)).toBe("pending");
    expect(await context.store.adminAudit.verify()).toEqual(before);
  });

  test("is not for who owns another key of the agent", async () => {
    const { hold, plan } = await addHold(context.store);
    const key = { id: `k ${plan.id}`, agentId: plan.agentId, hash: `h ${plan.id}`, prefix: "ilk_", mayActFor: null };
    await context.store.apiKeys.create({ ...key, owner: CAROL, createdAt: NOW_MS });
    await expect(approve(hold.id)).rejects.toMatchObject({ code: "key_owner_approval" });
  });

  test("goes by the role that a person has at that moment", async () => {
    const { hold } = await addHold(context.store);
    await addPerson(context.store, "eve@acme.dev", ["approver"]);
    const eve = (await context.store.people.get("eve@acme.dev"))!;
    await addPerson(context.store, "eve@acme.dev", ["member"]);
    await expect(approve(hold.id, eve)).rejects.toMatchObject({ code: "not_an_approver" });
  });

  test("is made once: of many at once, one", async () => {
    const { hold, plan } = await addHold(context.store);
    const other = await createContext(await database.open());
    const answers = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => {
        const decision = index % 3 === 0 ? "reject" : "approve";
        return decideHold(index % 2 ? context : other, carol, { holdId: hold.id, decision });
      }),
    );
    const refused = answers.filter((answer) => answer.status === "rejected").map(({ reason }) => reason.code);
    expect(refused).toEqual(Array.from({ length: 11 }, () => "hold_not_pending"));
    const entries = (await context.store.adminAudit.list()).filter(({ target }) => target === hold.id);
    expect(entries).toHaveLength(1);
    const isApproved = (await statusOf(hold.id)) === "approved";
    expect(await context.store.plans.state(plan.id)).toMatchObject({ seq: isApproved ? 2 : 1 });
  });

  test("is not made after the hold's time, by the server's clock", async () => {
    const { hold } = await addHold(context.store, { expiresAt: NOW_MS });
    await expect(approve(hold.id)).rejects.toMatchObject({ code: "hold_expired" });
    const { hold: last } = await addHold(context.store, { expiresAt: NOW_MS + 1 });
    expect(await approve(last.id)).toMatchObject({ status: "approved" });
    await context.store.holds.expire(NOW_MS);
    await expect(approve(hold.id)).rejects.toMatchObject({ code: "hold_expired" });
  });

  test.each(["revoked", "closed", "rejected"] as const)("is not made under a plan that is %s", async (status) => {
    const { hold, plan } = await addHold(context.store);
    await context.store.plans.setStatus(plan.id, status, { from: ["open"], now: NOW_MS });
    await expect(approve(hold.id)).rejects.toMatchObject({ code: "hold_not_pending" });
    expect(await statusOf(hold.id)).toBe("pending");
  });

  test("is not made about what there is not", async () => {
    await expect(approve("none")).rejects.toMatchObject({ code: "not_found" });
  });

  test("approves nothing if the arguments are not those of the digest", async () => {
    const { hold } = await addHold(context.store, { digest: digestCall({ tool: "send_money", args: {} }) });
    await expect(approve(hold.id)).rejects.toThrow("not those of the digest");
    expect(await statusOf(hold.id)).toBe("pending");
  });

  test("about a plan leaves the signing to a refresh", async () => {
    const { hold, plan } = await addPlanHold(context.store);
    expect(await approve(hold.id)).toMatchObject({ status: "approved", approval: null });
    expect(await context.store.plans.state(plan.id)).toMatchObject({ status: "pending", seq: 0 });
  });

  test("about a plan rejects it", async () => {
    const { hold, plan } = await addPlanHold(context.store);
    await decideHold(context, carol, { holdId: hold.id, decision: "reject" });
    expect(await context.store.plans.state(plan.id)).toMatchObject({ status: "rejected" });
  });

  test("about a plan is not for whom it is, nor for the key's owner", async () => {
    const { hold } = await addPlanHold(context.store);
    await addPerson(context.store, ALICE, ["admin"]);
    await addPerson(context.store, BOB, ["approver"]);
    await expect(approve(hold.id, { email: ALICE })).rejects.toMatchObject({ code: "self_approval" });
    await expect(approve(hold.id, { email: BOB })).rejects.toMatchObject({ code: "key_owner_approval" });
  });
});
