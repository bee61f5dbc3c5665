import { PROBLEMS, type Problem } from "../../core/api/index.ts";
import { type BlockReason, IntentlockError } from "../../core/index.ts";

/** How a request to the server failed, by what a caller can do about it. */
export type ServerFailure = "ERR_SERVER_UNAVAILABLE" | "ERR_API_KEY_REJECTED" | "ERR_REQUEST_REFUSED";

/** A request that the server did not answer as it should have. */
export class ServerError extends IntentlockError {
  declare readonly code: ServerFailure;
  /** The server's answer; undefined if there was none. */
  readonly status: number | undefined;
  /** What the server says is wrong, if it says so in a form that is known. */
  readonly problem: Problem | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ServerFailure,
    message: string,
    more: { status?: number; problem?: Problem; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(code, message, { cause: more.cause });
    this.status = more.status;
    this.problem = more.problem;
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** What an answer that is an error means: who is not let in, who asks for what is refused, or a server in trouble. */
export function toServerError(
  status: number,
  problem: Problem | undefined,
  retryAfterMs: number | undefined,
): ServerError {
  const more = { status, ...(problem && { problem }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const words = problem ? `${PROBLEMS[problem.code].title} (${problem.code})` : `It answered ${status}`;
  const detail = problem?.detail === undefined ? "" : `: ${problem.detail}`;
  if (status === 401) return new ServerError("ERR_API_KEY_REJECTED", `The server: ${words}${detail}`, more);
  // 408, 425 and 429 say nothing of the request itself, and a redirect would take the key along.
  const isRefused = status >= 400 && status < 500 && ![408, 425, 429].includes(status);
  return new ServerError(
    isRefused ? "ERR_REQUEST_REFUSED" : "ERR_SERVER_UNAVAILABLE",
    `The server: ${words}${detail}`,
    more,
  );
}

/** The block that a call gets for which the server was needed. The one place where its trouble becomes a decision. */
export function toRefusal(error: unknown): {
  readonly reason: BlockReason;
  readonly stage: "gate";
  readonly detail: string;
} {
  if (!(error instanceof ServerError)) {
    return { reason: "internal_error", stage: "gate", detail: "an error happened while the server was asked" };
  }
  switch (error.code) {
    case "ERR_API_KEY_REJECTED":
      return { reason: "api_key_rejected", stage: "gate", detail: "the server does not accept the agent's key" };
    case "ERR_SERVER_UNAVAILABLE":
      return { reason: "server_unavailable", stage: "gate", detail: "the server did not answer" };
    case "ERR_REQUEST_REFUSED":
      return error.problem?.code === "plan_revoked"
        ? { reason: "plan_revoked", stage: "gate", detail: "the plan was revoked" }
        : { reason: "gate_rejected", stage: "gate", detail: "the server refused the request" };
    default:
      error.code satisfies never;
      return { reason: "internal_error", stage: "gate", detail: "an error happened while the server was asked" };
  }
}
