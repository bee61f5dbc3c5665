import type { Selectable } from "kysely";
import { normalizeEmail, type Role } from "../../core/index.ts";
import type { Database } from "./database.ts";
import { checkEmail } from "./email.ts";
import { readJson, writeJson } from "./json-text.ts";
import type { PersonRow } from "./schema.ts";

export interface Person {
  /** Normalised. */
  readonly email: string;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

/** The people that agents act for, that approve and that administer. One address in any writing is one person. */
export class PersonStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds a person or replaces all but `createdAt`. @throws IntentlockError `ERR_INVALID_OPTIONS` for what is no address */
  async upsert(person: Person): Promise<void> {
    const changing = {
      roles: writeJson(person.roles),
      groups: writeJson(person.groups),
      disabled_at: person.disabledAt,
    };
    await this.#database.query
      .insertInto("people")
      .values({ ...changing, email: checkEmail(person.email), created_at: person.createdAt })
      .onConflict((conflict) => conflict.column("email").doUpdateSet(changing))
      .execute();
  }

  async get(email: string): Promise<Person | undefined> {
    const normalised = normalizeEmail(email);
    if (normalised === undefined) return undefined;
    const query = this.#database.query.selectFrom("people").selectAll().where("email", "=", normalised);
    const row = await query.executeTakeFirst();
    return row && toPerson(row);
  }

  /** By address. */
  async list(): Promise<readonly Person[]> {
    const rows = await this.#database.query.selectFrom("people").selectAll().orderBy("email").execute();
    return rows.map(toPerson);
  }

  /** With their sessions and sign-in links. @returns false if there was no such person */
  async remove(email: string): Promise<boolean> {
    const normalised = normalizeEmail(email);
    if (normalised === undefined) return false;
    const change = this.#database.query.deleteFrom("people").where("email", "=", normalised);
    return (await change.returning("email").execute()).length === 1;
  }
}

function toPerson(row: Selectable<PersonRow>): Person {
  return {
    email: row.email,
    roles: readJson<readonly Role[]>(row.roles),
    groups: readJson<readonly string[]>(row.groups),
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
