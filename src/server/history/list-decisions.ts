import type { DecisionFilter, DecisionItem, DecisionsAnswer, DecisionsQuery } from "../../core/api/index.ts";
import { answerOf } from "../../core/audit.ts";
import type { DecisionRecord } from "../../core/index.ts";
import { readCursor } from "../admin/take-part.ts";
import type { ServerContext } from "../handler.ts";
import type {
  AgentStore,
  DecisionPlace,
  ListedDecision,
  Person,
  DecisionFilter as StoredFilter,
} from "../store/index.ts";
import { limitToSeen } from "./may-see.ts";

const DEFAULT_LIMIT = 100;
/** As long as the entries that are read for one answer are together; one is always in it. */
export const MAX_BYTES = 4_194_304;

/**
 * The decisions that a person may see, the last received first.
 *
 * @throws ProblemError `invalid_request` for an `after` that is none
 */
export async function listDecisions(
  { store }: Pick<ServerContext, "store">,
  person: Person,
  { limit = DEFAULT_LIMIT, after, ...filter }: DecisionsQuery,
): Promise<DecisionsAnswer> {
  const before = after === undefined ? undefined : readPlace(after);
  const seen = limitToSeen(person, filter);
  if (!seen) return { decisions: [] };
  const request = { ...toStoredFilter(seen), limit, maxBytes: MAX_BYTES, ...(before && { before }) };
  const { decisions, hasMore } = await store.auditEntries.decisions(request);
  const names = await readNames(store.agents, decisions);
  const last = decisions.at(-1);
  return {
    decisions: decisions.map((decision) => describe(decision, names)),
    ...(hasMore && last && { next: writeCursor(toPlace(last)) }),
  };
}

export function toStoredFilter({ user, ...filter }: DecisionFilter): StoredFilter {
  return { ...filter, ...(user !== undefined && { userEmail: user }) };
}

/** The names of agents by their ids. */
export async function readNames(
  agents: Pick<AgentStore, "getAll">,
  decisions: readonly ListedDecision[],
): Promise<ReadonlyMap<string, string>> {
  const found = await agents.getAll([...new Set(decisions.map(({ agentId }) => agentId))]);
  return new Map(found.map(({ id, name }) => [id, name]));
}

/** What a list and an export say of a decision beside what is on record. */
export function describePlace(
  { entry, agentId, userEmail, receivedAt, verdictCheck }: ListedDecision,
  names: ReadonlyMap<string, string>,
): Pick<DecisionItem, "planId" | "seq" | "agentId" | "agentName" | "user" | "receivedAt" | "verdictCheck"> {
  return {
    planId: entry.planId,
    seq: entry.seq,
    agentId,
    agentName: names.get(agentId) ?? "",
    user: userEmail,
    receivedAt,
    ...(verdictCheck !== null && { verdictCheck }),
  };
}

function describe(decision: ListedDecision, names: ReadonlyMap<string, string>): DecisionItem {
  // Only decisions are listed.
  const event = decision.entry.event as DecisionRecord;
  const { callId, tool, step, rule, digest, evidence } = event;
  const { verdict, reason } = answerOf(event);
  const approvedBy = verdict === "allow" ? evidence?.approval?.approvedBy : undefined;
  return {
    ...describePlace(decision, names),
    at: decision.entry.at,
    callId,
    tool,
    verdict,
    ...(reason !== undefined && { reason }),
    ...(step !== undefined && { step }),
    ...(rule !== undefined && { rule }),
    ...(digest !== undefined && { digest }),
    ...(approvedBy !== undefined && { approvedBy }),
  };
}

export function toPlace({ entry, receivedAt }: ListedDecision): DecisionPlace {
  return { receivedAt, planId: entry.planId, seq: entry.seq };
}

function writeCursor({ receivedAt, planId, seq }: DecisionPlace): string {
  return `${receivedAt}.${seq}.${planId}`;
}

function readPlace(text: string): DecisionPlace {
  const [receivedAt, seq, planId = ""] = readCursor(text, /^(\d{1,15})\.(\d{1,15})\.([\w-]{1,200})$/);
  return { receivedAt: Number(receivedAt), planId, seq: Number(seq) };
}
