import type { ApiError } from "../api.ts";

/** Why a change of a person was refused, where the server's words do not say it for this page. */
export function explainPersonRefusal({ code }: Pick<ApiError, "code">): string | undefined {
  if (code === "last_admin") {
    return "This is the only administrator. Make somebody else an administrator first: without one, nobody could change policies, agents or people any more.";
  }
  if (code === "unknown_user") return "This person is not there any more. Somebody else has removed them.";
  return undefined;
}
