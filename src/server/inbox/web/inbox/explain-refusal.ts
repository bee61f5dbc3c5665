import type { ApiError, ApiErrorCode } from "../api.ts";

const WORDS: Partial<Record<ApiErrorCode, string>> = {
  self_approval:
    "The agent acts for you here, so somebody else has to decide. A rule can say otherwise with `self: true`.",
  key_owner_approval: "The agent can act with an API key of yours, so somebody else has to decide.",
  not_an_approver: "The rule does not name you, or not any more. Somebody whom it names has to decide.",
  hold_not_pending: "It was decided or taken back in the meantime. Your decision was not recorded.",
  hold_expired: "The time was up before your decision came. Nothing runs: a hold that runs out is never an approval.",
  not_found: "This hold is not yours to decide any more.",
  rate_limited: "Too many requests. Wait a moment, then try again.",
  unreachable:
    "The server could not be reached, so nobody knows whether the decision was recorded. Look again before you go on.",
};

/** Why a decision was not taken, for the person who made it; undefined if the server's own words are best. */
export function explainRefusal({ code }: Pick<ApiError, "code">): string | undefined {
  return WORDS[code];
}

/** Whether what is shown of the hold may be out of date. */
export function isOutdated({ code }: Pick<ApiError, "code">): boolean {
  return ["hold_not_pending", "hold_expired", "not_found", "not_an_approver", "unreachable"].includes(code);
}
