import type { AuditEntry, DecisionRecord } from "../../core/index.ts";
import type { KnownPlan } from "../plans/plan-changes.ts";
import type { Store } from "../store/index.ts";

/**
 * Whether the approval that a client's decision rests on was given by the person it names, and claimed, and whether no
 * call before has used it.
 *
 * @param options.earlier entries before the decision that the store does not have yet
 */
export async function isClaimedFor(
  store: Store,
  options: { readonly plan: KnownPlan; readonly event: DecisionRecord; readonly earlier: readonly AuditEntry[] },
): Promise<boolean> {
  const { plan, event, earlier } = options;
  const approval = event.evidence?.approval;
  if (!approval) return false;
  const hold = await store.holds.get(approval.holdId);
  const isGiven =
    hold?.planId === plan.id &&
    hold.status === "approved" &&
    hold.claimedAt !== null &&
    hold.decidedBy === approval.approvedBy &&
    hold.digest === approval.digest &&
    hold.rule === approval.rule &&
    (hold.fingerprint ?? undefined) === approval.fingerprint &&
    hold.approvalExpiresAt === approval.exp * 1000;
  if (!isGiven) return false;
  const isUse = ({ event: other }: AuditEntry): boolean =>
    other.type === "decision" &&
    other.verdict === "allow" &&
    other.answer === undefined &&
    other.evidence?.approval?.holdId === approval.holdId;
  if (earlier.some(isUse)) return false;
  // A plan has few holds, so this is seldom.
  for (let fromSeq = hold.decisionSeq ?? 0; fromSeq < plan.seq; fromSeq += 1000) {
    const stored = await store.auditEntries.ofPlan(plan.id, { fromSeq });
    if (stored.some(({ entry }) => isUse(entry))) return false;
  }
  return true;
}
