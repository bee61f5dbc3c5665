import { z } from "zod";
import { MAX_TOKEN_CHARACTERS } from "../claims.ts";
import { countSchema, digestSchema, secondsSchema } from "../fields.ts";
import { type Plan, planSchema } from "../plan.ts";
import { closedObject, namedValues } from "../schema.ts";
import { boundKeySchema, type PublicKey } from "../signing-key.ts";
import type { Endpoint } from "./endpoint.ts";
import { commentSchema, momentSchema, personSchema, serverIdSchema } from "./values.ts";

/** What the user asked for. `material` is text that the user passed on and did not write: no plan is made from it. */
export interface Task {
  readonly instruction: string;
  readonly material?: string;
  /** Earlier messages of the same user in the same chat, oldest first. Never answers. */
  readonly earlier?: readonly string[];
}

/** A plan with its signed token. Plain data: it can be stored, and is worth nothing without the gate's key. */
export interface SignedPlan {
  readonly planId: string;
  readonly plan: Plan;
  readonly token: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** Asks for a signature under a plan. */
export interface SignPlanBody {
  /** E-mail of the person that the agent acts for. */
  readonly user: string;
  readonly task: Task;
  /** Whatever it is: `parsePlan()` reads it, and says `invalid_plan` with more than a schema could. */
  readonly plan: unknown;
  /** The fingerprint of every tool that there is, by its name. */
  readonly tools: Readonly<Record<string, string>>;
  /** The key with which the client will sign its batches of audit entries. */
  readonly clientKey?: PublicKey;
  /** A person has to see the plan before it is signed. */
  readonly approvePlan?: boolean;
}

/** A plan that was signed, and the server's time at that: what a client's clock is off by. */
export interface SignedPlanAnswer extends SignedPlan {
  /** Milliseconds since the epoch. */
  readonly serverTime: number;
}

/** A plan that waits for a person. Once its hold is approved, a refresh signs it. */
export interface PendingPlanAnswer {
  readonly planId: string;
  readonly status: "pending";
  readonly holdId: string;
  readonly serverTime: number;
}

export type PlanStatus = "pending" | "open" | "closed" | "revoked" | "expired" | "rejected";

/** What the server knows of a plan. */
export interface PlanAnswer {
  readonly planId: string;
  readonly status: PlanStatus;
  readonly agentId: string;
  /** E-mail of the person that the agent acts for. */
  readonly user: string;
  readonly task: Task;
  readonly plan: Plan;
  readonly createdAt: number;
  /** Of the newest token, in seconds since the epoch; absent if nothing was signed yet. */
  readonly expiresAt?: number;
  /** Of the audit entry that the server expects next. */
  readonly seq: number;
  /** Why it was revoked or rejected. */
  readonly reason?: string;
}

export interface RevokePlanBody {
  readonly reason?: string;
}

const words = z.string().max(1_000_000);

export const taskSchema: z.ZodType<Task> = closedObject({
  instruction: words.regex(/\S/, "expected the user's words"),
  material: words.exactOptional(),
  earlier: z.array(words).max(1000).exactOptional(),
});

export const signPlanBodySchema: z.ZodType<SignPlanBody> = closedObject({
  user: personSchema,
  task: taskSchema,
  plan: z.unknown().meta({ $ref: "#/components/schemas/Plan" }),
  tools: namedValues(digestSchema).meta({
    type: "object",
    additionalProperties: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
  }),
  clientKey: boundKeySchema.exactOptional(),
  approvePlan: z.boolean().exactOptional(),
});

const token = z.string().min(1).max(MAX_TOKEN_CHARACTERS);
/** The fields of {@link signedPlanAnswerSchema}, for answers that have more. */
export const signedPlanFields: {
  readonly planId: z.ZodType<string>;
  readonly plan: z.ZodType<Plan>;
  readonly token: z.ZodType<string>;
  readonly expiresAt: z.ZodType<number>;
  readonly serverTime: z.ZodType<number>;
} = {
  planId: serverIdSchema,
  plan: planSchema,
  token,
  expiresAt: secondsSchema,
  serverTime: momentSchema,
};

export const signedPlanAnswerSchema: z.ZodType<SignedPlanAnswer> = z.object(signedPlanFields);

export const pendingPlanAnswerSchema: z.ZodType<PendingPlanAnswer> = z.object({
  planId: serverIdSchema,
  status: z.literal("pending"),
  holdId: serverIdSchema,
  serverTime: momentSchema,
});

export const planStatusSchema: z.ZodType<PlanStatus> = z.enum([
  "pending",
  "open",
  "closed",
  "revoked",
  "expired",
  "rejected",
]);

/** The fields of {@link planAnswerSchema}, for answers that have more. */
export const planAnswerFields: {
  readonly planId: z.ZodType<string>;
  readonly status: z.ZodType<PlanStatus>;
  readonly agentId: z.ZodType<string>;
  readonly user: z.ZodType<string>;
  readonly task: z.ZodType<Task>;
  readonly plan: z.ZodType<Plan>;
  readonly createdAt: z.ZodType<number>;
  readonly expiresAt: z.ZodExactOptional<z.ZodType<number>>;
  readonly seq: z.ZodType<number>;
  readonly reason: z.ZodExactOptional<z.ZodType<string>>;
} = {
  planId: serverIdSchema,
  status: planStatusSchema,
  agentId: serverIdSchema,
  user: z.string(),
  task: taskSchema,
  plan: planSchema,
  createdAt: momentSchema,
  expiresAt: secondsSchema.exactOptional(),
  seq: countSchema,
  reason: commentSchema.exactOptional(),
};

export const planAnswerSchema: z.ZodType<PlanAnswer> = z.object(planAnswerFields);

export const revokePlanBodySchema: z.ZodType<RevokePlanBody> = closedObject({ reason: commentSchema.exactOptional() });

/** The problems of a plan that is over. */
export const OVER: readonly ["plan_closed", "plan_expired", "plan_revoked"] = [
  "plan_closed",
  "plan_expired",
  "plan_revoked",
];

/** Signing plans, and what becomes of them. */
export const planEndpoints: {
  readonly signPlan: Endpoint<SignPlanBody, SignedPlanAnswer | PendingPlanAnswer>;
  readonly refreshPlan: Endpoint<undefined, SignedPlanAnswer>;
  readonly revokePlan: Endpoint<RevokePlanBody, PlanAnswer>;
  readonly getPlan: Endpoint<undefined, PlanAnswer>;
} = {
  signPlan: {
    method: "POST",
    path: "/v1/plans",
    summary: "Signs a plan for a person and a task, or holds it for a person to approve",
    auth: ["agent"],
    body: signPlanBodySchema,
    maxBodyBytes: 8_388_608,
    answers: { 201: signedPlanAnswerSchema, 202: pendingPlanAnswerSchema },
    problems: ["invalid_plan", "unknown_user", "user_not_allowed", "no_policy"],
  },
  refreshPlan: {
    method: "POST",
    path: "/v1/plans/{planId}/refresh",
    summary: "Signs a plan again, with the person and the policy as they are now",
    auth: ["agent"],
    answers: { 201: signedPlanAnswerSchema },
    problems: [...OVER, "plan_pending", "plan_rejected", "unknown_user", "user_not_allowed"],
  },
  revokePlan: {
    method: "POST",
    path: "/v1/plans/{planId}/revoke",
    summary: "Revokes a plan: none of its calls is allowed from here on",
    auth: ["agent", "admin"],
    body: revokePlanBodySchema,
    answers: { 200: planAnswerSchema },
    problems: ["plan_closed"],
  },
  getPlan: {
    method: "GET",
    path: "/v1/plans/{planId}",
    summary: "What the server knows of a plan",
    auth: ["agent", "person"],
    answers: { 200: planAnswerSchema },
  },
};
