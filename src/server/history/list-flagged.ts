import type { FlaggedPlansAnswer, FlaggedPlansQuery } from "../../core/api/index.ts";
import { cutPart, readCursor } from "../admin/take-part.ts";
import type { ServerContext } from "../handler.ts";
import { statusOf } from "../plans/describe-plan.ts";

/** As many as are in one part: each may say twenty things that are not so. */
const PAGE = 100;

/**
 * The plans that somebody should look at, the newest first.
 *
 * @throws ProblemError `invalid_request` for an `after` that is none
 */
export async function listFlagged(
  { store, clock }: Pick<ServerContext, "store" | "clock">,
  { limit = PAGE, after, agentId, from }: FlaggedPlansQuery,
): Promise<FlaggedPlansAnswer> {
  const most = Math.min(limit, PAGE);
  const found = await store.plans.listFlagged({
    limit: most + 1,
    ...(agentId !== undefined && { agentId }),
    ...(from !== undefined && { from }),
    ...(after !== undefined && { before: readPlace(after) }),
  });
  const { items, ...rest } = cutPart(found, most, ({ createdAt, id }) => `${createdAt}.${id}`);
  const agents = await store.agents.getAll([...new Set(items.map((plan) => plan.agentId))]);
  const now = clock();
  const plans = items.map((plan) => {
    const agent = agents.find(({ id }) => id === plan.agentId);
    const { id: planId, userEmail: user, createdAt, flagged } = plan;
    const status = statusOf(plan, agent, now);
    return { planId, status, agentId: plan.agentId, agentName: agent?.name ?? "", user, createdAt, flagged };
  });
  return { plans, ...rest };
}

function readPlace(text: string): { readonly createdAt: number; readonly id: string } {
  const [createdAt, id = ""] = readCursor(text, /^(\d{1,15})\.([\w-]{1,200})$/);
  return { createdAt: Number(createdAt), id };
}
