import { IntentlockError, normalizeEmail } from "../core/index.ts";
import type { SignedPlan, UserInput } from "../gates/gate.ts";

/**
 * Refuses a plan that was signed for somebody else: which plan goes on is often what a client says. The token is the
 * gate's own, which answers for it; nothing is verified here.
 *
 * @throws IntentlockError `ERR_UNKNOWN_PLAN`: whose plan it is, and that there is one, is nothing to tell
 */
export function assertPlanOf(user: UserInput, { token }: Pick<SignedPlan, "token">): void {
  const email = normalizeEmail(typeof user === "string" ? user : user.email);
  if (email !== undefined && email === readUser(token)) return;
  throw new IntentlockError("ERR_UNKNOWN_PLAN", "There is no such plan of this user");
}

function readUser(token: string): string | undefined {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as { readonly sub?: unknown };
    return normalizeEmail(claims.sub);
  } catch {
    return undefined;
  }
}
