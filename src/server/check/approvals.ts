import { type Approval, openApprovalToken, type PublicKey, toApproval } from "../../core/index.ts";
import type { Store } from "../store/index.ts";

/**
 * The evidence in an approval token, if it is one of ours, for this agent and this plan. Whether it is for this call is
 * `check()`'s to say, and whether it was used before shows when it is claimed. A call with any other is held again: it is
 * no better off than one that nobody approved.
 */
export async function openApproval(
  token: string | undefined,
  keys: readonly PublicKey[],
  { agentId, planId }: { readonly agentId: string; readonly planId: string },
): Promise<Approval | undefined> {
  if (token === undefined) return undefined;
  const opened = await openApprovalToken(token, keys, { audience: agentId });
  return opened.valid && opened.claims.planId === planId ? toApproval(opened.claims) : undefined;
}

/** Whether an approval can no longer be claimed. */
export async function isUsedUp(store: Store, { holdId, planId }: Approval, now: number): Promise<boolean> {
  const hold = await store.holds.get(holdId);
  if (hold?.planId !== planId || hold.status !== "approved" || hold.claimedAt !== null) return true;
  return hold.approvalExpiresAt !== null && now >= hold.approvalExpiresAt;
}
