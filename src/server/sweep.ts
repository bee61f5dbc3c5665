import type { ServerContext } from "./handler.ts";
import { isOver } from "./plans/plan-over.ts";
import type { Agent, StoredPlan } from "./store/index.ts";

const MAX_PAGES = 20;
const PAGE = 500;
/** Windows of rate limits are shorter. */
const RATE_LIMITS_KEPT_MS = 86_400_000;

/** Plans last for hours: those that nobody closed are looked for this seldom, among those without a call as long. */
const LOOK_FOR_UNCLOSED_MS = 600_000;

/**
 * What has to be done from time to time, by any of the servers of a store: ends holds that nobody decided in time, and,
 * more seldom, flags plans that are over and were never closed, and forgets old counts, sessions and sign-in links.
 */
export function createSweep(context: ServerContext): () => Promise<void> {
  const { store, clock } = context;
  let looked = Number.NEGATIVE_INFINITY;
  return async () => {
    for (let page = 0; page < MAX_PAGES; page++) {
      if ((await store.holds.expire(clock())).length < PAGE) break;
    }
    if (clock() < looked + LOOK_FOR_UNCLOSED_MS) return;
    looked = clock();
    await flagUnclosed(context);
    await store.signIn.sweep(clock());
    await store.rateLimits.sweep(clock() - RATE_LIMITS_KEPT_MS);
  };
}

/** A client that was killed, or one that keeps its last entries to itself. */
async function flagUnclosed({ store, clock, log }: ServerContext): Promise<void> {
  const agents = new Map<string, Agent | undefined>();
  let before: { readonly createdAt: number; readonly id: string } | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const plans: readonly StoredPlan[] = await store.plans.list({
      status: "open",
      flagged: false,
      idleSince: clock() - LOOK_FOR_UNCLOSED_MS,
      limit: PAGE,
      ...(before && { before }),
    });
    for (const plan of plans) {
      if (!agents.has(plan.agentId)) agents.set(plan.agentId, await store.agents.get(plan.agentId));
      const agent = agents.get(plan.agentId);
      if (!agent || !isOver(plan, agent, clock())) continue;
      await store.plans.flag(plan.id, { kind: "never_closed", at: clock() });
      await store.holds.cancelOfPlan(plan.id, clock());
      log.warn({ planId: plan.id, agentId: plan.agentId }, "plan was never closed");
    }
    const last = plans.at(-1);
    if (!last || plans.length < PAGE) return;
    before = { createdAt: last.createdAt, id: last.id };
  }
}
