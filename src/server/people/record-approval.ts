import { setTimeout as sleep } from "node:timers/promises";
import { type Approval, chainEntry } from "../../core/index.ts";
import type { ServerContext } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";

/** Each of those that were first has written something: only a crowd on one plan gets there. */
const MAX_ATTEMPTS = 100;

/**
 * Writes an approval into the chain of a plan whose chain is the server's. Of a plan that a client decides it is the
 * client who writes, when it uses the approval. That it was given is on record elsewhere too, so it stands without this.
 *
 * @returns false if it could not be written, because the plan is over or others write all the time
 */
export async function recordApproval(
  { store, clock }: Pick<ServerContext, "store" | "clock">,
  { decisionSeq, approval }: { readonly decisionSeq: number; readonly approval: Approval },
): Promise<boolean> {
  const { planId } = approval;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const plan = await store.plans.state(planId);
    if (plan?.status !== "open") return false;
    if (plan.clientKey !== null) return true;
    const now = clock();
    const { entry, head } = chainEntry(
      { planId, seq: plan.seq, prev: plan.head },
      { type: "approval", decisionSeq, approval },
      { at: now, hash: nodeSha256 },
    );
    const { used, spent, openCalls } = plan;
    const rest = { head: head.prev, used, spent, openCalls, now };
    if (await store.plans.append(planId, { expectSeq: plan.seq, entries: [entry], ...rest })) return true;
    if (attempt > 2) await sleep(Math.random() * 10);
  }
  return false;
}
