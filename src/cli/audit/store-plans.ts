import type { Agent, Store, StoredEntry, StoredPlan } from "../../server/store/index.ts";
import { CliError } from "../exit-codes.ts";
import { printable } from "../output/printable.ts";
import type { KeptPlan } from "./audit-report.ts";

const PLANS_PER_PAGE = 50;
const ENTRIES_PER_PAGE = 1000;

/** Which of the plans. */
export interface PlanSelection {
  readonly agent?: Agent | undefined;
  readonly planId?: string | undefined;
}

/** The plans of the server's store with their entries, newest first; of those that wait for a person there are none. */
export async function* readStorePlans(store: Store, { agent, planId }: PlanSelection): AsyncGenerator<KeptPlan> {
  if (planId !== undefined) {
    const plan = await store.plans.get(planId);
    if (!plan || (agent && plan.agentId !== agent.id)) {
      throw new CliError("ERR_NOT_FOUND", `There is no plan ${printable(planId)}${agent ? " of this agent" : ""}.`);
    }
    yield await readPlan(store, plan);
    return;
  }
  let before: StoredPlan | undefined;
  do {
    const page = await store.plans.list({
      limit: PLANS_PER_PAGE,
      ...(agent && { agentId: agent.id }),
      ...(before && { before: { createdAt: before.createdAt, id: before.id } }),
    });
    for (const plan of page) yield await readPlan(store, plan);
    before = page.at(-1);
  } while (before);
}

async function readPlan(store: Store, { id: planId, agentId, task, seq, head }: StoredPlan): Promise<KeptPlan> {
  const stored: StoredEntry[] = [];
  try {
    for (;;) {
      const page = await store.auditEntries.ofPlan(planId, { fromSeq: stored.length, limit: ENTRIES_PER_PAGE });
      stored.push(...page);
      if (page.length < ENTRIES_PER_PAGE) break;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { planId, agentId, entries: [], unreadable: "an entry is not JSON" };
  }
  const entries = stored.map(({ entry }) => entry);
  // The server may be at work: what came after the plan was read is not looked at. Without that, more is too much.
  const hasMoved = (await store.plans.state(planId))?.seq !== seq;
  return { planId, agentId, task, entries: hasMoved ? entries.slice(0, seq) : entries, count: seq, head };
}
