import {
  type AuditEntry,
  agreesWithRecord,
  type OpenedToken,
  openPlanToken,
  type PublicKey,
  recomputeDecision,
  verifyChain,
} from "intentlock/core";

/** What an auditor finds who has the entries of a plan and the gate's public key, and trusts nobody else. */
export async function verifyAudit(
  entries: readonly AuditEntry[],
  options: { readonly key: PublicKey; readonly agent: string },
): Promise<{ readonly chainHolds: boolean; readonly decided: number; readonly recomputed: number }> {
  const chainHolds = verifyChain(entries, entries[0]?.planId ?? "").problem === undefined;
  const tokens = new Map<string, OpenedToken>();
  let decided = 0;
  let recomputed = 0;
  for (const { event } of entries) {
    if ("token" in event) {
      const token = await openPlanToken(event.token, [options.key], { audience: options.agent });
      if (token.valid) tokens.set(token.claims.jti, token);
    }
    if (event.type !== "decision") continue;
    decided++;
    const token = tokens.get(event.jti);
    const decision = token && recomputeDecision(event, token);
    if (decision && agreesWithRecord(event, decision)) recomputed++;
  }
  return { chainHolds, decided, recomputed };
}
