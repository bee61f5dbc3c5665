import { randomUUID } from "node:crypto";
import type { DecideHoldBody } from "../../core/api/index.ts";
import { type ApprovalClaims, digestCall, type SigningKey, signApprovalToken, toApproval } from "../../core/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import type { Hold, Person, PlanState, StoreInTransaction } from "../store/index.ts";
import { findRefusal, listKeyOwners } from "./may-decide.ts";
import { recordApproval } from "./record-approval.ts";

/**
 * How long an approval can be used at least, in seconds after it was given; as long as the rule lets a call wait, if that is
 * longer: a run that was suspended may go on late. It is for one action, once, and that is decided again when it is used.
 */
export const APPROVAL_SECONDS = 300;

export interface HoldDecision extends DecideHoldBody {
  readonly holdId: string;
  /** Who made the link that the person's session began with. */
  readonly linkBy?: string;
}

/**
 * Approves or rejects a hold as a person who is signed in. One transaction: of two that decide at once one does, by the
 * roles and the people that there are at that moment, and it is on record in the audit trail of administrators. Whoever
 * waits for the hold is woken by the store, on every server.
 *
 * @throws ProblemError `not_found`, `not_an_approver`, `self_approval`, `key_owner_approval`, `hold_not_pending`,
 * `hold_expired`
 */
export async function decideHold(
  context: ServerContext,
  { email }: Pick<Person, "email">,
  decision: HoldDecision,
): Promise<Hold> {
  // Before the transaction: the keys are read from the store, too.
  const key = await context.keys.signingKey();
  const { linkBy } = decision;
  const { hold, claims } = await context.store.administer(async (store) => {
    const now = context.clock();
    const { hold, plan } = await findDecidable(store, { email, holdId: decision.holdId, now });
    const approved = decision.decision === "approve" ? await approve(hold, { email, now, context, key }) : undefined;
    const decided = await store.holds.decide(hold.id, {
      by: email,
      comment: decision.comment ?? null,
      now,
      ...(approved ?? { status: "rejected" }),
    });
    // Whatever ends holds that nobody decided does not wait for this transaction.
    if (!decided) throw new ProblemError("hold_not_pending");
    if (hold.kind === "plan" && !approved) {
      await store.plans.setStatus(plan.id, "rejected", { from: ["pending"], now });
    }
    await store.adminAudit.append({
      at: now,
      actor: email,
      action: approved ? "hold.approve" : "hold.reject",
      target: hold.id,
      details: { ...describe(decided), ...(linkBy !== undefined && linkBy !== email && { linkBy }) },
    });
    return { hold: decided, claims: approved?.claims };
  });
  if (claims && hold.decisionSeq !== null) {
    const approval = toApproval(claims);
    const isRecorded = await recordApproval(context, { decisionSeq: hold.decisionSeq, approval });
    if (!isRecorded) context.log.warn({ planId: hold.planId, holdId: hold.id }, "approval is not in the plan's chain");
  }
  return hold;
}

async function findDecidable(
  store: StoreInTransaction,
  { email, holdId, now }: { readonly email: string; readonly holdId: string; readonly now: number },
): Promise<{ readonly hold: Hold; readonly plan: PlanState }> {
  const hold = await store.holds.get(holdId);
  const plan = hold && (await store.plans.state(hold.planId));
  const person = await store.people.get(email);
  if (!hold || !plan || !person || person.disabledAt !== null) throw new ProblemError("not_found");
  const keyOwners = listKeyOwners(await store.apiKeys.list(hold.agentId), plan);
  const refusal = findRefusal(person, { approvers: hold.approvers, userEmail: plan.userEmail, keyOwners });
  if (refusal) throw new ProblemError(refusal);
  if (hold.status === "expired") throw new ProblemError("hold_expired");
  if (hold.status !== "pending") throw new ProblemError("hold_not_pending");
  if (now >= hold.expiresAt) throw new ProblemError("hold_expired");
  if (plan.status !== (hold.kind === "plan" ? "pending" : "open")) {
    throw new ProblemError("hold_not_pending", { detail: "The plan is over" });
  }
  return { hold, plan };
}

interface Approving {
  readonly email: string;
  readonly now: number;
  readonly context: Pick<ServerContext, "publicUrl">;
  readonly key: SigningKey;
}

type Approved = { readonly status: "approved"; readonly claims?: ApprovalClaims } & (
  | { readonly approval: string; readonly approvalExpiresAt: number }
  | { readonly approval: null; readonly approvalExpiresAt: null }
);

async function approve(hold: Hold, { email, now, context, key }: Approving): Promise<Approved> {
  // A plan is signed by a refresh, under the person and the policy as they are then.
  if (hold.kind === "plan") return { status: "approved", approval: null, approvalExpiresAt: null };
  const iat = Math.floor(now / 1000);
  const lasts = Math.max(APPROVAL_SECONDS, Math.floor((hold.expiresAt - hold.createdAt) / 1000));
  const claims: ApprovalClaims = {
    ver: 1,
    iss: context.publicUrl,
    aud: hold.agentId,
    jti: randomUUID(),
    iat,
    exp: iat + lasts,
    holdId: hold.id,
    planId: hold.planId,
    ...actionOf(hold),
    approvedBy: email,
  };
  return {
    status: "approved",
    claims,
    approval: await signApprovalToken(claims, key),
    approvalExpiresAt: claims.exp * 1000,
  };
}

/** What was approved is what the person has seen: the tool and the arguments, and not what is said of them elsewhere. */
function actionOf({ tool, args, rule, digest, fingerprint }: Hold) {
  if (tool === null || rule === null) throw new Error("A hold of a call has a tool and a rule");
  if (digestCall({ tool, args }, nodeSha256) !== digest) throw new Error("The arguments are not those of the digest");
  return { tool, rule, digest, ...(fingerprint !== null && { fingerprint }) };
}

function describe({ kind, planId, agentId, tool, digest, comment }: Hold) {
  return { kind, planId, agentId, digest, ...(tool !== null && { tool }), ...(comment !== null && { comment }) };
}
