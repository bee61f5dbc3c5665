import { ProblemError, type ServerContext } from "../handler.ts";
import type { StoredPlan, StoreInTransaction } from "../store/index.ts";

/** What a plan is revoked with: a store, or a transaction of one. */
export interface Revoker extends Pick<ServerContext, "clock" | "log"> {
  readonly store: Pick<StoreInTransaction, "plans" | "holds">;
}

/**
 * Revokes a plan, and takes back what still waits under it. Of a plan that was revoked before only the reason stays.
 *
 * @throws ProblemError `plan_closed`
 */
export async function revokePlan(
  { store, clock, log }: Revoker,
  { id, status }: Pick<StoredPlan, "id" | "status">,
  { by, reason }: { readonly by: string; readonly reason?: string | undefined },
): Promise<void> {
  if (status === "revoked") return;
  const now = clock();
  const isRevoked = await store.plans.setStatus(id, "revoked", { from: ["open", "pending", "rejected"], now });
  if (!isRevoked) throw new ProblemError("plan_closed");
  await store.plans.flag(id, { kind: "revoked", by, ...(reason !== undefined && { reason }), at: now });
  await store.holds.cancelOfPlan(id, now);
  log.warn({ planId: id, by }, "plan revoked");
}
