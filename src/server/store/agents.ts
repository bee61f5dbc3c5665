import type { Selectable } from "kysely";
import type { AgentSettings } from "../../core/api/index.ts";
import type { Database } from "./database.ts";
import { readJson, writeJson } from "./json-text.ts";
import { checkLimit, inBytes, type NameRange } from "./page.ts";
import { checkNames } from "./parameters.ts";
import type { AgentRow } from "./schema.ts";

export interface Agent {
  /** Random, and never changed or used again. */
  readonly id: string;
  readonly name: string;
  readonly settings: AgentSettings;
  /** Of its newest policy; 0 if it has none. */
  readonly policyVersion: number;
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

export type NewAgent = Omit<Agent, "disabledAt" | "policyVersion">;

/** Agents. They are disabled and never removed: plans and entries name them. */
export class AgentStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @returns false if the name is taken */
  async create(agent: NewAgent): Promise<boolean> {
    checkNames({ id: agent.id, name: agent.name });
    const rows = await this.#database.query
      .insertInto("agents")
      .values({
        id: agent.id,
        name: agent.name,
        settings: writeJson(agent.settings),
        policy_version: 0,
        created_at: agent.createdAt,
        disabled_at: null,
      })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  get(id: string): Promise<Agent | undefined> {
    return this.#find("id", id);
  }

  /** Of those that there are, in any order. */
  async getAll(ids: readonly string[]): Promise<readonly Agent[]> {
    if (ids.length === 0) return [];
    const rows = await this.#database.query.selectFrom("agents").selectAll().where("id", "in", ids).execute();
    return rows.map(toAgent);
  }

  getByName(name: string): Promise<Agent | undefined> {
    return this.#find("name", name);
  }

  /** By name; all, unless told how many after which. */
  async list({ after, limit }: NameRange = {}): Promise<readonly Agent[]> {
    let query = this.#database.query.selectFrom("agents").selectAll().orderBy(inBytes(this.#database, "name"));
    if (after !== undefined) query = query.where(inBytes(this.#database, "name"), ">", after);
    if (limit !== undefined) query = query.limit(checkLimit(limit));
    return (await query.execute()).map(toAgent);
  }

  /** @returns false if there is no such agent, or another has the name */
  async rename(id: string, name: string): Promise<boolean> {
    checkNames({ name });
    const rows = await this.#database.query
      .updateTable("agents")
      .set({ name })
      .where("id", "=", id)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("agents as other").select("other.id").where("other.name", "=", name).where("other.id", "!=", id),
          ),
        ),
      )
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  /** Null puts it in use again. @returns false if there is no such agent */
  async setDisabled(id: string, disabledAt: number | null): Promise<boolean> {
    const change = this.#database.query.updateTable("agents").set({ disabled_at: disabledAt }).where("id", "=", id);
    return (await change.returning("id").execute()).length === 1;
  }

  /** Replaces the settings as a whole. @returns false if there is no such agent */
  async setSettings(id: string, settings: AgentSettings): Promise<boolean> {
    const change = this.#database.query
      .updateTable("agents")
      .set({ settings: writeJson(settings) })
      .where("id", "=", id);
    return (await change.returning("id").execute()).length === 1;
  }

  async #find(column: "id" | "name", value: string): Promise<Agent | undefined> {
    const query = this.#database.query.selectFrom("agents").selectAll().where(column, "=", value);
    const row = await query.executeTakeFirst();
    return row && toAgent(row);
  }
}

export function toAgent(row: Selectable<AgentRow>): Agent {
  return {
    id: row.id,
    name: row.name,
    settings: readJson<AgentSettings>(row.settings),
    policyVersion: row.policy_version,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
