import { type Selectable, sql } from "kysely";
import { type Database, transact } from "./database.ts";
import { checkLimit } from "./page.ts";
import type { PolicyRow } from "./schema.ts";

/** One version of an agent's policy. */
export interface StoredPolicy {
  readonly agentId: string;
  /** Counts from 1, without a gap. */
  readonly version: number;
  /** As it was written, comments and all. */
  readonly text: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly comment: string | null;
}

/** Policies. Every version is kept, and none is changed. */
export class PolicyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores the next version. The agent's row counts them, so that two at once get two numbers. @returns undefined if there is no such agent */
  async push(policy: Omit<StoredPolicy, "version">): Promise<StoredPolicy | undefined> {
    return transact(this.#database, async (query) => {
      const agent = await query
        .updateTable("agents")
        .set({ policy_version: sql`policy_version + 1` })
        .where("id", "=", policy.agentId)
        .returning("policy_version")
        .executeTakeFirst();
      if (!agent) return undefined;
      const version = agent.policy_version;
      await query
        .insertInto("policies")
        .values({
          agent_id: policy.agentId,
          version,
          text: policy.text,
          created_at: policy.createdAt,
          created_by: policy.createdBy,
          comment: policy.comment,
        })
        .execute();
      return { ...policy, version };
    });
  }

  async latest(agentId: string): Promise<StoredPolicy | undefined> {
    const row = await this.#ofAgent(agentId).limit(1).executeTakeFirst();
    return row && toPolicy(row);
  }

  async get(agentId: string, version: number): Promise<StoredPolicy | undefined> {
    const row = await this.#ofAgent(agentId).where("version", "=", version).executeTakeFirst();
    return row && toPolicy(row);
  }

  /** Newest first; all, unless told how many before which version. */
  async list(
    agentId: string,
    { before, limit }: { readonly before?: number; readonly limit?: number } = {},
  ): Promise<readonly StoredPolicy[]> {
    let query = this.#ofAgent(agentId);
    if (before !== undefined) query = query.where("version", "<", before);
    if (limit !== undefined) query = query.limit(checkLimit(limit));
    return (await query.execute()).map(toPolicy);
  }

  #ofAgent(agentId: string) {
    return this.#database.query
      .selectFrom("policies")
      .selectAll()
      .where("agent_id", "=", agentId)
      .orderBy("version", "desc");
  }
}

function toPolicy(row: Selectable<PolicyRow>): StoredPolicy {
  return {
    agentId: row.agent_id,
    version: row.version,
    text: row.text,
    createdAt: row.created_at,
    createdBy: row.created_by,
    comment: row.comment,
  };
}
