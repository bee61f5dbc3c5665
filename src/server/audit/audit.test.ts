import { describe, expect, test } from "vitest";
import { AuditClient } from "../../../test/audit-client.ts";
import { ALICE, aPolicy, aRule } from "../../../test/builders.ts";
import {
  aHoldPolicy,
  anAgent,
  approveHold,
  aServer,
  COMMENTS,
  type ServerSetup,
  signedPlan,
  toolFingerprint,
} from "../../../test/servers.ts";
import {
  type Approval,
  type AuditEntry,
  type DecisionRecord,
  describeBatch,
  digestCall,
  generateSigningKey,
  type Ledger,
  openReceipt,
  signBatch,
  startChain,
} from "../../core/index.ts";

const ARGS = { issue: 7, body: "Hello" };

describe("a batch", () => {
  test("is stored with what came of deciding again, and answered with a receipt", async () => {
    const client = await AuditClient.start();
    client.decide();
    client.decide({ tool: "post_comment", used: [1] });
    const { seq } = client.decide({ used: [1] });
    client.write({ type: "outcome", decisionSeq: seq, status: "aborted" });
    const { status, body } = await client.upload();
    expect(status).toBe(200);
    expect(body.seq).toBe(5);
    const keys = await client.server.server.context.keys.publicKeys();
    const receipt = await openReceipt(body.receipt, keys, { audience: client.server.agent.agentId });
    expect(receipt).toMatchObject({
      valid: true,
      claims: { planId: client.plan.planId, seq: 5, head: client.head.prev, receivedAt: client.server.clock.now() },
    });
    expect(await client.checks()).toEqual([null, "recomputed", "recomputed", "recomputed", null]);
    const plan = await client.stored();
    expect(plan).toMatchObject({ used: [1], spent: { calls: 1 }, seq: 5, head: client.head.prev, flagged: null });
  });

  test("sent again changes nothing, as a whole and in part, and gives a receipt for all that is there", async () => {
    const client = await AuditClient.start();
    for (let i = 0; i < 4; i++) client.decide({ used: [i] });
    expect((await client.upload(client.entries.slice(0, 3))).body.seq).toBe(3);
    expect((await client.upload(client.entries.slice(0, 3))).body.seq).toBe(3);
    expect((await client.upload(client.entries.slice(1, 5))).body.seq).toBe(5);
    expect((await client.upload(client.entries.slice(0, 2))).body.seq).toBe(5);
    expect(await client.checks()).toHaveLength(5);
    expect((await client.stored()).used).toEqual([4]);
  });

  test("may come to any server, whatever each remembers", async () => {
    const client = await AuditClient.start();
    const { server: one } = client;
    const other = await aServer({ store: one.store, clock: one.clock });
    for (let i = 0; i < 4; i++) {
      client.decide({ used: [i] });
      const entries = client.entries.slice(i === 0 ? 0 : -1);
      const signature = await signBatch(describeBatch(entries), client.key);
      const body = { planId: client.plan.planId, entries, signature };
      const { apiKey } = one.agent;
      expect((await (i % 2 ? other : one).ask("POST", "/v1/audit", { apiKey, body })).status).toBe(200);
    }
    expect(await client.stored()).toMatchObject({ seq: 5, used: [4], flagged: null });
  });

  test("of several at once is stored once", async () => {
    const client = await AuditClient.start();
    for (let i = 0; i < 4; i++) client.decide({ used: [i] });
    const answers = await Promise.all([client.upload(), client.upload(), client.upload(client.entries.slice(0, 2))]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await client.checks()).toHaveLength(5);
    expect((await client.stored()).used).toEqual([4]);
  });

  test("with redacted arguments is stored, and cannot be decided again", async () => {
    const client = await AuditClient.start();
    const { args: _, ...event } = client.decide().event as DecisionRecord;
    client.entries[1] = { ...(client.entries[1] as AuditEntry), event };
    expect((await client.upload()).status).toBe(200);
    expect(await client.checks()).toEqual([null, "not_recomputable"]);
    expect((await client.stored()).flagged).toBeNull();
  });

  test("may come after the plan was closed or revoked", async () => {
    const client = await AuditClient.start();
    client.decide();
    await client.server.ask("POST", `/v1/plans/${client.plan.planId}/revoke`, { body: {} });
    client.write({ type: "closed" });
    expect((await client.upload()).status).toBe(200);
    expect((await client.stored()).status).toBe("revoked");
    const other = await AuditClient.start();
    const { seq } = other.decide();
    other.write({ type: "closed" });
    await other.upload();
    expect((await other.stored()).status).toBe("closed");
    other.write({ type: "outcome", decisionSeq: seq, status: "ok" });
    expect((await other.upload(other.entries.slice(3))).status).toBe(200);
    expect((await other.stored()).flagged).toBeNull();
  });
});

