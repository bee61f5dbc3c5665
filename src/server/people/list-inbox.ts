import type { InboxAnswer, InboxQuery } from "../../core/api/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import type { ApiKey, Hold, Person, PlanState, Store } from "../store/index.ts";
import { describeHold } from "./describe-hold.ts";
import { findRefusal, listKeyOwners } from "./may-decide.ts";

const DEFAULT_LIMIT = 100;
const PAGE = 200;
/** As many holds as are looked through for one answer; the next begins where it ended. */
const MAX_LOOKED_AT = 2000;

/**
 * The holds that a person may decide now, newest first. Of the decided ones: those that they could have decided or did,
 * and those of what was done for them; an administrator sees all of these.
 *
 * @throws ProblemError `invalid_request` for an `after` that is none
 */
export async function listInbox(
  { store, clock }: Pick<ServerContext, "store" | "clock">,
  person: Person,
  { status = "pending", limit = DEFAULT_LIMIT, after }: InboxQuery,
): Promise<InboxAnswer> {
  const maySee = createFilter(store, person, { status, now: clock() });
  const found: Hold[] = [];
  let before = after === undefined ? undefined : readCursor(after);
  for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += PAGE) {
    const page = await store.holds.list({ status, limit: PAGE, ...(before && { before }) });
    const plans = new Map((await store.plans.states(page.map(({ planId }) => planId))).map((plan) => [plan.id, plan]));
    for (const hold of page) {
      before = { createdAt: hold.createdAt, id: hold.id };
      const plan = plans.get(hold.planId);
      if (plan && (await maySee(hold, plan))) found.push(hold);
      if (found.length >= limit) return { holds: await describeAll(store, found), next: writeCursor(before) };
    }
    if (page.length < PAGE) return { holds: await describeAll(store, found) };
  }
  return { holds: await describeAll(store, found), ...(before && { next: writeCursor(before) }) };
}

type Filter = (hold: Hold, plan: PlanState) => Promise<boolean>;

function createFilter(
  store: Store,
  person: Person,
  { status, now }: { readonly status: Hold["status"]; readonly now: number },
): Filter {
  const keysOf = new Map<string, Promise<readonly ApiKey[]>>();
  const listKeys = (agentId: string): Promise<readonly ApiKey[]> => {
    const keys = keysOf.get(agentId) ?? store.apiKeys.list(agentId);
    keysOf.set(agentId, keys);
    return keys;
  };
  const mayDecide: Filter = async ({ approvers, agentId }, plan) => {
    const keyOwners = listKeyOwners(await listKeys(agentId), plan);
    return findRefusal(person, { approvers, userEmail: plan.userEmail, keyOwners }) === undefined;
  };
  if (status === "pending") {
    return async (hold, plan) => {
      const isOpen = plan.status === (hold.kind === "plan" ? "pending" : "open");
      return isOpen && now < hold.expiresAt && (await mayDecide(hold, plan));
    };
  }
  return async (hold, plan) =>
    person.roles.includes("admin") ||
    hold.decidedBy === person.email ||
    plan.userEmail === person.email ||
    (await mayDecide(hold, plan));
}

async function describeAll(store: Store, holds: readonly Hold[]): Promise<InboxAnswer["holds"]> {
  const described = await Promise.all(
    holds.map(async (hold) => {
      const plan = await store.plans.get(hold.planId);
      const agent = await store.agents.get(hold.agentId);
      return plan && agent && describeHold(hold, plan, agent);
    }),
  );
  return described.filter((item) => item !== undefined);
}

function writeCursor({ createdAt, id }: { readonly createdAt: number; readonly id: string }): string {
  return `${createdAt}.${id}`;
}

function readCursor(text: string): { readonly createdAt: number; readonly id: string } {
  const [, createdAt, id] = /^(\d{1,15})\.([\w-]{1,200})$/.exec(text) ?? [];
  if (createdAt !== undefined && id !== undefined) return { createdAt: Number(createdAt), id };
  throw new ProblemError("invalid_request", { issues: [{ path: "after", message: "expected the next of an answer" }] });
}
