import type { AdminAuditAnswer, ListQuery } from "../../core/api/index.ts";
import { cutPart, DEFAULT_LIMIT, readCursor } from "../admin/take-part.ts";
import type { ServerContext } from "../handler.ts";

/**
 * What administrators and approvers did, the newest first.
 *
 * @throws ProblemError `invalid_request` for an `after` that is none
 */
export async function listAdminAudit(
  { store }: Pick<ServerContext, "store">,
  { limit = DEFAULT_LIMIT, after }: ListQuery,
): Promise<AdminAuditAnswer> {
  const before = after === undefined ? {} : { before: Number(readCursor(after, /^(\d{1,15})$/)[0]) };
  const some = await store.adminAudit.list({ limit: Math.min(limit + 1, 1000), ...before });
  const { items, ...rest } = cutPart(some, Math.min(limit, 999), ({ seq }) => String(seq));
  const entries = items.map(({ seq, at, actor, action, target, details }) => {
    return { seq, at, actor, action, target, details };
  });
  return { entries, ...rest };
}
