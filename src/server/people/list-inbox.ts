import type { InboxAnswer, InboxItem, InboxQuery } from "../../core/api/index.ts";
import { readCursor } from "../admin/take-part.ts";
import type { ServerContext } from "../handler.ts";
import type { HoldHead, HoldPlace, Person, Store } from "../store/index.ts";
import { describeHold } from "./describe-hold.ts";
import { HoldSight, waits } from "./may-see.ts";

const DEFAULT_LIMIT = 100;
const PAGE = 500;
/** As many holds as are looked through for one answer; the next begins where it ended. */
const MAX_LOOKED_AT = 5000;
/** As long as the tasks, plans and arguments of one answer are together; one hold is always in it. */
const MAX_BYTES = 4_194_304;

/**
 * The holds that a person may decide now, what ends first first. Of the decided ones those that {@link HoldSight} lets
 * them see, the last decided first.
 *
 * @throws ProblemError `invalid_request` for an `after` that is none
 */
export async function listInbox(
  context: Pick<ServerContext, "store" | "clock">,
  person: Person,
  { status = "pending", limit = DEFAULT_LIMIT, after }: InboxQuery,
): Promise<InboxAnswer> {
  const { store } = context;
  const now = context.clock();
  const sight = new HoldSight(context, person);
  const found: HoldHead[] = [];
  let bytes = 0;
  let place = after === undefined ? undefined : readPlace(after);
  const end = async (isLast: boolean): Promise<InboxAnswer> => {
    const holds = await describeHolds(store, found);
    return { holds, ...(!isLast && place && { next: writeCursor(place) }) };
  };
  for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += PAGE) {
    const heads = await store.holds.heads({ status, now, limit: PAGE, ...(place && { after: place }) });
    const visible = new Set(await sight.filter(heads));
    for (const head of heads) {
      const isFound = visible.has(head) && (status !== "pending" || waits(head, now));
      if (isFound && found.length > 0 && bytes + head.bytes > MAX_BYTES) return await end(false);
      place = { at: head.decidedAt ?? head.expiresAt, id: head.id };
      if (!isFound) continue;
      bytes += head.bytes;
      if (found.push(head) >= limit) return await end(false);
    }
    if (heads.length < PAGE) return await end(true);
  }
  return await end(false);
}

/** Holds as people see them, in the order of their heads, with one query for each table. */
export async function describeHolds(
  { holds, plans, agents }: Pick<Store, "holds" | "plans" | "agents">,
  heads: readonly Pick<HoldHead, "id" | "planId" | "agentId">[],
): Promise<readonly InboxItem[]> {
  const byId = <Item extends { readonly id: string }>(items: readonly Item[]): ReadonlyMap<string, Item> =>
    new Map(items.map((item) => [item.id, item]));
  const ofHolds = byId(await holds.getAll(heads.map(({ id }) => id)));
  const ofPlans = byId(await plans.texts([...new Set(heads.map(({ planId }) => planId))]));
  const ofAgents = byId(await agents.getAll([...new Set(heads.map(({ agentId }) => agentId))]));
  return heads.flatMap(({ id, planId, agentId }) => {
    const [hold, plan, agent] = [ofHolds.get(id), ofPlans.get(planId), ofAgents.get(agentId)];
    return hold && plan && agent ? [describeHold(hold, plan, agent)] : [];
  });
}

function writeCursor({ at, id }: HoldPlace): string {
  return `${at}.${id}`;
}

function readPlace(text: string): HoldPlace {
  const [at, id = ""] = readCursor(text, /^(\d{1,15})\.([\w-]{1,200})$/);
  return { at: Number(at), id };
}
