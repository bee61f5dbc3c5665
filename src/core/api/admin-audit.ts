import { z } from "zod";
import { countSchema } from "../fields.ts";
import type { JsonObject } from "../json.ts";
import type { Endpoint } from "./endpoint.ts";
import { argsSchema, type ListQuery, listQuerySchema, momentSchema } from "./values.ts";

/** What somebody did who administers or approves. */
export interface AdminAuditItem {
  readonly seq: number;
  readonly at: number;
  /** A person's e-mail, or how the command line calls itself. */
  readonly actor: string;
  /** Like `agent.create`. */
  readonly action: string;
  /** Id of what it was done to. */
  readonly target: string;
  /** What it became. */
  readonly details: JsonObject;
}

export interface AdminAuditAnswer {
  /** The newest first. */
  readonly entries: readonly AdminAuditItem[];
  readonly next?: string;
}

const entry: z.ZodType<AdminAuditItem> = z.object({
  seq: countSchema,
  at: momentSchema,
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  details: argsSchema as z.ZodType<JsonObject>,
});

/** The audit trail of administrators. */
export const adminAuditEndpoints: { readonly listAdminAudit: Endpoint<undefined, AdminAuditAnswer, ListQuery> } = {
  listAdminAudit: {
    method: "GET",
    path: "/v1/admin-audit",
    summary: "What administrators and approvers did",
    auth: ["admin"],
    query: listQuerySchema,
    answers: { 200: z.object({ entries: z.array(entry), next: z.string().exactOptional() }) },
  },
};
