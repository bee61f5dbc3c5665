import type { Selectable } from "kysely";
import { normalizeEmail, type Role } from "../../core/index.ts";
import type { Database } from "./database.ts";
import { checkEmail } from "./email.ts";
import { readJson, writeJson } from "./json-text.ts";
import { checkLimit, inBytes, type NameRange } from "./page.ts";
import type { PersonRow } from "./schema.ts";

export interface Person {
  /** Normalised. */
  readonly email: string;
  /** What they are called. */
  readonly name: string | null;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

/** A person as they are stored; without a name unless they have one. */
export type NewPerson = Omit<Person, "name"> & { readonly name?: string | null };

/** The people that agents act for, that approve and that administer. One address in any writing is one person. */
export class PersonStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds a person or replaces all but `createdAt`. @throws IntentlockError `ERR_INVALID_OPTIONS` for what is no address */
  async upsert(person: NewPerson): Promise<void> {
    const changing = {
      name: person.name ?? null,
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

  /** By address; all, unless told how many after which. */
  async list({ after, limit }: NameRange = {}): Promise<readonly Person[]> {
    let query = this.#database.query.selectFrom("people").selectAll().orderBy(inBytes(this.#database, "email"));
    if (after !== undefined) query = query.where(inBytes(this.#database, "email"), ">", after);
    if (limit !== undefined) query = query.limit(checkLimit(limit));
    return (await query.execute()).map(toPerson);
  }

  /** Whether there is an administrator who is in use; beside a person, if one is given. */
  async hasAdmin({ beside }: { readonly beside?: string } = {}): Promise<boolean> {
    const query = this.#database.query
      .selectFrom("people")
      .select("email")
      .$if(beside !== undefined, (some) => some.where("email", "!=", checkEmail(beside ?? "")))
      .where("disabled_at", "is", null)
      // Roles are words that no other contains, in quotes.
      .where("roles", "like", '%"admin"%');
    return (await query.limit(1).executeTakeFirst()) !== undefined;
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
    name: row.name,
    roles: readJson<readonly Role[]>(row.roles),
    groups: readJson<readonly string[]>(row.groups),
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
