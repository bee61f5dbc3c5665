import type { PlanClaims, PublicKey } from "../../core/index.ts";
import type { StoredPlan } from "../store/index.ts";

/**
 * The key with which a plan's client signs now: the one that its newest token names, which is another than at the signing
 * if the plan was resumed elsewhere. Null: the server decides. The token is one that this server has stored.
 */
export function currentClientKey({ clientKey, token }: Pick<StoredPlan, "clientKey" | "token">): PublicKey | null {
  if (clientKey === null || token === null) return clientKey;
  const [, payload = ""] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as PlanClaims;
  return claims.cnf?.jwk ?? clientKey;
}
