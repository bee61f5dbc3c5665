import { z } from "zod";
import type { AuditEntry, AuditEvent, DecisionRecord } from "../audit.ts";
import type { Approval, RecordedEvidence } from "../call.ts";
import { MAX_TOKEN_CHARACTERS } from "../claims.ts";
import {
  countSchema,
  digestSchema,
  fingerprintSchema,
  idSchema,
  normalEmailSchema,
  ruleIdSchema,
  secondsSchema,
} from "../fields.ts";
import { MAX_PLAN_STEPS } from "../plan.ts";
import { closedObject, closedVariants, variant } from "../schema.ts";
import { MAX_CALL_ID_CHARACTERS } from "../verdict.ts";
import { durationSchema, outcomeStatusSchema } from "./calls.ts";
import { reasonSchema, sourcesSchema, stepSchema, unpinnedSchema } from "./decisions.ts";
import { argsSchema, headSchema } from "./values.ts";

// The fields stand in the order of canonical JSON: what is read then needs no sorting when it is hashed again.

const token = z.string().min(1).max(MAX_TOKEN_CHARACTERS);
const reference = { decisionSeq: countSchema };

const approvalSchema: z.ZodType<Approval> = closedObject({
  approvedBy: normalEmailSchema,
  digest: digestSchema,
  exp: secondsSchema,
  fingerprint: fingerprintSchema.exactOptional(),
  holdId: idSchema,
  planId: idSchema,
  rule: ruleIdSchema,
});

const spent = closedObject({ calls: countSchema, payoutMicros: countSchema });

const evidenceSchema: z.ZodType<RecordedEvidence> = closedObject({
  approval: approvalSchema.exactOptional(),
  ledger: closedObject({ principal: spent, session: spent }).exactOptional(),
});

const decision = variant({
  answer: reasonSchema.exactOptional(),
  args: argsSchema.exactOptional(),
  callId: z.string().max(MAX_CALL_ID_CHARACTERS),
  digest: digestSchema.exactOptional(),
  evidence: evidenceSchema.exactOptional(),
  fingerprint: fingerprintSchema.exactOptional(),
  // Empty if the call's token was not valid.
  jti: z.string().max(200),
  now: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  reason: reasonSchema.exactOptional(),
  rule: ruleIdSchema.exactOptional(),
  sources: sourcesSchema.exactOptional(),
  step: stepSchema.exactOptional(),
  tool: z.string().max(64),
  type: z.literal("decision"),
  unpinned: unpinnedSchema.exactOptional(),
  used: z.array(countSchema).max(MAX_PLAN_STEPS),
  verdict: z.enum(["allow", "hold", "block"]),
});

/** A decision with all that it rested on. */
export const decisionRecordSchema: z.ZodType<DecisionRecord> = decision;

/** What happened, as strictly as it is written: each kind with its fields and no others, all within bounds. */
export const auditEventSchema: z.ZodType<AuditEvent> = closedVariants("type", [
  variant({ token, type: z.literal("plan_signed") }),
  variant({ token, type: z.literal("refresh") }),
  decision,
  variant({ ...reference, holdId: idSchema, type: z.literal("hold") }),
  variant({ approval: approvalSchema, ...reference, type: z.literal("approval") }),
  variant({
    ...reference,
    durationMs: durationSchema.exactOptional(),
    status: outcomeStatusSchema,
    type: z.literal("outcome"),
  }),
  variant({ type: z.literal("closed") }),
]);

/** An audit entry of whoever sent it. Its place in the chain, and whether it is true, are not looked at. */
export const auditEntrySchema: z.ZodType<AuditEntry> = closedObject({
  at: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  event: auditEventSchema,
  planId: idSchema,
  prev: headSchema,
  seq: countSchema,
  v: z.literal(1),
});
