import { z } from "zod";
import { MAX_APPROVAL_CHARACTERS } from "../approval-token.ts";
import { type Approvers, approversSchema } from "../approvers.ts";
import { countSchema, digestSchema, idSchema, secondsSchema } from "../fields.ts";
import { type Plan, planSchema } from "../plan.ts";
import { closedObject } from "../schema.ts";
import type { SourceMatch } from "../sources/find-source.ts";
import type { Decision } from "../verdict.ts";
import { sourcesSchema, unpinnedSchema } from "./decisions.ts";
import type { Endpoint, StreamEndpoint } from "./endpoint.ts";
import { type Task, taskSchema } from "./plans.ts";
import {
  argsSchema,
  commentSchema,
  type ListQuery,
  listQuery,
  momentSchema,
  queryNumber,
  serverIdSchema,
} from "./values.ts";

/** The longest that one request waits for a person, in seconds. */
export const MAX_WAIT_SECONDS = 60;

export type HoldStatus = "pending" | "approved" | "rejected" | "expired" | "cancelled";

/** Asks for a person, about a call whose decision is a hold and is on record. */
export interface OpenHoldBody {
  readonly planId: string;
  /** `seq` of the decision. */
  readonly decisionSeq: number;
  /** Of the call: the record may have their digest alone. */
  readonly args: unknown;
}

export interface OpenedHoldAnswer {
  readonly holdId: string;
  readonly status: HoldStatus;
  /** Seconds since the epoch, by the server's clock. */
  readonly expiresAt: number;
}

export interface WaitQuery {
  /** Answer later, when the hold is decided or after so many seconds. */
  readonly waitSeconds?: number;
}

/** What became of a hold so far. Only `approved` of a call has an approval token: a plan is signed by a refresh. */
export type HoldAnswer =
  | (OpenedHoldAnswer & { readonly status: "pending" | "expired" | "cancelled" })
  | (OpenedHoldAnswer & {
      readonly status: "approved";
      readonly approvedBy: string;
      readonly approval?: string;
      readonly comment?: string;
    })
  | (OpenedHoldAnswer & { readonly status: "rejected"; readonly comment?: string });

export interface ClaimHoldBody {
  /** The approval token. */
  readonly approval: string;
}

export interface ClaimHoldAnswer {
  readonly claimed: true;
}

export interface DecideHoldBody {
  readonly decision: "approve" | "reject";
  /** For the model and the application to read. */
  readonly comment?: string;
}

/** A hold as the person who decides sees it. */
export interface InboxItem extends OpenedHoldAnswer {
  readonly kind: "call" | "plan";
  readonly planId: string;
  readonly agentId: string;
  readonly agentName: string;
  /** E-mail of the person that the agent acts for. */
  readonly user: string;
  readonly task: Task;
  readonly plan: Plan;
  readonly createdAt: number;
  /** Of the tool and the arguments; of a plan, of the plan. It is in the approval, too: what was shown is what was approved. */
  readonly digest: string;
  readonly approvers: Approvers;
  /** Of the call, if it is one: the index of its step, and the rule that holds it, in its own words. */
  readonly tool?: string;
  readonly fingerprint?: string;
  readonly args?: unknown;
  readonly step?: number;
  readonly rule?: string;
  readonly ruleReason?: string;
  /** When it was approved or rejected, ran out of time or was taken back. */
  readonly decidedAt?: number;
  readonly decidedBy?: string;
  readonly comment?: string;
}

/** A call that was allowed before, to compare a held one with. */
export interface SimilarCall {
  readonly planId: string;
  readonly seq: number;
  readonly at: number;
  readonly args: unknown;
  readonly verdict: Decision["verdict"];
  /** E-mail of the person that the agent acted for. */
  readonly user: string;
}

/** A hold with the last earlier call of the same agent and tool that was let through, of those that the person may see. */
export interface InboxItemAnswer extends InboxItem {
  /** The arguments for which its rule holds the call: nothing in the plan has fixed them. */
  readonly unpinned?: readonly string[];
  /** Where the values of the call were found: in the user's words, or in the results of earlier calls, by their step's id. */
  readonly sources?: readonly SourceMatch[];
  readonly similar?: SimilarCall;
}

/**
 * One event of the inbox. `hold`: a hold that the person may see was opened or decided, or its time is over. `look`, with
 * nothing in it: something may have been missed, so the inbox has to be read again.
 */
export interface InboxEvent {
  readonly holdId?: string;
  readonly status?: HoldStatus;
}

export interface InboxAnswer {
  readonly holds: readonly InboxItem[];
  readonly next?: string;
}

const opened = { holdId: serverIdSchema, expiresAt: secondsSchema };
export const holdStatusSchema: z.ZodType<HoldStatus> = z.enum([
  "pending",
  "approved",
  "rejected",
  "expired",
  "cancelled",
]);
const email = z.string().max(254);

export const openHoldBodySchema: z.ZodType<OpenHoldBody> = closedObject({
  planId: idSchema,
  decisionSeq: countSchema,
  args: argsSchema,
});

export const openedHoldAnswerSchema: z.ZodType<OpenedHoldAnswer> = z.object({ ...opened, status: holdStatusSchema });

export const waitQuerySchema: z.ZodType<WaitQuery> = closedObject({
  waitSeconds: queryNumber(0, MAX_WAIT_SECONDS).exactOptional(),
});

export const holdAnswerSchema: z.ZodType<HoldAnswer> = z.discriminatedUnion("status", [
  z.object({ ...opened, status: z.enum(["pending", "expired", "cancelled"]) }),
  z.object({
    ...opened,
    status: z.literal("approved"),
    approvedBy: email,
    approval: z.string().max(MAX_APPROVAL_CHARACTERS).exactOptional(),
    comment: commentSchema.exactOptional(),
  }),
  z.object({ ...opened, status: z.literal("rejected"), comment: commentSchema.exactOptional() }),
]);

