import type { InboxItemAnswer, SimilarCall } from "../../core/api/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { describeStatus } from "../holds/describe-hold.ts";
import type { Hold, HoldHead, Person, StoredEntry } from "../store/index.ts";
import { describeHolds } from "./list-inbox.ts";
import { HoldSight } from "./may-see.ts";

/** As many earlier calls as are looked at for one to compare with. */
const MAX_LOOKED_AT = 100;

/**
 * One hold, whatever became of it, with an earlier call to compare it with. Whoever may not see it is told what they would
 * be told of none.
 *
 * @throws ProblemError `not_found`
 */
export async function getInboxItem(
  context: Pick<ServerContext, "store" | "clock">,
  person: Person,
  holdId: string,
): Promise<InboxItemAnswer> {
  const { store, clock } = context;
  const sight = new HoldSight(context, person);
  const head = await store.holds.head(holdId);
  if (!head || !(await sight.maySee(head))) throw new ProblemError("not_found");
  const [item] = await describeHolds(store, [head]);
  const hold = await store.holds.get(holdId);
  if (!item || !hold) throw new ProblemError("not_found");
  const similar = await findSimilar(context, sight, { hold, head });
  return { ...item, ...describeStatus(hold, clock()), ...(similar && { similar }) };
}

/**
 * The last earlier call of the same agent and tool that was let through, of what the person may see anyway: calls under
 * the same plan, and calls that people approved in holds of this inbox.
 */
async function findSimilar(
  { store }: Pick<ServerContext, "store">,
  sight: HoldSight,
  { hold, head }: { readonly hold: Hold; readonly head: HoldHead },
): Promise<SimilarCall | undefined> {
  const { agentId, tool, decisionSeq, createdAt } = hold;
  if (tool === null || decisionSeq === null) return undefined;
  const from = Math.max(0, decisionSeq - MAX_LOOKED_AT);
  const entries = await store.auditEntries.ofPlan(hold.planId, { fromSeq: from, limit: MAX_LOOKED_AT });
  const own = entries
    .filter(({ entry }) => entry.seq < decisionSeq)
    .flatMap((entry) => toSimilar(entry, tool, head.plan.userEmail))
    .at(-1);
  const approved = await store.holds.approved({ agentId, tool, before: createdAt, limit: MAX_LOOKED_AT });
  const last = (await sight.filter(approved)).find(({ id }) => id !== hold.id);
  if (!last || (own && own.at >= last.createdAt)) return own;
  const before = await store.holds.get(last.id);
  if (before?.args === undefined || before.decisionSeq === null) return own;
  const { planId, decisionSeq: seq, createdAt: at, args } = before;
  return { planId, seq, at, args, verdict: "allow", user: last.plan.userEmail };
}

function toSimilar({ entry }: StoredEntry, tool: string, user: string): SimilarCall[] {
  const { planId, seq, at, event } = entry;
  if (event.type !== "decision" || event.tool !== tool || event.args === undefined) return [];
  if (event.verdict !== "allow" || event.answer !== undefined) return [];
  return [{ planId, seq, at, args: event.args, verdict: "allow", user }];
}
