import { randomUUID } from "node:crypto";
import type { OpenedHoldAnswer, OpenHoldBody } from "../../core/api/index.ts";
import {
  check,
  type DecisionRecord,
  digestCall,
  type HoldDecision,
  type Json,
  openPlanToken,
} from "../../core/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import { AGENT_DEFAULTS } from "../plans/agent-defaults.ts";
import { type AgentCaller, assertOwnPlan } from "../plans/find-plan.ts";
import { assertOpen, isOver } from "../plans/plan-over.ts";
import { type Refresher, refreshPlan } from "../plans/refresh-plan.ts";
import type { Hold, StoredPlan } from "../store/index.ts";
import { describeStatus } from "./describe-hold.ts";

/**
 * Opens a hold for a decision that is on record, after the call has been decided again: people are only asked about what
 * the policy holds now. Asked again about the same decision, it is the same hold.
 *
 * @throws ProblemError `not_found`, `user_not_allowed`, `not_held`, `invalid_request` for other arguments than those of
 * the decision, `hold_limit`, `hold_rejected_before`, `plan_closed`, `plan_revoked`, `plan_expired`
 */
export async function openHold(
  refresher: Refresher,
  caller: AgentCaller,
  { planId, decisionSeq, args }: OpenHoldBody,
): Promise<OpenedHoldAnswer> {
  const { context } = refresher;
  const { store, clock } = context;
  const plan = assertOwnPlan(caller, await store.plans.get(planId));
  assertOpen(plan);
  if (isOver(plan, caller.agent, clock())) throw new ProblemError("plan_expired");
  const record = await findHeld(context, planId, decisionSeq);
  if (digestCall({ tool: record.tool, args }, nodeSha256) !== record.digest) {
    throw new ProblemError("invalid_request", { issues: [{ path: "args", message: "not those of the decision" }] });
  }
  const decision = await decideAgain(refresher, caller, { plan, record, args });
  const createdAt = Math.floor(clock());
  const { outcome, hold } = await store.holds.open(
    {
      id: randomUUID(),
      kind: "call",
      planId,
      agentId: plan.agentId,
      decisionSeq,
      callId: record.callId,
      tool: record.tool,
      fingerprint: record.fingerprint ?? null,
      args: args as Json,
      digest: record.digest,
      step: decision.step,
      rule: decision.rule,
      ruleReason: decision.ruleReason ?? null,
      approvers: decision.approvers,
      createdAt,
      expiresAt: createdAt + decision.timeoutSeconds * 1000,
    },
    { maxHolds: caller.agent.settings.maxHolds ?? AGENT_DEFAULTS.maxHolds },
  );
  if (outcome === "opened") await recordHold(refresher, plan, hold);
  if (hold) return describeStatus(hold, clock());
  if (outcome === "limit") throw new ProblemError("hold_limit");
  if (outcome === "rejected") throw new ProblemError("hold_rejected_before");
  // It was open a moment ago.
  refresher.changes.forget(planId);
  throw new ProblemError((await store.plans.state(planId))?.status === "revoked" ? "plan_revoked" : "plan_closed");
}

/** The decision that is on record, if it held a call and was answered so. */
async function findHeld(
  { store }: ServerContext,
  planId: string,
  decisionSeq: number,
): Promise<DecisionRecord & { readonly digest: string }> {
  const [stored] = await store.auditEntries.ofPlan(planId, { fromSeq: decisionSeq, limit: 1 });
  if (stored?.entry.seq !== decisionSeq) {
    throw new ProblemError("not_found", { detail: "the decision is not on record here: upload its entry first" });
  }
  const { event } = stored.entry;
  if (event.type !== "decision" || event.verdict !== "hold" || event.answer !== undefined) {
    throw new ProblemError("not_held", { detail: "the entry of this number is no decision that holds a call" });
  }
  if (event.digest === undefined || stored.verdictCheck === "differs") throw new ProblemError("not_held");
  return { ...event, digest: event.digest };
}

async function decideAgain(
  refresher: Refresher,
  caller: AgentCaller,
  { plan, record, args }: { readonly plan: StoredPlan; readonly record: DecisionRecord; readonly args: unknown },
): Promise<HoldDecision> {
  const { clock, keys } = refresher.context;
  const now = Math.floor(clock() / 1000);
  const isOld = plan.clientKey === null && now >= (plan.tokenExpiresAt ?? 0) / 1000;
  // A client refreshes its own tokens; those of a plan that the server decides are the server's to refresh.
  const token = isOld ? (await refreshPlan(refresher, caller, { planId: plan.id })).token : (plan.token ?? "");
  const opened = await openPlanToken(token, await keys.publicKeys(), { audience: plan.agentId });
  const { callId, tool, fingerprint } = record;
  const call = { callId, tool, args, ...(fingerprint !== undefined && { fingerprint }) };
  // Where its values came from was found when it was decided first; the results may be elsewhere, or gone.
  const task = await refresher.sources.taskOf(plan);
  const evidence = { recorded: record, ...(task && { task }) };
  const decision = check({ token: opened, call, used: plan.used, now, evidence });
  if (decision.verdict === "hold") return decision;
  const reason = decision.verdict === "block" ? `: ${decision.reason}` : "";
  throw new ProblemError("not_held", { detail: `decided again, it is ${decision.verdict}${reason}` });
}

/** The chain of a plan that its client decides is written by the client. */
async function recordHold({ changes }: Refresher, plan: StoredPlan, { id, decisionSeq }: Hold): Promise<void> {
  if (plan.clientKey !== null || decisionSeq === null) return;
  await changes.change<void>(plan.id, (found) => {
    // Over meanwhile: then the hold is taken back, and nothing follows.
    if (found?.status !== "open") return { result: undefined };
    return { result: undefined, events: [{ type: "hold", decisionSeq, holdId: id }] };
  });
}
