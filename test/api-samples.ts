import type { endpoints } from "../src/core/api/index.ts";
import { digestCall } from "../src/core/index.ts";
import { AGENT, ALICE, aCall, anApproval, aPlan, KEY, NOW, PLAN_ID } from "./builders.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const MS = NOW * 1000;
const task = { instruction: "Pay the rent", material: "Invoice 7", earlier: ["Hello"] };
const signed = { planId: PLAN_ID, plan: aPlan(), token: "a.b.c", expiresAt: NOW, serverTime: MS };
const record = {
  planId: PLAN_ID,
  status: "open",
  agentId: AGENT,
  user: ALICE,
  task,
  plan: aPlan(),
  createdAt: MS,
  expiresAt: NOW,
  seq: 3,
  reason: "wrong person",
};
const hold = { holdId: "hold-1", status: "pending", expiresAt: NOW };
const decided = {
  callId: "call-1",
  tool: "send_money",
  planId: PLAN_ID,
  digest: digestCall(aCall()),
  elapsedUs: 7,
  seq: 1,
};
const settings = {
  planTtlSeconds: 900,
  planMaxAgeSeconds: 86_400,
  maxHolds: 20,
  approvePlans: false,
  budget: { session: { calls: 1 } },
};
const agent = { agentId: AGENT, name: "Triage", enabled: true, settings, createdAt: MS, policyVersion: 1 };
const key = {
  keyId: "key-1",
  agentId: AGENT,
  owner: ALICE,
  actsFor: [ALICE],
  name: "laptop",
  createdAt: MS,
  lastUsedAt: MS,
  revokedAt: MS,
};
const person = { email: ALICE, roles: ["member"], groups: ["interns"], name: "Alice", createdAt: MS };
const session = { email: ALICE, roles: ["admin"], groups: ["interns"], csrf: "x", expiresAt: MS };
const version = { agentId: AGENT, version: 1, createdAt: MS, createdBy: ALICE, comment: "first" };
const webhook = { webhookId: "webhook-1", url: "https://acme.dev/hook", events: ["hold.pending"], createdAt: MS };
const signingKey = { kid: KEY.kid, status: "retiring", createdAt: MS, retiresAt: MS };
const entry = { at: MS, event: { type: "closed" }, planId: PLAN_ID, prev: null, seq: 0, v: 1 };
const inHistory = {
  planId: PLAN_ID,
  seq: 1,
  agentId: AGENT,
  agentName: "Triage",
  user: ALICE,
  receivedAt: MS,
  verdictCheck: "recomputed",
};
const decisionFilter = {
  agentId: AGENT,
  user: ALICE,
  tool: "send_money",
  verdict: "block",
  reason: "call_limit",
  from: "0",
  to: String(MS),
};
const decisionRecord = {
  type: "decision",
  jti: "token-1",
  callId: "call-1",
  tool: "send_money",
  fingerprint: DIGEST,
  digest: DIGEST,
  args: { to: "landlord" },
  used: [0],
  now: NOW,
  evidence: {
    approval: anApproval(aCall({ fingerprint: DIGEST })),
    ledger: { session: { calls: 0, payoutMicros: 0 }, principal: { calls: 0, payoutMicros: 0 } },
  },
  verdict: "block",
  reason: "call_limit",
  step: 0,
  rule: "hold-it",
  answer: "hold_requires_server",
};

const inboxItem = {
  ...hold,
  kind: "call",
  planId: PLAN_ID,
  agentId: AGENT,
  agentName: "Triage",
  user: ALICE,
  task,
  plan: aPlan(),
  createdAt: MS,
  digest: DIGEST,
  approvers: { roles: ["approver"] },
  tool: "send_money",
  fingerprint: DIGEST,
  args: { to: "landlord" },
  step: 0,
  rule: "hold-it",
  ruleReason: "big",
  decidedAt: MS,
  decidedBy: ALICE,
  comment: "fine",
};

interface Sample {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, string>>;
  /** By status, with every optional field in one of them. */
  readonly answers: Readonly<Record<number, readonly Readonly<Record<string, unknown>>[]>>;
}

