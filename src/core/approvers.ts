import { z } from "zod";
import { closedObject } from "./schema.ts";

/** What people may be on the server. */
export type Role = "admin" | "approver" | "member";

/** Who may approve: people with one of the roles, people named by e-mail, and with `self` the person the agent acts for. */
export interface Approvers {
  readonly roles?: readonly Role[];
  readonly emails?: readonly string[];
  readonly self?: boolean;
}

export const roleSchema: z.ZodType<Role> = z.enum(["admin", "approver", "member"]);

export const approversSchema: z.ZodType<Approvers> = closedObject({
  roles: z.array(roleSchema).max(10).optional(),
  emails: z.array(z.email("expected an e-mail address").max(254)).max(1000).optional(),
  self: z.boolean().optional(),
}).refine((who) => who.roles?.length || who.emails?.length || who.self, {
  error: "name at least one approver: roles, emails or self: true",
}) as z.ZodType<Approvers>;
