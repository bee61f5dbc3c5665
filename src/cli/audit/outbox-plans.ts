import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type AuditEntry, isJsonObject } from "../../core/index.ts";
import { CliError } from "../exit-codes.ts";
import { printable } from "../output/printable.ts";
import type { KeptPlan } from "./audit-report.ts";

/** `ILOB`, as `src/gates/outbox/open-file.ts` writes it. */
const APPLICATION_ID = 0x494c4f42;
const SCHEMA_VERSION = 1;

const SELECT_PLAN = `
  SELECT plan_id, base_seq, base_head,
    (SELECT digest FROM entries WHERE plan = plans.id ORDER BY seq DESC LIMIT 1) AS head
  FROM plans WHERE id = ?`;

/**
 * Reads the plans of an outbox file and changes nothing of it: opening it as an outbox would make a file that is not
 * there, and might remove what was uploaded.
 *
 * @throws CliError `ERR_OUTBOX` if it is none, or cannot be read
 */
export function* readOutboxPlans(path: string, planId?: string): Generator<KeptPlan> {
  const file = openReadOnly(path);
  try {
    const ids = file.prepare("SELECT id FROM plans WHERE ? IS NULL OR plan_id = ? ORDER BY id");
    const plans = file.prepare(SELECT_PLAN);
    const bodies = file.prepare("SELECT body FROM entries WHERE plan = ? ORDER BY seq");
    for (const { id } of ids.all(planId ?? null, planId ?? null)) {
      // One moment of a file that a gate may be writing to: the end and the entries belong together.
      file.exec("BEGIN");
      const row = plans.get(Number(id));
      const entries = bodies.all(Number(id));
      file.exec("COMMIT");
      if (row) yield toPlan(row, entries);
    }
  } catch (cause) {
    throw cause instanceof CliError ? cause : unreadable(path, cause);
  } finally {
    file.close();
  }
}

function toPlan(row: Record<string, unknown>, bodies: readonly Record<string, unknown>[]): KeptPlan {
  const { plan_id, base_seq, base_head, head } = row;
  const planId = String(plan_id);
  const read = readEntries(bodies);
  const agentId = audienceOf(read.entries);
  const kept = { planId, ...read, ...(agentId !== undefined && { agentId }) };
  if (base_seq === 0) return { ...kept, head: head as string | null };
  const from = { planId, seq: Number(base_seq), prev: base_head as string | null };
  // Without entries, the end is that of what was removed.
  return { ...kept, from, ...(read.entries.length > 0 && { head: head as string | null }) };
}

function readEntries(rows: readonly Record<string, unknown>[]): Pick<KeptPlan, "entries" | "unreadable"> {
  const entries: AuditEntry[] = [];
  for (const { body } of rows) {
    try {
      const entry: unknown = JSON.parse(String(body));
      if (!isJsonObject(entry) || !isJsonObject(entry["event"])) throw new SyntaxError("no entry");
      entries.push(entry as unknown as AuditEntry);
    } catch {
      return { entries, unreadable: "it is not an audit entry" };
    }
  }
  return { entries };
}

function openReadOnly(path: string): DatabaseSync {
  let file: DatabaseSync | undefined;
  try {
    if (!statSync(path).isFile()) throw new Error("it is no file");
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    file = new DatabaseSync(path, { readOnly: true, allowExtension: false });
    // Nothing that is defined in the file may run with what is asked of it.
    file.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA busy_timeout = 5000");
    const version = readPragma(file, "user_version");
    if (readPragma(file, "application_id") !== APPLICATION_ID) throw new Error("it is another program's database");
    if (version !== SCHEMA_VERSION) throw new Error(`its schema is version ${version}, not ${SCHEMA_VERSION}`);
    const tables = file.prepare("SELECT sql FROM sqlite_schema WHERE name IN ('plans', 'entries')").all();
    const arePlain = tables.every(({ sql }) => /^CREATE TABLE /.test(String(sql)) && !/\bAS\b/i.test(String(sql)));
    if (tables.length !== 2 || !arePlain) throw new Error("its tables are not those of an outbox");
    return file;
  } catch (cause) {
    file?.close();
    throw unreadable(path, cause);
  }
}

function readPragma(file: DatabaseSync, name: string): unknown {
  return Object.values(file.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

function unreadable(path: string, cause: unknown): CliError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = code === "ENOENT" ? "there is no such file" : message;
  return new CliError("ERR_OUTBOX", `${printable(path)} cannot be read as an outbox: ${why}.`, { cause });
}

/** The agent that the first token names: it counts for nothing until the token is verified for it. */
function audienceOf(entries: readonly AuditEntry[]): string | undefined {
  const event = entries[0]?.event;
  if (event?.type !== "plan_signed" || typeof event.token !== "string") return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(event.token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const { aud } = claims as { readonly aud?: unknown };
    return typeof aud === "string" ? aud : undefined;
  } catch {
    return undefined;
  }
}