export const claimHoldBodySchema: z.ZodType<ClaimHoldBody> = closedObject({
  approval: z.string().max(MAX_APPROVAL_CHARACTERS),
});

export const decideHoldBodySchema: z.ZodType<DecideHoldBody> = closedObject({
  decision: z.enum(["approve", "reject"]),
  comment: commentSchema.exactOptional(),
});

const inboxItem = {
  ...opened,
  status: holdStatusSchema,
  kind: z.enum(["call", "plan"]),
  planId: serverIdSchema,
  agentId: serverIdSchema,
  agentName: z.string(),
  user: email,
  task: taskSchema,
  plan: planSchema,
  createdAt: momentSchema,
  digest: digestSchema,
  approvers: approversSchema,
  tool: z.string().exactOptional(),
  fingerprint: z.string().exactOptional(),
  args: argsSchema.exactOptional(),
  step: countSchema.exactOptional(),
  rule: z.string().exactOptional(),
  ruleReason: z.string().exactOptional(),
  decidedAt: momentSchema.exactOptional(),
  decidedBy: email.exactOptional(),
  comment: commentSchema.exactOptional(),
};

export const inboxItemSchema: z.ZodType<InboxItem> = z.object(inboxItem);

const similarCall: z.ZodType<SimilarCall> = z.object({
  planId: serverIdSchema,
  seq: countSchema,
  at: momentSchema,
  args: argsSchema,
  verdict: z.enum(["allow", "hold", "block"]),
  user: email,
});

export const inboxItemAnswerSchema: z.ZodType<InboxItemAnswer> = z.object({
  ...inboxItem,
  unpinned: unpinnedSchema.exactOptional(),
  sources: sourcesSchema.exactOptional(),
  similar: similarCall.exactOptional(),
});

const inboxEventSchema: z.ZodType<InboxEvent> = z.object({
  holdId: serverIdSchema.exactOptional(),
  status: holdStatusSchema.exactOptional(),
});

export interface InboxQuery extends ListQuery {
  /** The ones that wait, unless told. */
  readonly status?: HoldStatus;
}

const inboxQuerySchema: z.ZodType<InboxQuery> = closedObject({
  ...listQuery,
  status: holdStatusSchema.exactOptional(),
});

/** Waiting for people. */
export const holdEndpoints: {
  readonly openHold: Endpoint<OpenHoldBody, OpenedHoldAnswer>;
  readonly getHold: Endpoint<undefined, HoldAnswer, WaitQuery>;
  readonly claimHold: Endpoint<ClaimHoldBody, ClaimHoldAnswer>;
  readonly decideHold: Endpoint<DecideHoldBody, OpenedHoldAnswer>;
  readonly listInbox: Endpoint<undefined, InboxAnswer, InboxQuery>;
  readonly watchInbox: StreamEndpoint<InboxEvent>;
  readonly getInboxItem: Endpoint<undefined, InboxItemAnswer>;
} = {
  openHold: {
    method: "POST",
    path: "/v1/holds",
    summary: "Asks a person about a call that a rule holds; asked again about the same decision, it is the same hold",
    auth: ["agent"],
    body: openHoldBodySchema,
    maxBodyBytes: 2_097_152,
    answers: { 201: openedHoldAnswerSchema },
    problems: [
      "not_found",
      "not_held",
      "hold_limit",
      "hold_rejected_before",
      "plan_closed",
      "plan_expired",
      "plan_revoked",
    ],
  },
  getHold: {
    method: "GET",
    path: "/v1/holds/{holdId}",
    summary: "What became of a hold; with waitSeconds, as soon as something has",
    auth: ["agent"],
    query: waitQuerySchema,
    answers: { 200: holdAnswerSchema },
  },
  claimHold: {
    method: "POST",
    path: "/v1/holds/{holdId}/claim",
    summary: "Uses an approval up, before its call runs",
    auth: ["agent"],
    body: claimHoldBodySchema,
    answers: { 200: z.object({ claimed: z.literal(true) }) },
    problems: ["approval_invalid", "already_claimed", "hold_expired", "plan_closed", "plan_expired", "plan_revoked"],
  },
  decideHold: {
    method: "POST",
    path: "/v1/holds/{holdId}/decision",
    summary: "Approves or rejects a call or a plan, as the person who is signed in",
    auth: ["person"],
    body: decideHoldBodySchema,
    answers: { 200: openedHoldAnswerSchema },
    problems: ["hold_not_pending", "hold_expired", "not_an_approver", "self_approval", "key_owner_approval"],
  },
  listInbox: {
    method: "GET",
    path: "/v1/inbox",
    summary:
      "The holds that the person who is signed in may decide: first what ends first; what is decided, newest first",
    auth: ["person"],
    query: inboxQuerySchema,
    answers: { 200: z.object({ holds: z.array(inboxItemSchema), next: z.string().exactOptional() }) },
  },
  // Before the ids: routes are tried in this order.
  watchInbox: {
    method: "GET",
    path: "/v1/inbox/events",
    summary: "What happens to the holds that the person may see, as it happens: events `hold` and `look`",
    auth: ["person"],
    answers: { 200: inboxEventSchema },
    media: "text/event-stream",
  },
  getInboxItem: {
    method: "GET",
    path: "/v1/inbox/{holdId}",
    summary: "One hold of the inbox, whatever became of it, with an earlier call to compare it with",
    auth: ["person"],
    answers: { 200: inboxItemAnswerSchema },
  },
};
