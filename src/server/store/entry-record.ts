import type { AuditEntry } from "../../core/index.ts";
import type { VerdictCheck } from "./append.ts";
import { readJson } from "./json-text.ts";
import type { JsonText } from "./schema.ts";

/** An entry with what the server knows of it. */
export interface StoredEntry {
  readonly entry: AuditEntry;
  /** Milliseconds since the epoch, by the server's clock. */
  readonly receivedAt: number;
  /** Null if the server decided itself, or if it is no decision. */
  readonly verdictCheck: VerdictCheck | null;
}

export function toStoredEntry(row: {
  readonly entry: JsonText;
  readonly received_at: number;
  readonly verdict_check: string | null;
}): StoredEntry {
  return {
    entry: readJson<AuditEntry>(row.entry),
    receivedAt: row.received_at,
    verdictCheck: row.verdict_check as VerdictCheck | null,
  };
}
