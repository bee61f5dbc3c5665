import type { CheckBody } from "../../core/api/index.ts";
import { snapshotCall } from "../../core/decided-call.ts";
import { type Decision, type OpenedToken, openPlanToken, type PublicKey } from "../../core/index.ts";
import { type Block, blockDecision, nameCall } from "../../core/verdict.ts";
import { ProblemError } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import { type AgentCaller, assertOwnPlan } from "../plans/find-plan.ts";
import type { KnownPlan } from "../plans/plan-changes.ts";
import type { PrincipalTurn } from "../plans/principal-turns.ts";
import type { Refresher } from "../plans/refresh-plan.ts";
import type { PrincipalLedger, Store } from "../store/index.ts";
import { isUsedUp, openApproval } from "./approvals.ts";
import { planDecision } from "./plan-decision.ts";
import { renewToken } from "./renew-token.ts";

/**
 * Decides about a call under a plan that is the server's to decide: reserves what it takes, uses its approval up and
 * records the decision, all in one statement, or nothing. A peek decides only.
 *
 * @throws ProblemError `not_found`, `user_not_allowed`; `invalid_request` for a plan whose client decides
 */
export async function decideCall(refresher: Refresher, caller: AgentCaller, body: CheckBody): Promise<Decision> {
  const started = performance.now();
  const { planId, peek = false } = body;
  const { store, keys: ring } = refresher.context;
  const keys = await ring.publicKeys();
  const call = snapshotCall(body.call, nodeSha256);
  const approval = await openApproval(body.call.approval, keys, { agentId: caller.agent.id, planId });
  // Nothing will be written that would show that another server was here.
  if (peek) refresher.changes.forget(planId);

  let decision: Decision | undefined;
  while (!decision) {
    decision = await refresher.changes.change<Decision | undefined>(planId, async (found, attempt) => {
      const { number, now } = attempt;
      // The key was looked up a moment ago: if it is not in use any more, what was to be written was not.
      if (number > 0) await assertInUse(store, caller);
      const plan = assertOwnPlan(caller, found);
      if (plan.clientKey !== null) {
        throw new ProblemError("invalid_request", {
          detail: "this plan was signed for a client that decides itself",
        });
      }
      const block = findBlock(plan) ?? (await findForeign(body.token, plan, keys));
      if (block) {
        if (plan.status !== "open") refresher.sources.forget(planId);
        return { result: blockDecision(nameCall(body.call, ""), block) };
      }
      const opened = await openPlanToken(plan.token ?? "", keys, { audience: plan.agentId });
      // Recorded before anything is decided under it; then it is looked at again.
      const renewal = await renewToken(refresher, caller.agent, { plan, opened, now });
      if (renewal && !peek) return { result: undefined, ...renewal.change };
      // A claim that cannot be made fails each time: then the call is as one that nobody approved.
      const isClaimable = approval && (number === 0 || !(await isUsedUp(store, approval, now)));
      const token = renewal?.opened ?? opened;
      const ledger = await readLedger(attempt.principal, { plan, token, now, peek });
      const change = planDecision(plan, {
        opened: token,
        ledger,
        call,
        refusal: body.call.refusal,
        approval: isClaimable ? approval : undefined,
        sources: await refresher.sources.evidenceFor(plan),
        now,
      });
      return peek ? { result: withoutNumber(change.result) } : { ...change, apiKeyId: caller.apiKey.id };
    });
  }
  const elapsedUs = Math.round((performance.now() - started) * 1000);
  return { ...decision, ...(call.digest !== undefined && { digest: call.digest }), elapsedUs };
}

/** What the person has taken, if the budget has a limit on that. What cannot be read throws: nothing is decided without. */
async function readLedger(
  principal: PrincipalTurn,
  { plan, token, now, peek }: { plan: KnownPlan; token: OpenedToken; now: number; peek: boolean },
): Promise<PrincipalLedger | undefined> {
  if (!token.valid || !token.claims.budget?.principal) return undefined;
  return peek ? await principal.look(plan) : await principal.open(plan, now);
}

/** @throws ProblemError `api_key_rejected` */
async function assertInUse(store: Store, { agent, apiKey }: AgentCaller): Promise<void> {
  const [key, its] = await Promise.all([store.apiKeys.get(apiKey.id), store.agents.get(agent.id)]);
  if (key?.revokedAt !== null || its?.disabledAt !== null) throw new ProblemError("api_key_rejected");
}

function findBlock({ status }: KnownPlan): Block | undefined {
  if (status === "open") return undefined;
  if (status === "revoked") return { reason: "plan_revoked", stage: "gate", detail: "the plan was revoked" };
  return { reason: "invalid_token", stage: "token", detail: "the plan is closed, or was never signed" };
}

/** A token that is none of this plan's. One that was renewed since is: the client learns of the new one when it refreshes. */
async function findForeign(token: string, plan: KnownPlan, keys: readonly PublicKey[]): Promise<Block | undefined> {
  if (token === plan.token) return undefined;
  const opened = await openPlanToken(token, keys, { audience: plan.agentId });
  if (opened.valid && opened.claims.planId === plan.id) return undefined;
  return { reason: "invalid_token", stage: "token", detail: "the plan token is not one of this plan" };
}

function withoutNumber(decision: Decision): Decision {
  const { seq: _, ...rest } = decision;
  return rest;
}
