import { IntentlockError, PlanError } from "../../core/index.ts";
import { ServerError } from "./server-error.ts";

/** What the server refused, as the error that a gate without a server would give. */
export function toGateError(error: unknown): unknown {
  if (!(error instanceof ServerError) || !error.problem) return error;
  const { code, issues = [] } = error.problem;
  switch (code) {
    case "invalid_plan":
      return new PlanError(issues, { cause: error });
    case "unknown_user":
    case "user_not_allowed":
      return new IntentlockError("ERR_UNKNOWN_USER", error.message, { cause: error });
    case "plan_expired":
      return new IntentlockError("ERR_PLAN_EXPIRED", error.message, { cause: error });
    case "plan_revoked":
      return new IntentlockError("ERR_PLAN_REVOKED", error.message, { cause: error });
    case "plan_rejected":
      return new IntentlockError("ERR_PLAN_REJECTED", error.message, { cause: error });
    case "plan_closed":
    case "not_found":
      return new IntentlockError("ERR_UNKNOWN_PLAN", error.message, { cause: error });
    case "lease_held":
      return new IntentlockError("ERR_PLAN_HELD", error.message, { cause: error });
    case "outcome_not_expected":
      return new IntentlockError("ERR_INVALID_OUTCOME", error.message, { cause: error });
    default:
      return error;
  }
}
