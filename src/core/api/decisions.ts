import { z } from "zod";
import type { Approvers } from "../approvers.ts";
import { roleSchema } from "../approvers.ts";
import { countSchema, digestSchema, ruleIdSchema } from "../fields.ts";
import { MAX_POINTER_CHARACTERS } from "../json-pointer.ts";
import { MAX_PLAN_STEPS } from "../plan.ts";
import { closedObject } from "../schema.ts";
import { MAX_SOURCE_MATCHES, type SourceMatch } from "../sources/find-source.ts";
import { type Decision, MAX_CALL_ID_CHARACTERS, type Stage } from "../verdict.ts";
import { limitSchema } from "./values.ts";

/** The index of a step of a plan. */
export const stepSchema: z.ZodType<number> = z
  .int()
  .min(0)
  .max(MAX_PLAN_STEPS - 1);

/** A `BlockReason` or the id of a rule; of a newer server it may be a reason that is not known here. */
export const reasonSchema: z.ZodType<string> = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, "expected a reason");

export const stageSchema: z.ZodType<Stage> = z.enum([
  "parse",
  "schema",
  "token",
  "plan",
  "limits",
  "policy",
  "budget",
  "gate",
]);

/** Where the values of a call were found. In the order of canonical JSON, as records have them. */
export const sourcesSchema: z.ZodType<readonly SourceMatch[]> = z
  .array(
    closedObject({
      arg: z.string().max(MAX_POINTER_CHARACTERS),
      from: z.string().max(64),
      path: z.string().max(MAX_POINTER_CHARACTERS).exactOptional(),
      seq: countSchema.exactOptional(),
    }),
  )
  .max(MAX_SOURCE_MATCHES);

/** The arguments that a rule with `unpinned` found open. */
export const unpinnedSchema: z.ZodType<readonly string[]> = z.array(z.string().max(1000)).max(100);

const decided = {
  callId: z.string().max(MAX_CALL_ID_CHARACTERS),
  tool: z.string().max(64),
  planId: z.string().max(200),
  digest: digestSchema.exactOptional(),
  elapsedUs: z.number().min(0).exactOptional(),
  seq: countSchema.exactOptional(),
  sources: sourcesSchema.exactOptional(),
  unpinned: unpinnedSchema.exactOptional(),
};

/** What was decided of a call that has its place in the plan always has a digest: it was an object of JSON. */
const planned = { ...decided, digest: digestSchema, step: stepSchema, rule: ruleIdSchema };

const allow = z.object({
  ...planned,
  verdict: z.literal("allow"),
  budgetRemaining: z
    .object({ session: limitSchema.exactOptional(), principal: limitSchema.exactOptional() })
    .nullable(),
  payoutMicros: countSchema.exactOptional(),
  principalId: z.string().max(254).exactOptional(),
  approvedBy: z.string().max(254).exactOptional(),
});

const approvers: z.ZodType<Approvers> = z.object({
  roles: z.array(roleSchema).exactOptional(),
  emails: z.array(z.string().max(254)).exactOptional(),
  self: z.boolean().exactOptional(),
});

const hold = z.object({
  ...planned,
  verdict: z.literal("hold"),
  approvers,
  timeoutSeconds: z.int().min(1).max(86_400),
  ruleReason: z.string().max(1000).exactOptional(),
});

const block = z.object({
  ...decided,
  verdict: z.literal("block"),
  reason: reasonSchema,
  message: z.string().max(4000),
  stage: stageSchema,
  step: stepSchema.exactOptional(),
  rule: ruleIdSchema.exactOptional(),
});

/**
 * A decision that came over the network: one of the three verdicts, whole. Fields that are not known are passed over. That
 * it answers the call that was asked about is for {@link answersCall} to say.
 */
export const decisionSchema: z.ZodType<Decision> = z.discriminatedUnion("verdict", [allow, hold, block]);

/** What a client asked to have decided. */
export interface AskedCall {
  readonly callId: string;
  readonly tool: string;
  readonly planId: string;
  /** As `digestCall()` gives it. */
  readonly digest: string | undefined;
  /** It only asked what the decision would be: then it has no number. */
  readonly peek?: boolean;
}

/**
 * Whether an allow or a hold is the answer to this call, and not one to another that was mixed up on the way. A block
 * answers any call: nothing runs by it.
 */
export function answersCall(decision: Decision, asked: AskedCall): boolean {
  if (decision.verdict === "block") return true;
  return (
    decision.callId === asked.callId &&
    decision.tool === asked.tool &&
    decision.planId === asked.planId &&
    decision.digest !== undefined &&
    decision.digest === asked.digest &&
    (decision.seq !== undefined) !== (asked.peek ?? false)
  );
}
