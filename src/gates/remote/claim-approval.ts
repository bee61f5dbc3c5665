import { endpoints } from "../../core/api/index.ts";
import { digestCall, openApprovalToken, toApproval } from "../../core/index.ts";
import type { GateCall } from "../gate.ts";
import type { ClaimedApproval } from "../local-plans.ts";
import { nodeSha256 } from "../node-sha256.ts";
import type { KeySet } from "./key-set.ts";
import type { ServerClient } from "./server-client.ts";
import { toRefusal } from "./server-error.ts";

export interface Claimant {
  readonly client: ServerClient;
  readonly keys: KeySet;
  /** The agent's id, for which approvals are signed. */
  readonly agent: string;
}

/**
 * Verifies the approval that a call came with, and claims it: whoever comes second with it is refused. One that is not for
 * this very call is not claimed, so that nobody can use up another call's.
 */
export async function claimApproval(
  { client, keys, agent }: Claimant,
  planId: string,
  call: GateCall,
): Promise<ClaimedApproval> {
  const { approval = "", tool, args, fingerprint } = call;
  try {
    const opened = await keys.open((known) => openApprovalToken(approval, known, { audience: agent }));
    if (!opened.valid) return refused(`the approval is not valid: ${opened.detail}`);
    const { claims } = opened;
    const isTheirs =
      claims.planId === planId &&
      claims.tool === tool &&
      claims.fingerprint === fingerprint &&
      claims.digest === digestCall({ tool, args }, nodeSha256);
    if (!isTheirs) return refused("the approval is for another call");
    await client.ask(endpoints.claimHold, { params: { holdId: claims.holdId }, body: { approval } });
    return { approval: toApproval(claims) };
  } catch (error) {
    return { refusal: toRefusal(error) };
  }
}

function refused(detail: string): ClaimedApproval {
  return { refusal: { reason: "gate_rejected", stage: "gate", detail } };
}
