import type { UploadAuditAnswer, UploadAuditBody } from "../../core/api/index.ts";
import {
  type AuditEntry,
  digestEntry,
  type OpenedBatch,
  openBatch,
  type PublicKey,
  type Spent,
  signReceipt,
} from "../../core/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import { currentClientKey } from "../plans/client-key.ts";
import { type AgentCaller, assertOwnPlan } from "../plans/find-plan.ts";
import type { Attempt, KnownPlan, PlanChange } from "../plans/plan-changes.ts";
import type { Refresher } from "../plans/refresh-plan.ts";
import { readReserved, settleReserved } from "../plans/reserve-budget.ts";
import type { GivenCalls } from "./given-calls.ts";
import { placeBatch } from "./place-batch.ts";
import { invalidEntry, readEntries } from "./read-entries.ts";
import { type Doubt, verifyEntries } from "./verify-entries.ts";

/** What batches are received with. */
export interface Receiver extends Pick<Refresher, "context" | "changes" | "sources"> {
  readonly given: GivenCalls;
}

interface Received {
  readonly seq: number;
  readonly head: string;
  readonly doubts: readonly Doubt[];
  readonly isClosed: boolean;
}

/**
 * Adds a batch of a client's entries to its plan's chain and signs a receipt for all that is there now. Sent again, it
 * changes nothing. An entry that shows that the client has not kept to its policy is kept, and the plan flagged.
 *
 * @throws ProblemError `not_found`, `user_not_allowed`, `entry_invalid`, `batch_signature_invalid`, `audit_gap`,
 * `audit_fork`, `audit_rewritten`; `invalid_request` for a plan that the server decides
 */
export async function receiveBatch(
  receiver: Receiver,
  caller: AgentCaller,
  { planId, entries: given, signature }: UploadAuditBody,
): Promise<UploadAuditAnswer> {
  const { context, changes, sources } = receiver;
  const { store, keys, clock, publicUrl } = context;
  const entries = readEntries(given, planId);
  const received = await changes.change<Received>(planId, async (found, attempt) => {
    const plan = assertOwnPlan(caller, found);
    const batch = await openSigned(plan, signature, entries);
    const fresh = await placeBatch(store, plan, { batch, entries });
    if (fresh.length === 0) return { result: { seq: plan.seq, head: plan.head ?? "", doubts: [], isClosed: false } };
    return await toChange(receiver, { plan, attempt }, fresh);
  });
  const { seq, head, doubts, isClosed } = received;
  if (doubts.length > 0) await flag(context, planId, doubts);
  if (isClosed) sources.forget(planId);
  if (isClosed) await store.holds.cancelOfPlan(planId, clock());
  const claims = { iss: publicUrl, aud: caller.agent.id, planId, seq, head, receivedAt: Math.floor(clock()) };
  return { receipt: await signReceipt(claims, await keys.signingKey()), seq };
}

async function openSigned(
  plan: KnownPlan,
  signature: string,
  entries: readonly AuditEntry[],
): Promise<Extract<OpenedBatch, { valid: true }>["batch"]> {
  const { clientKey } = plan;
  if (clientKey === null)
    throw new ProblemError("invalid_request", { detail: "the server writes this plan's entries" });
  // What was decided before a plan was resumed elsewhere is signed with the key that it had then.
  const candidates: readonly PublicKey[] = [currentClientKey(plan) ?? clientKey, clientKey];
  let detail = "";
  for (const key of candidates) {
    const opened = await openBatch(signature, key, entries, { hash: nodeSha256 });
    if (opened.valid) return opened.batch;
    if (opened.entry !== undefined) {
      const index = opened.entry - (entries[0]?.seq ?? 0);
      throw invalidEntry(Math.max(0, index), [{ path: "", message: opened.detail }]);
    }
    detail ||= opened.detail;
  }
  throw new ProblemError("batch_signature_invalid", { detail });
}

async function toChange(
  receiver: Receiver,
  { plan, attempt }: { readonly plan: KnownPlan; readonly attempt: Attempt },
  entries: readonly AuditEntry[],
): Promise<PlanChange<Received>> {
  const { context } = receiver;
  const { verdictChecks, doubts, taken, isClosed } = await verifyEntries(receiver, plan, entries);
  const head = digestEntry(entries.at(-1) as AuditEntry, nodeSha256);
  const closes = isClosed && plan.status === "open";
  const settled = isClosed ? await settle(context, { plan, attempt }, taken.spent) : {};
  return {
    result: { seq: plan.seq + entries.length, head, doubts, isClosed: closes },
    entries,
    head,
    verdictChecks,
    used: taken.used,
    spent: taken.spent,
    openCalls: taken.openCalls,
    // What was decided before a plan was closed or revoked may come late.
    whileStatus: ["open", "closed", "revoked"],
    ...(closes && { status: "closed" }),
    ...settled,
  };
}

/** What a client has not taken of its portion of the person's budget is given back. */
async function settle(
  { store }: ServerContext,
  { plan, attempt: { principal, now } }: { readonly plan: KnownPlan; readonly attempt: Attempt },
  taken: Spent,
): Promise<ReturnType<typeof settleReserved>> {
  if (!(await readReserved(store, plan.id))) return {};
  const ledger = await principal.open(plan, now);
  const reserved = await readReserved(store, plan.id);
  return reserved ? settleReserved(reserved, ledger, { taken, now }) : {};
}

/** The first doubt stays: what came after it is in the entries. */
async function flag({ store, clock, log }: ServerContext, planId: string, doubts: readonly Doubt[]): Promise<void> {
  const plan = await store.plans.get(planId);
  log.warn({ planId, seqs: doubts.map(({ seq }) => seq).slice(0, 20) }, "audit entries are not what was decided");
  if (plan?.flagged !== null) return;
  await store.plans.flag(planId, { kind: "audit", at: clock(), doubts: doubts.slice(0, 20) });
}
