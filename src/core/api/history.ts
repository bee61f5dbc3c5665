import { z } from "zod";
import type { AuditEntry, DecisionRecord, OutcomeStatus } from "../audit.ts";
import { countSchema, digestSchema, idSchema, secondsSchema, toolNameSchema } from "../fields.ts";
import { closedObject } from "../schema.ts";
import { type Decision, MAX_CALL_ID_CHARACTERS } from "../verdict.ts";
import { auditEntrySchema, decisionRecordSchema } from "./audit-entry.ts";
import { durationSchema, outcomeStatusSchema } from "./calls.ts";
import { reasonSchema, stepSchema } from "./decisions.ts";
import type { Endpoint, StreamEndpoint } from "./endpoint.ts";
import { type InboxItem, inboxItemSchema } from "./holds.ts";
import { type PlanAnswer, planAnswerFields } from "./plans.ts";
import {
  type ListQuery,
  listQuery,
  momentSchema,
  personSchema,
  queryMoment,
  queryNumber,
  serverIdSchema,
} from "./values.ts";

/** Which decisions are wanted; all that are given must hold. */
export interface DecisionFilter {
  readonly agentId?: string;
  /** E-mail of the person that the agent acts for. */
  readonly user?: string;
  readonly tool?: string;
  /** As the call was answered. */
  readonly verdict?: Decision["verdict"];
  /** A block reason, or the id of a rule that blocked. */
  readonly reason?: string;
  /** Received from here on, in milliseconds since the epoch. */
  readonly from?: number;
  /** Received before. */
  readonly to?: number;
}

export interface DecisionsQuery extends DecisionFilter, ListQuery {}

/** A decision in a list. The whole of it is in the story of its plan. */
export interface DecisionItem {
  readonly planId: string;
  readonly seq: number;
  /** By the clock of whoever decided, and by the server's. */
  readonly at: number;
  readonly receivedAt: number;
  readonly agentId: string;
  readonly agentName: string;
  readonly user: string;
  readonly callId: string;
  readonly tool: string;
  /** As the call was answered: `block` also where `check()` allowed and the call was blocked all the same. */
  readonly verdict: Decision["verdict"];
  readonly reason?: string;
  readonly step?: number;
  readonly rule?: string;
  readonly digest?: string;
  /** Of the person whose approval allowed it. */
  readonly approvedBy?: string;
  /** Of what a client decided: whether the server could decide it again, and the same. */
  readonly verdictCheck?: VerdictCheckAnswer;
}

export type VerdictCheckAnswer = "recomputed" | "not_recomputable" | "differs";

export interface DecisionsAnswer {
  /** The last received first. */
  readonly decisions: readonly DecisionItem[];
  readonly next?: string;
}

/** A line of an export: the decision as it is on record, with all that it rested on. */
export interface ExportedDecision
  extends Pick<DecisionItem, "planId" | "seq" | "agentId" | "agentName" | "user" | "receivedAt" | "verdictCheck"> {
  readonly entry: AuditEntry;
}

export interface StoryQuery extends ListQuery {
  /** The number of the first entry that is wanted; 0 unless told. Not with `after`, which goes on from where it is. */
  readonly from?: number;
}

/** What happened under a plan, without the tokens: what it says of them is read from them. */
export type StoryEvent =
  | {
      readonly type: "plan_signed" | "refresh";
      /** Empty if the text is no token of ours. */
      readonly jti: string;
      /** Seconds since the epoch. */
      readonly expiresAt: number;
    }
  | DecisionRecord
  | { readonly type: "hold"; readonly decisionSeq: number; readonly holdId: string }
  | { readonly type: "approval"; readonly decisionSeq: number; readonly holdId: string; readonly approvedBy: string }
  | {
      readonly type: "outcome";
      readonly decisionSeq: number;
      readonly status: OutcomeStatus;
      readonly durationMs?: number;
    }
  | { readonly type: "closed" };

export interface StoryEntry {
  readonly seq: number;
  readonly at: number;
  readonly receivedAt: number;
  readonly event: StoryEvent;
  readonly verdictCheck?: VerdictCheckAnswer;
}

/** A plan with all that happened under it, in order, and the holds that were opened. */
export interface StoryAnswer {
  /** With why somebody should look at it, if anybody should. */
  readonly plan: PlanAnswer & { readonly agentName: string; readonly flagged?: unknown };
  readonly entries: readonly StoryEntry[];
  /** Of the plan itself and of its calls, as they were opened: with the first part, unless they are too long for one. */
  readonly holds: readonly InboxItem[];
  /** For `after`, if there is more. */
  readonly next?: string;
}

