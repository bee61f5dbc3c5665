import { type Selectable, sql } from "kysely";
import { digest, type JsonObject } from "../../core/index.ts";
import { type Database, transact } from "./database.ts";
import { readJson, writeJson } from "./json-text.ts";
import { checkLimit } from "./page.ts";
import { checkNames, checkParameters } from "./parameters.ts";
import type { AdminAuditRow } from "./schema.ts";

/** What an administrator did. */
export interface AdminEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The person's e-mail, or how the command line calls itself. */
  readonly actor: string;
  /** Like `agent.create`. */
  readonly action: string;
  /** Id of what it was done to. */
  readonly target: string;
  readonly details: JsonObject;
}

/** One link of the chain. `seq` counts from 0. */
export interface AdminEntry extends AdminEvent {
  readonly seq: number;
  /** Digest of the entry before. */
  readonly prev: string | null;
  readonly digest: string;
}

/** The first entry that is not what was written; without one, the chain's length and its end, to be kept elsewhere. */
export type AdminAuditCheck =
  | { readonly count: number; readonly head: string | null; readonly problem?: undefined }
  | { readonly problem: { readonly seq: number; readonly what: string } };

/** The audit trail of administrators: a chain of digests, to which entries are only added. */
export class AdminAuditStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async append(event: AdminEvent): Promise<AdminEntry> {
    const { actor, action, target } = event;
    checkNames({ actor, action, target });
    checkParameters([actor, action, target]);
    return transact(this.#database, async (query) => {
      // A lock on rows would not do: the first two have none to meet on.
      if (this.#database.kind === "postgres") await sql`LOCK TABLE admin_audit IN EXCLUSIVE MODE`.execute(query);
      const last = await query
        .selectFrom("admin_audit")
        .select(["seq", "digest"])
        .orderBy("seq", "desc")
        .limit(1)
        .executeTakeFirst();
      const entry = link(event, { seq: last ? last.seq + 1 : 0, prev: last?.digest ?? null });
      await query
        .insertInto("admin_audit")
        .values({ ...entry, details: writeJson(entry.details) })
        .execute();
      return entry;
    });
  }

  /** Newest first. */
  async list({
    before,
    limit = 100,
  }: {
    readonly before?: number;
    readonly limit?: number;
  } = {}): Promise<AdminEntry[]> {
    let query = this.#database.query.selectFrom("admin_audit").selectAll();
    if (before !== undefined) query = query.where("seq", "<", before);
    const rows = await query.orderBy("seq", "desc").limit(checkLimit(limit)).execute();
    return rows.map(toEntry);
  }

  /** Reads the whole chain. That its last entries are missing shows only when `head` is compared with one kept elsewhere. */
  async verify(): Promise<AdminAuditCheck> {
    let head: string | null = null;
    let count = 0;
    for (;;) {
      const rows = await this.#database.query
        .selectFrom("admin_audit")
        .selectAll()
        .where("seq", ">=", count)
        .orderBy("seq")
        .limit(1000)
        .execute();
      for (const row of rows) {
        const what = findProblem(row, { seq: count, prev: head });
        if (what !== undefined) return { problem: { seq: count, what } };
        head = row.digest;
        count += 1;
      }
      if (rows.length === 0) return { count, head };
    }
  }
}

function link(event: AdminEvent, place: { readonly seq: number; readonly prev: string | null }): AdminEntry {
  const { at, actor, action, target, details } = event;
  const entry = { ...place, at, actor, action, target, details };
  return { ...entry, digest: digest({ v: 1, ...entry }, "audit") };
}

function findProblem(row: Selectable<AdminAuditRow>, place: { seq: number; prev: string | null }): string | undefined {
  if (row.seq !== place.seq) return "it is missing";
  if (row.prev !== place.prev) return "it does not follow from the entry before";
  try {
    return link(toEntry(row), place).digest === row.digest ? undefined : "it was changed";
  } catch {
    return "it is not an entry";
  }
}

function toEntry({ details, ...row }: Selectable<AdminAuditRow>): AdminEntry {
  return { ...row, details: readJson<JsonObject>(details) };
}