describe("a batch is refused, and nothing of it stored, that", () => {
  test("leaves a gap: the answer says from where on", async () => {
    const client = await AuditClient.start();
    for (let i = 0; i < 3; i++) client.decide({ used: [i] });
    await client.upload(client.entries.slice(0, 1));
    const { status, body } = await client.upload(client.entries.slice(2));
    expect([status, body.code]).toEqual([409, "audit_gap"]);
    expect(body.chain).toEqual({ seq: 1, head: client.entries[1]?.prev });
    expect(await client.checks()).toHaveLength(1);
  });

  test("follows on something else", async () => {
    const client = await AuditClient.start();
    const [first] = client.entries;
    await client.upload();
    client.head = startChain(client.plan.planId);
    client.entries = [];
    client.write({ type: "refresh", token: "another" });
    client.decide();
    const { body } = await client.upload(client.entries.slice(1));
    expect(body.code).toBe("audit_fork");
    expect(body.chain.seq).toBe(1);
    expect((await client.upload([first as AuditEntry])).status).toBe(200);
  });

  test("says otherwise what was uploaded before", async () => {
    const client = await AuditClient.start();
    const before = client.head;
    client.decide();
    await client.upload();
    client.head = before;
    client.entries = client.entries.slice(0, 1);
    client.decide({ args: { amount: 21 } });
    client.decide({ used: [1] });
    expect((await client.upload()).body.code).toBe("audit_rewritten");
    expect(await client.checks()).toHaveLength(2);
  });

  test("was signed by another key, or over other entries", async () => {
    const client = await AuditClient.start();
    client.decide();
    const signature = await signBatch(describeBatch(client.entries), await generateSigningKey());
    expect((await client.upload(client.entries, { signature })).body.code).toBe("batch_signature_invalid");
    const other = await signBatch(describeBatch(client.entries.slice(0, 1)), client.key);
    expect((await client.upload(client.entries, { signature: other })).body.code).toBe("batch_signature_invalid");
    expect((await client.upload(client.entries, { signature: "a.b.c" })).body.code).toBe("batch_signature_invalid");
    expect(await client.checks()).toEqual([]);
  });

  test.each<[string, (entry: AuditEntry) => unknown]>([
    ["null", () => null],
    ["an unknown kind", (entry) => ({ ...entry, event: { type: "magic" } })],
    ["a field too many", (entry) => ({ ...entry, note: "hi" })],
    ["a __proto__", (entry) => JSON.parse(JSON.stringify(entry).replace("{", '{"__proto__":{},'))],
    ["another plan's number", (entry) => ({ ...entry, planId: "other" })],
    ["another version", (entry) => ({ ...entry, v: 2 })],
    ["other arguments", (entry) => ({ ...entry, event: { ...entry.event, args: { amount: 1 } } })],
    ["another place", (entry) => ({ ...entry, seq: 7 })],
  ])("has an entry with %s", async (_name, change) => {
    const client = await AuditClient.start();
    const entry = client.decide();
    const signature = await signBatch(describeBatch(client.entries), client.key);
    const entries = JSON.stringify([client.entries[0], change(entry)]);
    const body = `{"planId":"${client.plan.planId}","signature":"${signature}","entries":${entries}}`;
    const answer = await client.server.ask("POST", "/v1/audit", { body });
    expect(answer.body.code).toBe("entry_invalid");
    expect(answer.body.issues[0].path).toMatch(/^entries\[1\]/);
    expect(await client.checks()).toEqual([]);
  });

  test("is another agent's, or of a plan that the server decides", async () => {
    const client = await AuditClient.start();
    const { apiKey } = await anAgent(client.server.store);
    const signature = await signBatch(describeBatch(client.entries), client.key);
    const body = { planId: client.plan.planId, entries: client.entries, signature };
    expect((await client.server.ask("POST", "/v1/audit", { apiKey, body })).body.code).toBe("not_found");
    const { planId } = await signedPlan(client.server);
    const entries = [{ ...client.entries[0], planId }] as AuditEntry[];
    const other = { planId, entries, signature: await signBatch(describeBatch(entries), client.key) };
    expect((await client.server.ask("POST", "/v1/audit", { body: other })).body.code).toBe("invalid_request");
  });
});

