import { z } from "zod";
import type { Issue } from "./errors.ts";

/** What one kind of problem is: its HTTP status, what it means, and what whoever runs the agent or the server can do. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly help: string;
}

const KINDS = {
  invalid_request: {
    status: 400,
    title: "The request is not what this endpoint takes",
    help: "The issues name each field that is wrong. Versions of client and server that do not belong together show here too.",
  },
  api_key_rejected: {
    status: 401,
    title: "The API key is unknown or revoked, or its agent is disabled",
    help: "Make a key with `intentlock key create`, or enable the agent again, and give the key to the gate.",
  },
  sign_in_required: {
    status: 401,
    title: "Nobody is signed in",
    help: "Open a new sign-in link: an administrator makes one with `intentlock user link`.",
  },
  sign_in_link_invalid: {
    status: 401,
    title: "The sign-in link was used before, is too old, or is none",
    help: "Open a new sign-in link: an administrator makes one with `intentlock user link`.",
  },
  forbidden: {
    status: 403,
    title: "This is not for you to do",
    help: "Ask an administrator. An agent sees its own plans and holds only.",
  },
  user_not_allowed: {
    status: 403,
    title: "The API key may not act for this person",
    help: "Add the person to those of the key, or use another key.",
  },
  not_an_approver: {
    status: 403,
    title: "The rule does not name this person as an approver",
    help: "Somebody whom the rule names has to decide. Who that is stands in `approvers` of the rule in the policy.",
  },
  self_approval: {
    status: 403,
    title: "The agent acts for this person, who may not approve its hold",
    help: "Another approver has to decide. A rule with `approvers: { self: true }` lets people approve their own.",
  },
  key_owner_approval: {
    status: 403,
    title: "The agent's API key belongs to this person, who may not approve its hold",
    help: "Another approver has to decide.",
  },
  not_found: {
    status: 404,
    title: "There is no such thing, or it is not yours to see",
    help: "Check the id, and that the API key is one of the agent that made it.",
  },
  method_not_allowed: {
    status: 405,
    title: "This path does not take this method",
    help: "The header Allow lists the methods that it takes.",
  },
  already_exists: {
    status: 409,
    title: "There is another one of this name",
    help: "Choose another name, or change the one that there is.",
  },
  last_admin: {
    status: 409,
    title: "Somebody has to remain an administrator",
    help: "Make another person an administrator first.",
  },
  policy_changed: {
    status: 409,
    title: "Another version of the policy counts than the one that this was written on",
    help: "Look at the version that counts now, and push again on that one if yours is still right.",
  },
  no_policy: {
    status: 409,
    title: "The agent has no policy yet",
    help: "Push one with `intentlock policy push --agent NAME FILE`.",
  },
  plan_pending: {
    status: 409,
    title: "A person has not approved the plan yet",
    help: "Wait for the hold that the answer to the signing named.",
  },
  plan_rejected: {
    status: 409,
    title: "A person rejected the plan",
    help: "Start a new session with another plan.",
  },
  plan_revoked: {
    status: 409,
    title: "The plan was revoked",
    help: "Start a new session. Who revoked it stands in the audit trail.",
  },
  plan_closed: {
    status: 409,
    title: "The plan was closed",
    help: "Start a new session.",
  },
  plan_expired: {
    status: 409,
    title: "The plan is too old to be renewed",
    help: "Start a new session. `planMaxAgeSeconds` of the agent says how old a plan may get.",
  },
  audit_gap: {
    status: 409,
    title: "Audit entries are missing between those that the server has and those that were sent",
    help: "Upload from the entry that `chain.seq` names; gates do so by themselves. If the outbox no longer has it, its file was replaced or restored from an older copy: keep the file, find the copy that has the entry, and revoke the plan if there is none.",
  },
  audit_fork: {
    status: 409,
    title: "The audit entries that were sent do not follow on those that the server has",
    help: "Two outboxes have written for one plan: a copy of an outbox file in use, or two processes with a file each. Keep both files and compare their entries from `chain.seq` with `intentlock audit verify`; revoke the plan, and let one file serve one machine.",
  },
  audit_rewritten: {
    status: 409,
    title: "An audit entry that was sent differs from the one of the same number that the server has",
    help: "An entry was changed after it was uploaded. Treat the client as compromised: keep its outbox file, revoke the plan and the API key, and compare the file with the server's entries with `intentlock audit verify`.",
  },
  hold_not_pending: {
    status: 409,
    title: "The hold was decided already, or cancelled",
    help: "Nothing to do. The hold says who decided.",
  },
  hold_expired: {
    status: 409,
    title: "Nobody decided in time",
    help: "The agent has to ask again in a new plan. `timeoutSeconds` of the rule says how long a hold waits.",
  },
  already_claimed: {
    status: 409,
    title: "The approval was used already",
    help: "Nothing to do if the call ran. An approval is for one call: a second one needs a hold of its own.",
  },
  hold_limit: {
    status: 409,
    title: "The plan has as many holds as it may have",
    help: "Look at what the agent asks for: it may be made to wear people down. `maxHolds` of the agent is the limit.",
  },
  hold_rejected_before: {
    status: 409,
    title: "A person rejected the same action in this plan",
    help: "Nothing to do. If the action is right after all, start a new session.",
  },
  not_held: {
    status: 409,
    title: "Decided again, the call is not one that a person has to approve",
    help: "The policy or the person may have changed since: check the call again. If it comes out the same, the client's decision is not what its policy says: treat the client as compromised.",
  },
  outcome_not_expected: {
    status: 409,
    title: "No allowed call waits for this outcome",
    help: "Nothing to do if the same outcome was recorded before.",
  },
  lease_held: {
    status: 409,
    title: "Somebody else works on this plan",
    help: "Wait until `leaseUntil` has passed, or stop the other process.",
  },
  payload_too_large: {
    status: 413,
    title: "The request is too large",
    help: "Send fewer audit entries at a time, or a smaller plan or policy.",
  },
  unsupported_media_type: {
    status: 415,
    title: "The body is not JSON",
    help: "Send `content-type: application/json`, with no content encoding.",
  },
  unknown_user: {
    status: 422,
    title: "The server does not know this person",
    help: "Add the person with `intentlock user add`, with the e-mail that the application has.",
  },
  invalid_plan: {
    status: 422,
    title: "The plan is not valid",
    help: "The issues name each problem with its path.",
  },
  invalid_policy: {
    status: 422,
    title: "The policy is not valid",
    help: "The issues name each problem with its line and column.",
  },
  approval_invalid: {
    status: 422,
    title: "The approval token is not valid for this hold",
    help: "It is forged, expired or of another hold, plan or agent. Treat the client as compromised if it happens again.",
  },
  batch_signature_invalid: {
    status: 422,
    title: "The batch of audit entries was not signed by the plan's client",
    help: "The key that signed it is not the one that the plan's token names, or the entries are not the ones that were signed. Keep the outbox file and revoke the plan.",
  },
  entry_invalid: {
    status: 422,
    title: "An audit entry is not one, or what it says was decided is not what the policy decides",
    help: "The issues name the entry. Treat the client as compromised if its version is the server's: keep the outbox file and revoke the plan and the API key.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    help: "Wait for as many seconds as the header Retry-After says.",
  },
  internal: {
    status: 500,
    title: "An error happened in the server",
    help: "The server's log has it under the request id.",
  },
  unavailable: {
    status: 503,
    title: "The server cannot answer right now",
    help: "Try again. If it lasts, look at /readyz: the database may be down.",
  },
} as const;

/** What can be wrong with a request. The code is the contract; the words are for people and may change. */
export type ProblemCode = keyof typeof KINDS;

