import { auditEntrySchema, readMessage } from "../../core/api/index.ts";
import type { AuditEntry, Issue } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";

/** @throws ProblemError `entry_invalid` naming the first that is no entry of this plan, and what is wrong with it */
export function readEntries(entries: readonly unknown[], planId: string): readonly AuditEntry[] {
  return entries.map((value, index) => {
    const read = readMessage(auditEntrySchema, value);
    if (!read.valid) throw invalidEntry(index, read.issues);
    if (read.value.planId !== planId) throw invalidEntry(index, [{ path: "planId", message: "another plan's" }]);
    return read.value;
  });
}

export function invalidEntry(index: number, issues: readonly Issue[]): ProblemError {
  const placed = issues.map((issue) => ({ ...issue, path: `entries[${index}]${issue.path && `.${issue.path}`}` }));
  return new ProblemError("entry_invalid", { issues: placed });
}
