import type { Selectable } from "kysely";
import type { Budget } from "../../core/index.ts";
import type { Database } from "./database.ts";
import { readJson, writeJson } from "./json-text.ts";
import { checkNames } from "./parameters.ts";
import type { AgentRow } from "./schema.ts";

/** What is set for one agent; the server has defaults for the rest. */
export interface AgentSettings {
  /** Every plan waits for a person before it is signed. */
  readonly approvePlan?: boolean;
  readonly planTtlSeconds?: number;
  readonly planMaxAgeSeconds?: number;
  readonly maxHolds?: number;
  readonly budget?: Budget;
}

export interface Agent {
  /** Random, and never changed or used again. */
  readonly id: string;
  readonly name: string;
  readonly settings: AgentSettings;
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

export type NewAgent = Omit<Agent, "disabledAt">;

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

  getByName(name: string): Promise<Agent | undefined> {
    return this.#find("name", name);
  }

  /** By name. */
  async list(): Promise<readonly Agent[]> {
    const rows = await this.#database.query.selectFrom("agents").selectAll().orderBy("name").execute();
    return rows.map(toAgent);
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

export function toAgent(row: Omit<Selectable<AgentRow>, "policy_version">): Agent {
  return {
    id: row.id,
    name: row.name,
    settings: readJson<AgentSettings>(row.settings),
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