/** Every {@link ProblemCode} with its status, title and advice. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = Object.freeze(KINDS);

/** The media type of a {@link Problem} (RFC 9457). */
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** Where the server's copy of a plan's chain ends: the entry that it expects next, and the digest of its last. */
export interface KnownChain {
  readonly seq: number;
  readonly head: string | null;
}

/** The body of every answer that is an error (RFC 9457). */
export interface Problem {
  /** `urn:intentlock:problem:` and the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  /** What about this request. Never a token, a key or an argument's value. */
  readonly detail?: string;
  /** What whoever runs the agent or the server can do. */
  readonly help?: string;
  /** The request's id, as the server's log has it. */
  readonly instance?: string;
  readonly issues?: readonly Issue[];
  /** Of the `audit_` codes: what the server has. */
  readonly chain?: KnownChain;
}

/** The most issues of a problem, and the longest text in it. */
const MAX_PROBLEM_ISSUES = 1000;
const MAX_PROBLEM_CHARACTERS = 10_000;

const text = z.string().max(MAX_PROBLEM_CHARACTERS);

const issueSchema: z.ZodType<Issue> = z.object({
  path: text,
  message: text,
  line: z.int().min(1).exactOptional(),
  column: z.int().min(1).exactOptional(),
});

/** Of any list of issues that travels. */
export const issuesSchema: z.ZodType<readonly Issue[]> = z.array(issueSchema).max(MAX_PROBLEM_ISSUES);

/**
 * Reads a {@link Problem}, and passes over fields that it does not know. One with a code that this version does not know
 * is refused: go by the HTTP status then.
 */
export const problemSchema: z.ZodType<Problem> = z.object({
  type: text,
  title: text,
  status: z.int().min(400).max(599),
  code: z.enum(Object.keys(KINDS) as ProblemCode[]),
  detail: text.exactOptional(),
  help: text.exactOptional(),
  instance: text.exactOptional(),
  issues: issuesSchema.exactOptional(),
  chain: z.object({ seq: z.int().min(0), head: z.string().max(100).nullable() }).exactOptional(),
});

/** The body of an answer that says what is wrong. Long texts are cut: they may quote what an attacker wrote. */
export function createProblem(
  code: ProblemCode,
  { detail, instance, issues, chain }: Pick<Problem, "detail" | "instance" | "issues" | "chain"> = {},
): Problem {
  const { status, title, help } = PROBLEMS[code];
  return {
    type: `urn:intentlock:problem:${code}`,
    title,
    status,
    code,
    help,
    ...(detail !== undefined && { detail: cut(detail) }),
    ...(instance !== undefined && { instance: cut(instance) }),
    ...(issues && { issues: issues.slice(0, MAX_PROBLEM_ISSUES).map(cutIssue) }),
    ...(chain && { chain }),
  };
}

function cutIssue(issue: Issue): Issue {
  return { ...issue, path: cut(issue.path), message: cut(issue.message) };
}

function cut(words: string): string {
  return words.slice(0, MAX_PROBLEM_CHARACTERS).toWellFormed();
}
