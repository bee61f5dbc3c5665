import { z } from "zod";
import { MAX_BATCH_ENTRIES } from "../audit-batch.ts";
import { countSchema, idSchema } from "../fields.ts";
import { closedObject } from "../schema.ts";
import type { Endpoint } from "./endpoint.ts";

/** The most bytes of a batch as it travels. One entry with the largest token fits into it. */
export const MAX_BATCH_BYTES = 8_388_608;

/** Entries of one plan's chain, and its client's signature over their place in it. */
export interface UploadAuditBody {
  readonly planId: string;
  /** Whatever they are: `auditEntrySchema` reads each, and `entry_invalid` says which is none. */
  readonly entries: readonly unknown[];
  /** What `signBatch()` gave. */
  readonly signature: string;
}

export interface UploadAuditAnswer {
  /** The server's signature over all that it has now: `openReceipt()` reads it. */
  readonly receipt: string;
  /** Of the entry that it expects next. */
  readonly seq: number;
}

const signed = z.string().min(1).max(8192);

export const uploadAuditBodySchema: z.ZodType<UploadAuditBody> = closedObject({
  planId: idSchema,
  entries: z
    .array(z.unknown().meta({ $ref: "#/components/schemas/AuditEntry" }))
    .min(1)
    .max(MAX_BATCH_ENTRIES),
  signature: signed,
});

export const uploadAuditAnswerSchema: z.ZodType<UploadAuditAnswer> = z.object({ receipt: signed, seq: countSchema });

/** What gates have recorded. */
export const auditEndpoints: { readonly uploadAudit: Endpoint<UploadAuditBody, UploadAuditAnswer> } = {
  uploadAudit: {
    method: "POST",
    path: "/v1/audit",
    summary: "Adds a batch of audit entries to a plan's chain; entries that the server has already change nothing",
    auth: ["agent"],
    body: uploadAuditBodySchema,
    maxBodyBytes: MAX_BATCH_BYTES,
    answers: { 200: uploadAuditAnswerSchema },
    problems: ["not_found", "batch_signature_invalid", "entry_invalid", "audit_gap", "audit_fork", "audit_rewritten"],
  },
};