describe("a lie is kept, flags the plan, and the chain goes on:", () => {
  const blocked = aPolicy(aRule({ id: "no-money", match: { tool: "send_money" }, decision: "block" }), aRule());

  test.each<[string, ServerSetup, (client: AuditClient) => void]>([
    [
      "an allow of what the policy blocks",
      { policy: blocked },
      (client) => {
        const { reason: _, ...event } = client.decide().event as DecisionRecord;
        client.entries.pop();
        client.head = { ...client.head, seq: 1, prev: null };
        client.head = { planId: client.plan.planId, seq: 1, prev: describeBatch(client.entries).head };
        client.write({ ...event, verdict: "allow" });
      },
    ],
    [
      "an allow of what is not planned",
      {},
      (client) =>
        client.decide({ tool: "post_comment" }, { verdict: "allow", step: 0, rule: "allow-in-plan", reason: "x" }),
    ],
    [
      "fewer calls than there were",
      {},
      (client) => {
        client.decide();
        client.decide({ used: [0] });
      },
    ],
    ["a token that was never signed", {}, (client) => client.decide({}, { jti: "made-up" })],
    [
      "an approval that nobody gave",
      { policy: aHoldPolicy() },
      (client) =>
        client.decide({
          tool: "post_comment",
          args: ARGS,
          approval: anApprovalOf(client, "none"),
        }),
    ],
    ["an outcome of no call", {}, (client) => client.write({ type: "outcome", decisionSeq: 0, status: "aborted" })],
    ["a refresh with a token of somebody else's", {}, (client) => client.write({ type: "refresh", token: "a.b.c" })],
    [
      "a decision after the end",
      {},
      (client) => {
        client.write({ type: "closed" });
        client.decide();
      },
    ],
  ])("%s", async (_name, setup, lie) => {
    const over = setup.policy && _name.includes("approval") ? COMMENTS : {};
    const client = await AuditClient.start(setup, over);
    lie(client);
    const { status, body } = await client.upload();
    expect(status).toBe(200);
    expect(body.seq).toBe(client.entries.length);
    const { flagged } = await client.stored();
    expect(flagged).toMatchObject({ kind: "audit", doubts: [{ seq: client.entries.length - 1 }] });
    client.write({ type: "closed" });
    expect((await client.upload(client.entries.slice(-1))).status).toBe(200);
  });

  test("a chain that does not begin with its plan", async () => {
    const client = await AuditClient.start();
    client.head = startChain(client.plan.planId);
    client.entries = [];
    client.decide();
    expect((await client.upload()).status).toBe(200);
    expect((await client.stored()).flagged).toMatchObject({ doubts: [{ seq: 0 }] });
  });

  test("its decision is marked, the others are not", async () => {
    const client = await AuditClient.start();
    client.decide();
    client.decide({ used: [0] });
    client.decide({ used: [2] });
    await client.upload();
    expect(await client.checks()).toEqual([null, "recomputed", "differs", "recomputed"]);
  });
});

describe("a hold of a client's", () => {
  async function held() {
    const client = await AuditClient.start({ policy: aHoldPolicy() }, COMMENTS);
    const { seq } = client.decide({ tool: "post_comment", args: ARGS });
    const ask = () =>
      client.server.ask("POST", "/v1/holds", { body: { planId: client.plan.planId, decisionSeq: seq, args: ARGS } });
    return { client, ask };
  }

  test("needs its entry, and can be used for one call", async () => {
    const { client, ask } = await held();
    expect((await ask()).body.code).toBe("not_found");
    await client.upload();
    const opened = await ask();
    expect(opened.status).toBe(201);
    const { holdId } = opened.body;
    const approval = await approveHold(client.server, holdId);
    const claim = { body: { approval } };
    expect((await client.server.ask("POST", `/v1/holds/${holdId}/claim`, claim)).body).toEqual({ claimed: true });
    const evidence = anApprovalOf(client, holdId);
    const from = client.entries.length;
    const { event } = client.decide({ tool: "post_comment", args: ARGS, approval: evidence });
    expect(event).toMatchObject({ verdict: "allow" });
    expect((await client.upload(client.entries.slice(from))).status).toBe(200);
    expect((await client.stored()).flagged).toBeNull();
    client.decide({ tool: "post_comment", args: ARGS, used: [1, 0], approval: evidence });
    await client.upload(client.entries.slice(from + 1));
    expect(await client.checks()).toEqual([null, "recomputed", "recomputed", "differs"]);
    expect((await client.stored()).flagged).toMatchObject({ kind: "audit" });
  });

  test("that was not claimed counts for nothing", async () => {
    const { client, ask } = await held();
    await client.upload();
    const { holdId } = (await ask()).body;
    await approveHold(client.server, holdId);
    client.decide({ tool: "post_comment", args: ARGS, approval: anApprovalOf(client, holdId) });
    await client.upload();
    expect((await client.checks()).at(-1)).toBe("differs");
  });

  test("is not opened for a decision that the client has made up", async () => {
    const client = await AuditClient.start();
    const made = { verdict: "hold", rule: "allow-in-plan" } as const;
    const { seq } = client.decide({ args: ARGS }, made);
    await client.upload();
    const body = { planId: client.plan.planId, decisionSeq: seq, args: ARGS };
    expect((await client.server.ask("POST", "/v1/holds", { body })).body.code).toBe("not_held");
  });
});

