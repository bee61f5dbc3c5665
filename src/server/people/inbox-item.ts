import type { InboxItemAnswer, SimilarCall } from "../../core/api/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { describeStatus } from "../holds/describe-hold.ts";
import type { Hold, HoldHead, Person, Store, StoredEntry } from "../store/index.ts";
import { describeHolds } from "./list-inbox.ts";
import { HoldSight } from "./may-see.ts";

/** As many earlier calls as are looked at for one to compare with; of all plans few, some of which may be redacted. */
const MAX_APPROVED = 100;
/** Entries with their arguments. */
const MAX_UNDER_PLAN = 30;
const MAX_ALLOWED = 10;
const MAX_BYTES = 4_194_304;

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
  const similar = await findSimilar(context, { person, sight, hold, head });
  const grounds = await findGrounds(store, hold);
  return { ...item, ...describeStatus(hold, clock()), ...grounds, ...(similar && { similar }) };
}

/** What of the decision's record says where the call's values came from, and which of them nothing has fixed. */
async function findGrounds(
  { auditEntries }: Pick<Store, "auditEntries">,
  { planId, decisionSeq, rule, digest }: Hold,
): Promise<Pick<InboxItemAnswer, "unpinned" | "sources">> {
  if (decisionSeq === null) return {};
  const [stored] = await auditEntries.ofPlan(planId, { fromSeq: decisionSeq, limit: 1 });
  const event = stored?.entry.event;
  if (stored?.entry.seq !== decisionSeq || event?.type !== "decision" || event.digest !== digest) return {};
  const { sources, unpinned } = event;
  // Under a newer policy another rule may hold it.
  return { ...(sources && { sources }), ...(unpinned && event.rule === rule && { unpinned }) };
}

interface Compared {
  readonly person: Person;
  readonly sight: HoldSight;
  readonly hold: Hold;
  readonly head: HoldHead;
}

/**
 * The last earlier call of the same agent and tool that was let through, of what the person may see anyway: calls under
 * the same plan, calls for themselves (for administrators: for anybody), and calls of holds that they may see.
 */
async function findSimilar(
  { store }: Pick<ServerContext, "store">,
  compared: Compared,
): Promise<SimilarCall | undefined> {
  const { tool, decisionSeq } = compared.hold;
  if (tool === null || decisionSeq === null) return undefined;
  const call = { ...compared, tool, decisionSeq };
  const found = [
    await findUnderPlan(store, call),
    await findAllowed(store, call),
    await findApproved(store, call),
  ].filter((similar) => similar !== undefined);
  // Of two at once the first: what is under the same plan is the most alike.
  return found.reduce<SimilarCall | undefined>((last, one) => (last && last.at >= one.at ? last : one), undefined);
}

interface ComparedCall extends Compared {
  readonly tool: string;
  readonly decisionSeq: number;
}

async function findUnderPlan(
  { auditEntries }: Store,
  { hold, head, tool, decisionSeq }: ComparedCall,
): Promise<SimilarCall | undefined> {
  const fromSeq = Math.max(0, decisionSeq - MAX_UNDER_PLAN);
  const entries = await auditEntries.ofPlan(hold.planId, { fromSeq, limit: MAX_UNDER_PLAN });
  return entries
    .filter(({ entry }) => entry.seq < decisionSeq)
    .flatMap((entry) => toSimilar(entry, tool, head.plan.userEmail))
    .at(-1);
}

async function findAllowed(
  { auditEntries }: Store,
  { person, hold, tool }: ComparedCall,
): Promise<SimilarCall | undefined> {
  const whose = person.roles.includes("admin") ? {} : { userEmail: person.email };
  const filter = { agentId: hold.agentId, tool, verdict: "allow", to: hold.createdAt, ...whose } as const;
  const { decisions } = await auditEntries.decisions({ ...filter, limit: MAX_ALLOWED, maxBytes: MAX_BYTES });
  return decisions.flatMap((decision) => toSimilar(decision, tool, decision.userEmail))[0];
}

async function findApproved({ holds }: Store, { sight, hold, tool }: ComparedCall): Promise<SimilarCall | undefined> {
  const { agentId, createdAt } = hold;
  const approved = await holds.approved({ agentId, tool, before: createdAt, limit: MAX_APPROVED });
  const [last] = await sight.filter(approved);
  const before = last && (await holds.get(last.id));
  if (before?.args === undefined || before.decisionSeq === null) return undefined;
  const { planId, decisionSeq: seq, createdAt: at, args } = before;
  return { planId, seq, at, args, verdict: "allow", user: last?.plan.userEmail ?? "" };
}

function toSimilar({ entry }: StoredEntry, tool: string, user: string): SimilarCall[] {
  const { planId, seq, at, event } = entry;
  if (event.type !== "decision" || event.tool !== tool || event.args === undefined) return [];
  if (event.verdict !== "allow" || event.answer !== undefined) return [];
  return [{ planId, seq, at, args: event.args, verdict: "allow", user }];
}