/** What may be asked of each endpoint and what it may answer, with every optional field. */
export const samples: { readonly [Name in keyof typeof endpoints]: Sample } = {
  signPlan: {
    body: {
      user: ALICE,
      task,
      plan: aPlan({ args: { to: { eq: "landlord" } }, maxCalls: 1 }),
      tools: { send_money: DIGEST },
      clientKey: KEY.publicKey,
      approvePlan: true,
    },
    answers: { 201: [signed], 202: [{ planId: PLAN_ID, status: "pending", holdId: "hold-1", serverTime: MS }] },
  },
  refreshPlan: { answers: { 201: [signed] } },
  revokePlan: { body: { reason: "wrong person" }, answers: { 200: [{ ...record, status: "revoked" }] } },
  getPlan: { answers: { 200: [record] } },
  leasePlan: { body: { holder: "worker-1" }, answers: { 200: [{ leaseUntil: MS }] } },
  resumePlan: {
    body: { holder: "worker-1", clientKey: KEY.publicKey },
    answers: {
      200: [
        {
          ...signed,
          leaseUntil: MS,
          taskDigest: DIGEST,
          used: [1],
          spent: { calls: 1, payoutMicros: 0 },
          seq: 4,
          head: DIGEST,
          openHolds: [
            { ...hold, decisionSeq: 2, callId: "call-1", tool: "send_money", digest: DIGEST, status: "approved" },
          ],
        },
      ],
    },
  },
  reserveBudget: {
    body: { total: { calls: 10, payoutMicros: 5 } },
    answers: { 200: [{ reserved: { calls: 10, payoutMicros: 0 } }] },
  },
  check: {
    body: {
      planId: PLAN_ID,
      token: "a.b.c",
      call: {
        ...aCall({ fingerprint: DIGEST }),
        approval: "a.b.c",
        refusal: { reason: "invalid_args", stage: "schema", detail: "amount is no number" },
      },
      peek: true,
    },
    answers: {
      200: [
        {
          decision: {
            ...decided,
            verdict: "allow",
            step: 0,
            rule: "allow-in-plan",
            budgetRemaining: { session: { calls: 1 }, principal: { calls: 0, payoutMicros: 5 } },
            payoutMicros: 1,
            principalId: ALICE,
            approvedBy: "bob@acme.dev",
          },
        },
        {
          decision: {
            ...decided,
            verdict: "hold",
            step: 0,
            rule: "hold-it",
            approvers: { roles: ["admin"], emails: [ALICE], self: true },
            timeoutSeconds: 300,
            ruleReason: "Payments need a second pair of eyes",
          },
        },
        {
          decision: {
            ...decided,
            verdict: "block",
            reason: "call_limit",
            message: "Blocked by Intentlock (call_limit): used up",
            stage: "limits",
            step: 0,
            rule: "no-more",
          },
        },
      ],
    },
  },
  recordOutcome: {
    body: { outcome: { type: "outcome", planId: PLAN_ID, decisionSeq: 1, status: "ok", durationMs: 1.5 } },
    answers: { 200: [{ recorded: true }] },
  },
  openHold: { body: { planId: PLAN_ID, decisionSeq: 1, args: aCall().args }, answers: { 201: [hold] } },
  getHold: {
    query: { waitSeconds: "30" },
    answers: {
      200: [
        hold,
        { ...hold, status: "approved", approvedBy: ALICE, approval: "a.b.c", comment: "fine" },
        { ...hold, status: "rejected", comment: "no" },
      ],
    },
  },
  claimHold: { body: { approval: "a.b.c" }, answers: { 200: [{ claimed: true }] } },
  decideHold: { body: { decision: "approve", comment: "fine" }, answers: { 200: [{ ...hold, status: "approved" }] } },
  listInbox: {
    query: { limit: "10", after: "x", status: "pending" },
    answers: {
      200: [
        {
          holds: [inboxItem],
          next: "x",
        },
      ],
    },
  },
  watchInbox: { answers: { 200: [{ holdId: "hold-1", status: "approved" }, {}] } },
  getInboxItem: {
    answers: {
      200: [
        {
          ...inboxItem,
          similar: { planId: PLAN_ID, seq: 1, at: MS, args: { to: "landlord" }, verdict: "allow", user: ALICE },
        },
      ],
    },
  },
  uploadAudit: {
    body: { planId: PLAN_ID, entries: [entry], signature: "a.b.c" },
    answers: { 200: [{ receipt: "a.b.c", seq: 1 }] },
  },
  listDecisions: {
    query: { limit: "10", after: "x", ...decisionFilter },
    answers: {
      200: [
        {
          decisions: [
            {
              ...inHistory,
              at: MS,
              callId: "call-1",
              tool: "send_money",
              verdict: "block",
              reason: "call_limit",
              step: 0,
              rule: "hold-it",
              digest: DIGEST,
              approvedBy: ALICE,
            },
          ],
          next: "x",
        },
      ],
    },
  },
  exportDecisions: {
    query: decisionFilter,
    answers: { 200: [{ ...inHistory, entry: { ...entry, event: decisionRecord } }] },
  },
  getStory: {
    query: { from: "5", limit: "10", after: "1" },
    answers: {
      200: [
        {
          plan: { ...record, agentName: "Triage", flagged: { kind: "never_closed", at: MS } },
          entries: [
            { type: "plan_signed", jti: "token-1", expiresAt: NOW },
            { type: "refresh", jti: "token-1", expiresAt: NOW },
            decisionRecord,
            { type: "hold", decisionSeq: 1, holdId: "hold-1" },
            { type: "approval", decisionSeq: 1, holdId: "hold-1", approvedBy: ALICE },
            { type: "outcome", decisionSeq: 1, status: "ok", durationMs: 1.5 },
            { type: "closed" },
          ].map((event, seq) => ({ seq, at: MS, receivedAt: MS, event, verdictCheck: "differs" })),
          holds: [inboxItem],
          next: "x",
        },
      ],
    },
  },
  listFlaggedPlans: {
    query: { flagged: "true", agentId: AGENT, from: "1", limit: "1", after: "x" },
    answers: {
      200: [
        {
          plans: [
            {
              planId: PLAN_ID,
              status: "expired",
              agentId: AGENT,
              agentName: "Triage",
              user: ALICE,
              createdAt: MS,
              flagged: { kind: "never_closed", at: MS },
            },
          ],
          next: "x",
        },
      ],
    },
  },
  getOverview: {
    query: { hours: "24", agentId: AGENT },
    answers: {
      200: [
        {
          from: MS,
          to: MS + 60_000,
          partMs: 60_000,
          parts: [{ at: MS, allow: 1, hold: 2, block: 3 }],
          reasons: [{ reason: "call_limit", count: 3 }],
          tools: [{ tool: "send_money", allow: 1, hold: 2, block: 3 }],
          pendingHolds: 1,
          flaggedPlans: 1,
        },
      ],
    },
  },
  validatePolicy: {
    body: { text: "version: 1" },
    answers: { 200: [{ valid: false, issues: [{ path: "rules", message: "missing", line: 1, column: 1 }] }] },
  },
  testPolicy: {
    body: {
      agent: "Triage",
      text: "version: 1",
      replay: 50,
      calls: [{ callId: "call-1", tool: "send_money", args: {}, user: ALICE }],
    },
    answers: {
      200: [
        {
          rows: [
            {
              callId: "call-1",
              tool: "send_money",
              planId: PLAN_ID,
              seq: 1,
              at: MS,
              user: ALICE,
              args: { amount: 1 },
              before: null,
              after: { verdict: "block", reason: "no_matching_rule", rule: "x" },
              changed: true,
            },
          ],
          changed: 1,
          notRecomputable: 0,
        },
      ],
    },
  },
  pushPolicy: { body: { text: "version: 1", comment: "first", baseVersion: 0 }, answers: { 201: [version] } },
  listPolicies: { query: { limit: "1", after: "x" }, answers: { 200: [{ policies: [version], next: "x" }] } },
  getPolicy: { answers: { 200: [{ ...version, text: "version: 1" }] } },
  createAgent: { body: { name: "Triage", settings }, answers: { 201: [agent] } },
  listAgents: { query: { limit: "1", after: "x" }, answers: { 200: [{ agents: [agent], next: "x" }] } },
  updateAgent: { body: { name: "Triage", settings, enabled: true }, answers: { 200: [agent] } },
  disableAgent: { answers: { 200: [agent] } },
  createKey: {
    body: { owner: ALICE, actsFor: [ALICE], name: "laptop" },
    answers: { 201: [{ ...key, key: `ilk_${"x".repeat(43)}` }] },
  },
  listKeys: { query: { limit: "1", after: "x" }, answers: { 200: [{ keys: [key], next: "x" }] } },
  revokeKey: { answers: { 200: [key] } },
  savePerson: { body: { roles: ["member"], groups: ["interns"], name: "Alice" }, answers: { 200: [person] } },
  listPeople: { query: { limit: "1", after: "x" }, answers: { 200: [{ people: [person], next: "x" }] } },
  removePerson: { answers: { 200: [{ removed: true }] } },
  createSignInLink: { answers: { 201: [{ url: "https://lock.acme.dev/sign-in#x", expiresAt: MS }] } },
  listAdminAudit: {
    query: { limit: "1", after: "1" },
    answers: {
      200: [
        {
          entries: [
            { seq: 0, at: MS, actor: ALICE, action: "agent.create", target: AGENT, details: { name: "Triage" } },
          ],
          next: "x",
        },
      ],
    },
  },
  signIn: { body: { token: "x" }, answers: { 201: [session] } },
  getSession: { answers: { 200: [session] } },
  signOut: { answers: { 200: [{ removed: true }] } },
  createWebhook: {
    body: { url: "https://acme.dev/hook", events: ["hold.pending", "hold.decided"], agentId: AGENT },
    answers: { 201: [{ ...webhook, agentId: AGENT, secret: "x" }] },
  },
  listWebhooks: { query: { limit: "1", after: "x" }, answers: { 200: [{ webhooks: [webhook], next: "x" }] } },
  removeWebhook: { answers: { 200: [{ removed: true }] } },
  getKeySet: { answers: { 200: [{ keys: [KEY.publicKey] }] } },
  listSigningKeys: { answers: { 200: [{ keys: [signingKey] }] } },
  rotateSigningKey: { answers: { 201: [signingKey] } },
  getApi: { answers: { 200: [{ openapi: "3.1.0" }] } },
  getHealth: { answers: { 200: [{ status: "ok" }] } },
  getReadiness: { answers: { 200: [{ status: "ok" }] } },
};

/** One entry of each kind of event, with every optional field. Not a chain. */
export const sampleEntries: readonly Readonly<Record<string, unknown>>[] = [
  { type: "plan_signed", token: "a.b.c" },
  { type: "refresh", token: "a.b.c" },
  decisionRecord,
  { type: "hold", decisionSeq: 1, holdId: "hold-1" },
  { type: "approval", decisionSeq: 1, approval: anApproval() },
  { type: "outcome", decisionSeq: 1, status: "ok", durationMs: 1.5 },
  { type: "closed" },
].map((event) => ({ ...entry, event }));