test("a plan that is resumed with another key is uploaded with either", async () => {
  const client = await AuditClient.start();
  client.decide();
  const other = await generateSigningKey();
  const path = `/v1/plans/${client.plan.planId}/resume`;
  const { status, body } = await client.server.ask("POST", path, { body: { holder: "b", clientKey: other.publicKey } });
  expect(status).toBe(200);
  expect((await client.upload()).status).toBe(200);
  client.write({ type: "refresh", token: body.token });
  const entries = client.entries.slice(-1);
  const signature = await signBatch(describeBatch(entries), other);
  expect((await client.upload(entries, { signature })).status).toBe(200);
  expect((await client.stored()).flagged).toBeNull();
});

test("outcomes of a plan that its client decides come with its entries alone", async () => {
  const client = await AuditClient.start();
  const outcome = { type: "closed", planId: client.plan.planId };
  expect((await client.server.ask("POST", "/v1/outcomes", { body: { outcome } })).body.code).toBe("invalid_request");
});

function anApprovalOf(client: AuditClient, holdId: string): Approval {
  const exp = client.server.clock.now() / 1000 + 300;
  const action = {
    digest: digestCall({ tool: "post_comment", args: ARGS }),
    fingerprint: toolFingerprint("post_comment"),
  };
  return { holdId, planId: client.plan.planId, rule: "hold-comments", ...action, approvedBy: "bob@acme.dev", exp };
}

describe("a person's budget", () => {
  const settings = { budget: { principal: { calls: 10, windowSeconds: 3600 } } };
  const seen = (session: number, principal: number): { ledger: Ledger } => ({
    ledger: { session: { calls: session, payoutMicros: 0 }, principal: { calls: principal, payoutMicros: 0 } },
  });
  const taken = async ({ server, plan }: AuditClient): Promise<readonly number[]> => {
    const { store, agent } = server;
    const { window } = await store.principalLedgers.get({ agentId: agent.agentId, userEmail: ALICE });
    const reserved = (await store.plans.state(plan.planId))?.reserved?.calls ?? 0;
    return [reserved, window.slots.reduce((sum, { calls }) => sum + calls, 0)];
  };
  const reserve = async ({ server, plan }: AuditClient, calls: number): Promise<void> => {
    const body = { total: { calls, payoutMicros: 0 } };
    expect((await server.ask("POST", `/v1/plans/${plan.planId}/budget`, { body })).status).toBe(200);
  };

  test("is taken from a portion, and what was not taken is given back when the plan is closed", async () => {
    const client = await AuditClient.start({ settings });
    await reserve(client, 4);
    for (let call = 0; call < 3; call++) client.decide({ used: [call], ...seen(call, 6 + call) });
    await client.upload();
    expect(await taken(client)).toEqual([4, 4]);
    client.write({ type: "closed" });
    await client.upload(client.entries.slice(-1));
    expect(await client.checks()).toEqual([null, "recomputed", "recomputed", "recomputed", null]);
    expect((await client.stored()).flagged).toBeNull();
    expect(await taken(client)).toEqual([3, 3]);
    // Of a call that still ran then, and never started.
    client.write({ type: "outcome", decisionSeq: 3, status: "aborted" });
    await client.upload(client.entries.slice(-1));
    await client.upload(client.entries.slice(-1));
    expect(await taken(client)).toEqual([2, 2]);
  });

  test.each<[string, number, Ledger["principal"]["calls"]]>([
    ["a portion that nobody gave", 0, 0],
    ["more than its portion", 1, 8],
    ["the portion of others", 2, 0],
  ])("taken by a client from %s shows", async (_name, portion, counted) => {
    const client = await AuditClient.start({ settings });
    if (portion > 0) await reserve(client, portion);
    const { seq } = client.decide(seen(0, counted - (portion === 1 ? 1 : 0)));
    client.decide({ used: [1], ...seen(1, counted + 1) });
    await client.upload();
    expect((await client.stored()).flagged).toMatchObject({ kind: "audit" });
    expect((await client.checks())[seq]).toBe("differs");
  });

  test("blocks are what they are, whatever they counted", async () => {
    const client = await AuditClient.start({ settings });
    client.decide(seen(0, 10));
    await client.upload();
    expect(await client.checks()).toEqual([null, "recomputed"]);
    expect((await client.stored()).flagged).toBeNull();
  });
});