export interface OverviewQuery {
  /** How far back: 1 to 8784, 24 unless told. */
  readonly hours?: number;
  readonly agentId?: string;
}

export interface OverviewAnswer {
  /**
   * The time that it is about, in milliseconds since the epoch, cut into parts of the same length that begin at round
   * times: it begins a little before what was asked for, and ends with the part that is under way.
   */
  readonly from: number;
  readonly to: number;
  readonly partMs: number;
  /** One for each part in order, also where nothing happened. */
  readonly parts: readonly OverviewPart[];
  /** The most frequent first, at most 20. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** The most frequent first, at most 20. */
  readonly tools: readonly OverviewTool[];
  /** Now. */
  readonly pendingHolds: number;
  /** Of the plans made in this time, those that somebody should look at: {@link StoryAnswer} says why. */
  readonly flaggedPlans: number;
}

export interface OverviewCounts {
  readonly allow: number;
  readonly hold: number;
  readonly block: number;
}

export interface OverviewPart extends OverviewCounts {
  /** When it begins. */
  readonly at: number;
}

export interface OverviewTool extends OverviewCounts {
  readonly tool: string;
}

export interface FlaggedPlansQuery extends ListQuery {
  /** No others are listed. */
  readonly flagged: "true";
  readonly agentId?: string;
  /** Made from here on, in milliseconds since the epoch. */
  readonly from?: number;
}

/** A plan that somebody should look at, and why: as {@link StoryAnswer} has it. */
export interface FlaggedPlan
  extends Pick<StoryAnswer["plan"], "planId" | "status" | "agentId" | "agentName" | "user" | "createdAt"> {
  readonly flagged: unknown;
}

export interface FlaggedPlansAnswer {
  /** The newest first. Of one that was revoked, somebody has looked at it. */
  readonly plans: readonly FlaggedPlan[];
  readonly next?: string;
}

const verdictSchema: z.ZodType<Decision["verdict"]> = z.enum(["allow", "hold", "block"]);
const verdictCheckSchema: z.ZodType<VerdictCheckAnswer> = z.enum(["recomputed", "not_recomputable", "differs"]);

const filter = {
  agentId: serverIdSchema.exactOptional(),
  user: personSchema.exactOptional(),
  tool: toolNameSchema.exactOptional(),
  verdict: verdictSchema.exactOptional(),
  reason: reasonSchema.exactOptional(),
  from: queryMoment.exactOptional(),
  to: queryMoment.exactOptional(),
};

export const decisionFilterSchema: z.ZodType<DecisionFilter> = closedObject(filter);

export const decisionsQuerySchema: z.ZodType<DecisionsQuery> = closedObject({ ...filter, ...listQuery });

const decided = {
  planId: serverIdSchema,
  seq: countSchema,
  agentId: serverIdSchema,
  agentName: z.string(),
  user: z.string(),
  receivedAt: momentSchema,
  verdictCheck: verdictCheckSchema.exactOptional(),
};

export const decisionItemSchema: z.ZodType<DecisionItem> = z.object({
  ...decided,
  at: z.number().min(0),
  callId: z.string().max(MAX_CALL_ID_CHARACTERS),
  tool: z.string().max(64),
  verdict: verdictSchema,
  reason: reasonSchema.exactOptional(),
  step: stepSchema.exactOptional(),
  rule: z.string().exactOptional(),
  digest: digestSchema.exactOptional(),
  approvedBy: z.string().exactOptional(),
});

export const exportedDecisionSchema: z.ZodType<ExportedDecision> = z.object({ ...decided, entry: auditEntrySchema });

const decisionSeq = { decisionSeq: countSchema };
const token = { jti: z.string().max(200), expiresAt: secondsSchema };

export const storyEventSchema: z.ZodType<StoryEvent> = z.union([
  z.object({ type: z.enum(["plan_signed", "refresh"]), ...token }),
  decisionRecordSchema,
  z.object({ type: z.literal("hold"), ...decisionSeq, holdId: idSchema }),
  z.object({ type: z.literal("approval"), ...decisionSeq, holdId: idSchema, approvedBy: z.string() }),
  z.object({
    type: z.literal("outcome"),
    ...decisionSeq,
    status: outcomeStatusSchema,
    durationMs: durationSchema.exactOptional(),
  }),
  z.object({ type: z.literal("closed") }),
]);

