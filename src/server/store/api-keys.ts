import type { Selectable } from "kysely";
import { type Agent, toAgent } from "./agents.ts";
import type { Database } from "./database.ts";
import { checkEmail } from "./email.ts";
import { readJson, writeJsonOrNull } from "./json-text.ts";
import { checkNames } from "./parameters.ts";
import type { ApiKeyRow } from "./schema.ts";

/** An API key as it is known: by the hash of the key, never by the key. */
export interface ApiKey {
  readonly id: string;
  readonly agentId: string;
  /** SHA-256 of the whole key. */
  readonly hash: string;
  /** Its first characters, for people. */
  readonly prefix: string;
  /** What people call it. */
  readonly name: string | null;
  /** The e-mail of the person whose key it is. */
  readonly owner: string;
  /** The e-mails of those that it may act for; null: anybody. */
  readonly mayActFor: readonly string[] | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

export type NewApiKey = Omit<ApiKey, "name" | "revokedAt" | "lastUsedAt"> & { readonly name?: string | null };

/** How exact `lastUsedAt` is: a key in use is not written with every request. */
const TOUCH_EVERY_MS = 60_000;

const COLUMNS = [
  "api_keys.id",
  "api_keys.agent_id",
  "api_keys.hash",
  "api_keys.prefix",
  "api_keys.name",
  "api_keys.owner",
  "api_keys.may_act_for",
  "api_keys.created_at",
  "api_keys.revoked_at",
  "api_keys.last_used_at",
] as const;

export class ApiKeyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** E-mails are normalised. @throws IntentlockError `ERR_INVALID_OPTIONS` if one is none */
  async create(key: NewApiKey): Promise<void> {
    checkNames({ id: key.id, hash: key.hash, prefix: key.prefix });
    await this.#database.query
      .insertInto("api_keys")
      .values({
        id: key.id,
        agent_id: key.agentId,
        hash: key.hash,
        prefix: key.prefix,
        name: key.name ?? null,
        owner: checkEmail(key.owner),
        may_act_for: writeJsonOrNull(key.mayActFor?.map(checkEmail)),
        created_at: key.createdAt,
        revoked_at: null,
        last_used_at: null,
      })
      .execute();
  }

  /**
   * A key and its agent, also if either is not in use any more: that is for the caller to see. The caller compares the
   * hash again, in constant time.
   */
  async findByHash(hash: string): Promise<{ readonly key: ApiKey; readonly agent: Agent } | undefined> {
    const row = await this.#database.query
      .selectFrom("api_keys")
      .innerJoin("agents", "agents.id", "api_keys.agent_id")
      .select(COLUMNS)
      .select(["agents.name as agent_name", "agents.settings", "agents.policy_version"])
      .select(["agents.created_at as agent_created_at", "agents.disabled_at"])
      .where("api_keys.hash", "=", hash)
      .executeTakeFirst();
    return (
      row && {
        key: toApiKey(row),
        agent: toAgent({ ...row, id: row.agent_id, name: row.agent_name, created_at: row.agent_created_at }),
      }
    );
  }

  async get(id: string): Promise<ApiKey | undefined> {
    const query = this.#database.query.selectFrom("api_keys").select(COLUMNS).where("id", "=", id);
    const row = await query.executeTakeFirst();
    return row && toApiKey(row);
  }

  /** An agent's, oldest first. */
  async list(agentId: string): Promise<readonly ApiKey[]> {
    const rows = await this.#database.query
      .selectFrom("api_keys")
      .select(COLUMNS)
      .where("agent_id", "=", agentId)
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    return rows.map(toApiKey);
  }

  /** Of several agents, in any order. */
  async listOf(agentIds: readonly string[]): Promise<readonly ApiKey[]> {
    if (agentIds.length === 0) return [];
    const query = this.#database.query.selectFrom("api_keys").select(COLUMNS).where("agent_id", "in", agentIds);
    return (await query.execute()).map(toApiKey);
  }

  /** For good. @returns false if there is no such key or it was revoked before */
  async revoke(id: string, now: number): Promise<boolean> {
    const rows = await this.#database.query
      .updateTable("api_keys")
      .set({ revoked_at: now })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .returning("id")
      .execute();
    return rows.length === 1;
  }

  /** Notes that a key was used, at most once a minute. */
  async touch(id: string, now: number): Promise<void> {
    await this.#database.query
      .updateTable("api_keys")
      .set({ last_used_at: now })
      .where("id", "=", id)
      .where(({ eb, or }) => or([eb("last_used_at", "is", null), eb("last_used_at", "<=", now - TOUCH_EVERY_MS)]))
      .execute();
  }
}

function toApiKey(row: Selectable<ApiKeyRow>): ApiKey {
  return {
    id: row.id,
    agentId: row.agent_id,
    hash: row.hash,
    prefix: row.prefix,
    name: row.name,
    owner: row.owner,
    mayActFor: readJson<readonly string[]>(row.may_act_for),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
