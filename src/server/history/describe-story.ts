import type { InboxItem, StoryAnswer, StoryEntry, StoryEvent, StoryQuery } from "../../core/api/index.ts";
import type { AuditEvent } from "../../core/index.ts";
import { readTokenPayload } from "../../core/token-payload.ts";
import { readCursor } from "../admin/take-part.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { describeHolds } from "../people/list-inbox.ts";
import { describePlan } from "../plans/describe-plan.ts";
import type { Person, Store, StoredEntry } from "../store/index.ts";
import { maySeeStory } from "./may-see.ts";
import { countFitting, readPart } from "./read-part.ts";

/** As many entries as are in one part. */
const PAGE = 200;

/** Where a part begins: with which entry, and after how many holds. */
interface StoryPlace {
  readonly seq: number;
  readonly holds: number;
}

/**
 * A plan with what happened under it, part by part; with the first its holds, and with the next ones those that were too
 * long for it. Whoever may not see it is told what they would be told of none.
 *
 * @throws ProblemError `not_found`; `invalid_request` for an `after` that is none, or is given beside `from`
 */
export async function describeStory(
  context: Pick<ServerContext, "store" | "clock">,
  person: Person,
  { planId, limit = PAGE, ...asked }: StoryQuery & { readonly planId: string },
): Promise<StoryAnswer> {
  const { store, clock } = context;
  const place = readPlace(asked);
  const plan = await store.plans.get(planId);
  if (!plan || !(await maySeeStory(context, person, plan))) throw new ProblemError("not_found");
  const agent = await store.agents.get(plan.agentId);
  const entries = await readPart(store, planId, { fromSeq: place.seq, limit: Math.min(limit, PAGE) });
  const { holds, isLast } = await readHolds(store, planId, place.holds);
  const next = { seq: place.seq + entries.length, holds: place.holds + holds.length };
  return {
    plan: {
      ...describePlan(plan, agent, clock()),
      agentName: agent?.name ?? "",
      // Of one that was revoked it says that, and its status says so too.
      ...(plan.flagged !== null && plan.status !== "revoked" && { flagged: plan.flagged }),
    },
    entries: entries.map(describeEntry),
    holds,
    ...((next.seq < plan.seq || !isLast) && { next: writeCursor(next) }),
  };
}

async function readHolds(
  store: Pick<Store, "holds" | "plans" | "agents">,
  planId: string,
  after: number,
): Promise<{ readonly holds: readonly InboxItem[]; readonly isLast: boolean }> {
  const heads = (await store.holds.headsOf(planId)).slice(after);
  const count = countFitting(heads.map(({ bytes }) => bytes));
  return { holds: await describeHolds(store, heads.slice(0, count)), isLast: count === heads.length };
}

function describeEntry({ entry, receivedAt, verdictCheck }: StoredEntry): StoryEntry {
  const { seq, at, event } = entry;
  return { seq, at, receivedAt, event: describeEvent(event), ...(verdictCheck !== null && { verdictCheck }) };
}

/** A token gives whoever has it the plan: it is for the gate alone. */
function describeEvent(event: AuditEvent): StoryEvent {
  switch (event.type) {
    case "plan_signed":
    case "refresh":
      return { type: event.type, ...describeToken(event.token) };
    case "approval": {
      const { holdId, approvedBy } = event.approval;
      return { type: "approval", decisionSeq: event.decisionSeq, holdId, approvedBy };
    }
    case "decision":
    case "hold":
    case "outcome":
    case "closed":
      return event;
    default:
      throw new TypeError(`unknown event ${event satisfies never}`);
  }
}

/** A client may have sent any text as a token; then the plan is flagged. */
function describeToken(token: string): { readonly jti: string; readonly expiresAt: number } {
  const { jti, exp } = readTokenPayload(token) ?? {};
  return {
    jti: typeof jti === "string" && jti.length <= 200 ? jti : "",
    expiresAt: typeof exp === "number" && Number.isSafeInteger(exp) && exp >= 0 ? exp : 0,
  };
}

function writeCursor({ seq, holds }: StoryPlace): string {
  return `${seq}.${holds}`;
}

function readPlace({ after, from }: Pick<StoryQuery, "after" | "from">): StoryPlace {
  if (after === undefined) return { seq: from ?? 0, holds: 0 };
  if (from === undefined) return readStoryCursor(after);
  throw new ProblemError("invalid_request", { issues: [{ path: "from", message: "not given beside after" }] });
}

function readStoryCursor(text: string): StoryPlace {
  const [seq, holds] = readCursor(text, /^(\d{1,15})\.(\d{1,15})$/);
  return { seq: Number(seq), holds: Number(holds) };
}