export const storyQuerySchema: z.ZodType<StoryQuery> = closedObject({
  from: queryNumber(0, Number.MAX_SAFE_INTEGER).exactOptional(),
  ...listQuery,
});

export const storyAnswerSchema: z.ZodType<StoryAnswer> = z.object({
  plan: z.object({ ...planAnswerFields, agentName: z.string(), flagged: z.unknown().exactOptional() }),
  entries: z.array(
    z.object({
      seq: countSchema,
      at: z.number().min(0),
      receivedAt: momentSchema,
      event: storyEventSchema,
      verdictCheck: verdictCheckSchema.exactOptional(),
    }),
  ),
  holds: z.array(inboxItemSchema),
  next: z.string().exactOptional(),
});

export const overviewQuerySchema: z.ZodType<OverviewQuery> = closedObject({
  hours: queryNumber(1, 8784).exactOptional(),
  agentId: serverIdSchema.exactOptional(),
});

const counts = { allow: countSchema, hold: countSchema, block: countSchema };

export const overviewAnswerSchema: z.ZodType<OverviewAnswer> = z.object({
  from: momentSchema,
  to: momentSchema,
  partMs: z.int().min(1),
  parts: z.array(z.object({ at: momentSchema, ...counts })),
  reasons: z.array(z.object({ reason: z.string(), count: countSchema })),
  tools: z.array(z.object({ tool: z.string(), ...counts })),
  pendingHolds: countSchema,
  flaggedPlans: countSchema,
});

export const flaggedPlansQuerySchema: z.ZodType<FlaggedPlansQuery> = closedObject({
  flagged: z.literal("true"),
  agentId: serverIdSchema.exactOptional(),
  from: queryMoment.exactOptional(),
  ...listQuery,
});

const { planId, status, agentId, user, createdAt } = planAnswerFields;

export const flaggedPlanSchema: z.ZodType<FlaggedPlan> = z.object({
  planId,
  status,
  agentId,
  agentName: z.string(),
  user,
  createdAt,
  flagged: z.unknown(),
});

/** What was decided, for those that it concerns: administrators see all of it, others what was done for them. */
export const historyEndpoints: {
  readonly listDecisions: Endpoint<undefined, DecisionsAnswer, DecisionsQuery>;
  readonly exportDecisions: StreamEndpoint<ExportedDecision, DecisionFilter>;
  readonly getStory: Endpoint<undefined, StoryAnswer, StoryQuery>;
  readonly getOverview: Endpoint<undefined, OverviewAnswer, OverviewQuery>;
  readonly listFlaggedPlans: Endpoint<undefined, FlaggedPlansAnswer, FlaggedPlansQuery>;
} = {
  listDecisions: {
    method: "GET",
    path: "/v1/decisions",
    summary: "The decisions that the person who is signed in may see, the last received first",
    auth: ["person"],
    query: decisionsQuerySchema,
    answers: { 200: z.object({ decisions: z.array(decisionItemSchema), next: z.string().exactOptional() }) },
  },
  exportDecisions: {
    method: "GET",
    path: "/v1/decisions/export",
    summary: "The same decisions whole, one on each line",
    auth: ["person"],
    query: decisionFilterSchema,
    answers: { 200: exportedDecisionSchema },
    media: "application/x-ndjson",
  },
  getStory: {
    method: "GET",
    path: "/v1/plans/{planId}/story",
    summary: "A plan with all that happened under it; also for those who may see one of its holds",
    auth: ["person"],
    query: storyQuerySchema,
    answers: { 200: storyAnswerSchema },
  },
  getOverview: {
    method: "GET",
    path: "/v1/overview",
    summary: "How much was allowed, held and blocked, over time and by reason and tool",
    auth: ["admin"],
    query: overviewQuerySchema,
    answers: { 200: overviewAnswerSchema },
  },
  listFlaggedPlans: {
    method: "GET",
    path: "/v1/plans",
    summary: "The plans that somebody should look at, the newest first",
    auth: ["admin"],
    query: flaggedPlansQuerySchema,
    answers: { 200: z.object({ plans: z.array(flaggedPlanSchema), next: z.string().exactOptional() }) },
  },
};
