import { randomUUID } from "node:crypto";
import { type AuditEvent, type ChainHead, chainEntry, startChain } from "../src/core/index.ts";
import type { NewHold, NewPlan, PlanAppend, Store } from "../src/server/store/index.ts";
import { ALICE, aPlan, NOW } from "./builders.ts";

/** The time of every test, in milliseconds since the epoch. */
export const NOW_MS: number = NOW * 1000;
export const BOB = "bob@acme.dev";

export interface Owner {
  readonly agentId: string;
  readonly apiKeyId: string;
}

/** An agent with an API key. */
export async function addAgent(store: Store): Promise<Owner> {
  const agentId = randomUUID();
  const apiKeyId = randomUUID();
  await store.agents.create({ id: agentId, name: `agent ${agentId}`, settings: {}, createdAt: NOW_MS });
  const names = { id: apiKeyId, agentId, hash: `hash ${apiKeyId}`, prefix: "ilk_abc" };
  await store.apiKeys.create({ ...names, owner: BOB, mayActFor: null, createdAt: NOW_MS });
  return { agentId, apiKeyId };
}

/** An open plan with its first entry, of an agent of its own unless told whose it is. */
export async function addPlan(store: Store, over: Partial<NewPlan> = {}): Promise<PlanInStore> {
  const owner = over.agentId === undefined ? await addAgent(store) : undefined;
  const id = over.id ?? randomUUID();
  const jti = `jti ${id}`;
  const { entry, head } = chainEntry(startChain(id), { type: "plan_signed", token: `token ${id}` }, { at: NOW_MS });
  const plan: NewPlan = {
    ...(owner ?? { agentId: "", apiKeyId: "" }),
    id,
    userEmail: ALICE,
    task: { instruction: "Pay the rent" },
    taskDigest: "sha256:0",
    plan: aPlan(),
    tools: {},
    clientKey: null,
    createdAt: NOW_MS,
    status: "open",
    ...(over.status === "pending" ? {} : { token: { jti, token: `token ${id}`, expiresAt: NOW_MS + 900_000 } }),
    entries: [entry],
    head: head.prev!,
    ...over,
  };
  await store.plans.create(plan);
  return { id, jti, agentId: plan.agentId, apiKeyId: plan.apiKeyId, head };
}

export interface PlanInStore extends Owner {
  readonly id: string;
  readonly jti: string;
  /** Of its chain, after the first entry. */
  readonly head: ChainHead;
}

/** A decision under a plan's token. */
export function aDecision(plan: { readonly jti: string }, callId = "call"): AuditEvent {
  return { type: "decision", jti: plan.jti, callId, tool: "send_money", used: [0], now: NOW, verdict: "allow" };
}

/** An append of one decision, that takes a call. */
export function anAppend(plan: PlanInStore, over: Partial<PlanAppend> & { event?: AuditEvent } = {}): PlanAppend {
  const { event = aDecision(plan), ...rest } = over;
  const { entry, head } = chainEntry(plan.head, event, { at: NOW_MS });
  return {
    expectSeq: plan.head.seq,
    entries: [entry],
    head: head.prev,
    used: [1],
    spent: { calls: 1, payoutMicros: 5 },
    openCalls: { [plan.head.seq]: { step: 0, payoutMicros: 5, at: NOW_MS } },
    now: NOW_MS,
    ...rest,
  };
}

/** Appends events to a plan, one a millisecond, that take no calls. @returns the plan with the head that it then has */
export async function appendEvents(
  store: Store,
  plan: PlanInStore,
  events: readonly AuditEvent[],
  over: Partial<PlanAppend> = {},
): Promise<PlanInStore> {
  let { head } = plan;
  const from = over.now ?? NOW_MS;
  for (const [index, event] of events.entries()) {
    const now = from + index;
    const append = anAppend({ ...plan, head }, { event, used: [0], openCalls: {}, ...over, now });
    if (!(await store.plans.append(plan.id, append))) throw new Error("nothing was appended");
    head = { planId: plan.id, seq: head.seq + 1, prev: append.head };
  }
  return { ...plan, head };
}

/** A hold of a call under a plan. */
export function aHold(plan: PlanInStore, over: Partial<NewHold> = {}): NewHold {
  return {
    id: randomUUID(),
    kind: "call",
    planId: plan.id,
    agentId: plan.agentId,
    decisionSeq: 1,
    callId: "call",
    tool: "send_money",
    fingerprint: "sha256:tool",
    args: { to: "landlord", amount: 20 },
    digest: "sha256:call",
    step: 0,
    rule: "hold-money",
    ruleReason: "Money",
    approvers: { roles: ["approver"] },
    createdAt: NOW_MS,
    expiresAt: NOW_MS + 300_000,
    ...over,
  };
}

/** A person's approval. */
export function anApproval(now: number = NOW_MS): {
  readonly status: "approved";
  readonly by: string;
  readonly comment: string;
  readonly approval: string;
  readonly approvalExpiresAt: number;
  readonly now: number;
} {
  return { status: "approved", by: BOB, comment: "fine", approval: "token", approvalExpiresAt: now + 60_000, now };
}
