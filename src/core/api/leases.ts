import { z } from "zod";
import type { Spent } from "../budget.ts";
import { countSchema, digestSchema, secondsSchema } from "../fields.ts";
import { closedObject } from "../schema.ts";
import { boundKeySchema, type PublicKey } from "../signing-key.ts";
import type { Endpoint } from "./endpoint.ts";
import { OVER, type SignedPlanAnswer, signedPlanFields } from "./plans.ts";
import { headSchema, momentSchema, serverIdSchema, spentSchema } from "./values.ts";

export interface LeaseBody {
  /** Of the process that works on the plan, as it likes: another one gets `lease_held`. */
  readonly holder: string;
}

export interface LeasePlanBody extends LeaseBody {
  /** Gives the lease back: whoever comes next gets it at once. */
  readonly release?: true;
}

export interface LeaseAnswer {
  /** Milliseconds since the epoch. Asked again before, the lease goes on. */
  readonly leaseUntil: number;
}

export interface ResumePlanBody extends LeaseBody {
  /** A new key for the client's batches, if the one of the signing is not at hand: the new token names it. */
  readonly clientKey?: PublicKey;
}

/** A hold of a plan that still waits, or was decided and not used. */
export interface OpenHold {
  readonly holdId: string;
  readonly decisionSeq: number;
  readonly callId: string;
  readonly tool: string;
  readonly digest: string;
  readonly status: "pending" | "approved";
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** A plan to go on with, counts and all: from the server's records, and never from messages. */
export interface ResumedPlanAnswer extends SignedPlanAnswer, LeaseAnswer {
  readonly taskDigest: string;
  /** How many calls each step has taken. */
  readonly used: readonly number[];
  /** What the plan has taken from its session budget. */
  readonly spent: Spent;
  /** Of the audit entry that the server expects next, and the digest of the last that it has. */
  readonly seq: number;
  readonly head: string | null;
  readonly openHolds: readonly OpenHold[];
}

const lease = { leaseUntil: momentSchema };
const holder = z.string().min(1).max(200);

export const leaseBodySchema: z.ZodType<LeasePlanBody> = closedObject({
  holder,
  release: z.literal(true).exactOptional(),
});

export const leaseAnswerSchema: z.ZodType<LeaseAnswer> = z.object(lease);

export const resumePlanBodySchema: z.ZodType<ResumePlanBody> = closedObject({
  holder,
  clientKey: boundKeySchema.exactOptional(),
});

const openHold: z.ZodType<OpenHold> = z.object({
  holdId: serverIdSchema,
  decisionSeq: countSchema,
  callId: z.string(),
  tool: z.string(),
  digest: digestSchema,
  status: z.enum(["pending", "approved"]),
  expiresAt: secondsSchema,
});

export const resumedPlanAnswerSchema: z.ZodType<ResumedPlanAnswer> = z.object({
  ...signedPlanFields,
  ...lease,
  taskDigest: digestSchema,
  used: z.array(countSchema),
  spent: spentSchema,
  seq: countSchema,
  head: headSchema,
  openHolds: z.array(openHold),
});

/** Working on a plan alone, and going on with one. */
export const leaseEndpoints: {
  readonly leasePlan: Endpoint<LeasePlanBody, LeaseAnswer>;
  readonly resumePlan: Endpoint<ResumePlanBody, ResumedPlanAnswer>;
} = {
  leasePlan: {
    method: "POST",
    path: "/v1/plans/{planId}/lease",
    summary: "Makes one process the only one that works on a plan, for a while, or gives that back",
    auth: ["agent"],
    body: leaseBodySchema,
    answers: { 200: leaseAnswerSchema },
    problems: [...OVER, "lease_held"],
  },
  resumePlan: {
    method: "POST",
    path: "/v1/plans/{planId}/resume",
    summary: "Takes the lease and gives the plan back, with its counts and its open holds",
    auth: ["agent"],
    body: resumePlanBodySchema,
    answers: { 200: resumedPlanAnswerSchema },
    problems: [...OVER, "plan_pending", "plan_rejected", "lease_held", "unknown_user", "user_not_allowed"],
  },
};
