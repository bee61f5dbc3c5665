import { type AuditBatch, type AuditEntry, digestEntry } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import type { KnownPlan } from "../plans/plan-changes.ts";
import type { Store } from "../store/index.ts";

/**
 * The entries of a batch that the server does not have yet. What it has already has to be the same.
 *
 * @throws ProblemError `audit_gap`, `audit_fork`, `audit_rewritten`, each with what the server has
 */
export async function placeBatch(
  store: Store,
  plan: KnownPlan,
  { batch, entries }: { readonly batch: AuditBatch; readonly entries: readonly AuditEntry[] },
): Promise<readonly AuditEntry[]> {
  const chain = { seq: plan.seq, head: plan.head };
  if (batch.from > plan.seq) throw new ProblemError("audit_gap", { chain });
  if (batch.from === plan.seq) {
    if (batch.prev !== plan.head) throw new ProblemError("audit_fork", { chain });
    return entries;
  }
  const known = await store.auditEntries.ofPlan(plan.id, { fromSeq: batch.from, limit: entries.length });
  for (const [index, { entry }] of known.entries()) {
    const sent = entries[index];
    if (!sent || digestEntry(sent, nodeSha256) !== digestEntry(entry, nodeSha256)) {
      throw new ProblemError("audit_rewritten", { chain });
    }
  }
  return entries.slice(plan.seq - batch.from);
}
