/** Every `code` of an {@link IntentlockError}. The code is the contract; the message is for people and may change. */
export type ErrorCode =
  | "ERR_INVALID_POLICY"
  | "ERR_INVALID_PLAN"
  | "ERR_INVALID_JSON"
  | "ERR_INVALID_CLAIMS"
  | "ERR_INVALID_KEY"
  | "ERR_INVALID_OPTIONS"
  | "ERR_INVALID_OUTCOME"
  | "ERR_INVALID_BATCH"
  | "ERR_UNKNOWN_USER"
  | "ERR_UNKNOWN_PLAN"
  | "ERR_PLAN_EXPIRED"
  | "ERR_AUDIT_WRITE"
  | "ERR_AUDIT_BACKLOG"
  | "ERR_AUDIT_UPLOAD"
  | "ERR_OUTBOX"
  | "ERR_HOLD_UNSUPPORTED"
  | "ERR_UNGATED_TOOLS"
  | "ERR_MISSING_PEER"
  | "ERR_PROVIDER"
  | "ERR_STORE"
  | "ERR_STORE_UNUSABLE"
  | "ERR_INVALID_TEXT"
  | "ERR_SERVER_UNAVAILABLE"
  | "ERR_API_KEY_REJECTED"
  | "ERR_REQUEST_REFUSED"
  | "ERR_PLAN_REVOKED"
  | "ERR_PLAN_REJECTED"
  | "ERR_PLAN_HELD"
  | "ERR_HOLD"
  | "ERR_CLOSED"
  | "ERR_BLOCKED";

/** Any mistake that Intentlock reports by throwing. A refused tool call is not one: it is a decision with `verdict: "block"`. */
export class IntentlockError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** One problem in a policy or a plan. `path` is like `rules[2].match.tool` (empty: the whole document); lines and columns count from 1. */
export interface Issue {
  readonly path: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** A policy that cannot be used. `issues` lists every problem that was found. */
export class PolicyError extends IntentlockError {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[], options?: { readonly cause?: unknown }) {
    super("ERR_INVALID_POLICY", `The policy is not valid:\n${describeIssues(issues)}`, options);
    this.issues = issues;
  }
}

/** A plan that cannot be used. `issues` lists every problem that was found. */
export class PlanError extends IntentlockError {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[], options?: { readonly cause?: unknown }) {
    super("ERR_INVALID_PLAN", `The plan is not valid:\n${describeIssues(issues)}`, options);
    this.issues = issues;
  }
}

function describeIssues(issues: readonly Issue[]): string {
  return issues
    .map(({ path, message, line, column }) => {
      const place = [line === undefined ? "" : `${line}:${column ?? 1}`, path].filter(Boolean).join(" ");
      return place ? `  ${place}: ${message}` : `  ${message}`;
    })
    .join("\n");
}
