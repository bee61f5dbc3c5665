import { randomUUID } from "node:crypto";
import { type AuditEvent, type ChainHead, chainEntry, type DecisionRecord, startChain } from "../../src/core/index.ts";
import type { Store } from "../../src/server/store/index.ts";
import { addAgent, addPlan, aHold, type PlanInStore } from "../../test/store-builders.ts";

export const DECISIONS = 200_000;
export const HOLDS = 1000;
export const ROOT = "root@acme.dev";
/** For whom half of everything was done, a five-hundredth of it, and nothing. */
export const MUCH = "user-0@acme.dev";
export const SOME = "user-1@acme.dev";
export const NOTHING = "nobody@acme.dev";
/** Of so few decisions that most of the history is passed over. */
export const RARE_TOOL = "wipe_disk";
export const RARE_REASON = "tool_changed";

const DAYS = 30;
const PLANS = 2000;
const AGENTS = 20;
const USERS = 250;
/** Decisions that are appended at once, as a client uploads them. */
const BATCH = 10;
const PARALLEL = 64;
const TOOLS = Array.from({ length: 30 }, (_, index) => `tool_${index}`);
const REASONS = [
  "not_in_plan",
  "call_limit",
  "no_matching_rule",
  "only-public-repo",
  "invalid_args",
  "budget_exhausted",
];

/** Numbers as good as random, the same each time. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Thirty days of decisions of twenty agents, the first of which makes half of them. @returns the first agent's id */
export async function fillHistory(store: Store, now: number): Promise<string> {
  const random = createRandom();
  const owners = await Promise.all(Array.from({ length: AGENTS }, () => addAgent(store)));
  for (const email of [ROOT, MUCH, SOME, NOTHING]) {
    const roles = email === ROOT ? (["admin"] as const) : (["member"] as const);
    await store.people.upsert({ email, roles, groups: [], createdAt: now, disabledAt: null });
  }
  const ofEach = DECISIONS / PLANS;
  const begin = now - DAYS * 86_400_000;
  let index = 0;
  for (let first = 0; first < PLANS; first += PARALLEL) {
    await Promise.all(
      Array.from({ length: Math.min(PARALLEL, PLANS - first) }, async (_, offset) => {
        const number = first + offset;
        const at = begin + Math.floor((number / PLANS) * DAYS * 86_400_000);
        const owner = owners[number % 2 === 0 ? 0 : number % AGENTS] as (typeof owners)[number];
        const userEmail = number % 2 === 1 ? MUCH : `user-${1 + ((number / 2) % USERS)}@acme.dev`;
        const plan = await addPlan(store, { ...owner, userEmail, createdAt: at });
        const events = Array.from({ length: ofEach }, () => aDecision(plan, index++, random));
        await appendAll(store, plan, events, at);
        const decisionSeq = 1;
        if (number >= PLANS - HOLDS) {
          await store.holds.open(aHold(plan, { decisionSeq, createdAt: now, expiresAt: now + 86_400_000 }), {
            maxHolds: 1,
          });
        }
      }),
    );
  }
  return (owners[0] as (typeof owners)[number]).agentId;
}

/** One plan with many calls. */
export async function addLongPlan(store: Store, now: number, count: number): Promise<string> {
  const random = createRandom();
  const plan = await addPlan(store, { userEmail: SOME, createdAt: now - 60_000 });
  const events = Array.from({ length: count }, (_, index) => aDecision(plan, index, random));
  await appendAll(store, plan, events, now - 60_000);
  return plan.id;
}

function aDecision(plan: PlanInStore, index: number, random: () => number): DecisionRecord {
  const isRare = index % (DECISIONS / 4) === 77;
  const [chance, tool] = [random(), TOOLS[Math.floor(random() ** 2 * TOOLS.length)] as string];
  const verdict = isRare || chance < 0.08 ? "block" : chance < 0.1 ? "hold" : "allow";
  const reason = isRare ? RARE_REASON : (REASONS[Math.floor(random() * REASONS.length)] as string);
  return {
    type: "decision",
    jti: plan.jti,
    callId: `call_${randomUUID()}`,
    tool: isRare ? RARE_TOOL : tool,
    fingerprint: `sha256:${"0".repeat(64)}`,
    digest: `sha256:${"1".repeat(64)}`,
    args: { repo: "acme/public-app", issue: index, body: "Thanks for the report. This is fixed on main. ".repeat(3) },
    used: [0],
    now: Math.floor(Date.now() / 1000),
    verdict,
    ...(verdict === "block" ? { reason } : { step: 0, rule: "allow-in-plan" }),
  };
}

async function appendAll(store: Store, plan: PlanInStore, events: readonly AuditEvent[], from: number): Promise<void> {
  let head: ChainHead = plan.head ?? startChain(plan.id);
  for (let first = 0; first < events.length; first += BATCH) {
    const now = from + first * 50;
    const expectSeq = head.seq;
    const entries = events.slice(first, first + BATCH).map((event) => {
      const chained = chainEntry(head, event, { at: now });
      head = chained.head;
      return chained.entry;
    });
    const state = { used: [0], spent: { calls: 0, payoutMicros: 0 }, openCalls: {} };
    const happened = await store.plans.append(plan.id, { expectSeq, entries, head: head.prev, now, ...state });
    if (!happened) throw new Error("nothing was appended");
  }
}
