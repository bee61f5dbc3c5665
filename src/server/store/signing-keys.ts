import { type Insertable, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { PrivateKey, PublicKey, SigningKey } from "../../core/index.ts";
import { type Database, transact } from "./database.ts";
import { readJson, writeJson } from "./json-text.ts";
import { checkNames } from "./parameters.ts";
import type { SigningKeyRow, Tables } from "./schema.ts";

/** A key of the server. It is published from when it is added until `retiredAt`, and signs from `signsFrom`. */
export interface StoredSigningKey extends SigningKey {
  readonly createdAt: number;
  readonly signsFrom: number;
  /** May be in the future. Null: no end is set. */
  readonly retiredAt: number | null;
}

/** A key before it is stored. */
export interface NewSigningKey {
  readonly key: SigningKey;
  readonly createdAt: number;
  /** Later than now for a rotation: clients that keep key sets learn the key before the first token under it. */
  readonly signsFrom: number;
}

/** The keys that sign, oldest first. */
export class SigningKeyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds the first key. Of several instances that start at once one does. @returns false if there is a key already */
  async addFirst(key: NewSigningKey): Promise<boolean> {
    const rows = await insert(this.#database.query, { ...toRow(key), number: 1 });
    return rows === 1;
  }

  /**
   * Adds a key, and lets the others go when no token under them can be valid any more.
   *
   * @param retireOthersAt after the new key's `signsFrom`, by as long as a token lives
   * @returns false if somebody else did so at the same time: the new key is not added
   */
  async rotate(key: NewSigningKey, { retireOthersAt }: { readonly retireOthersAt: number }): Promise<boolean> {
    return transact(this.#database, async (query) => {
      const last = await query.selectFrom("signing_keys").select("number").orderBy("number", "desc").executeTakeFirst();
      const isAdded = await insert(query, { ...toRow(key), number: (last?.number ?? 0) + 1 });
      if (isAdded === 0) return false;
      await query
        .updateTable("signing_keys")
        .set({ retired_at: retireOthersAt })
        .where("kid", "!=", key.key.kid)
        .where(({ eb, or }) => or([eb("retired_at", "is", null), eb("retired_at", ">", retireOthersAt)]))
        .execute();
      return true;
    });
  }

  /** Lets a key go at a time: at once, if it has leaked. @returns false if there is no such key */
  async retire(kid: string, at: number): Promise<boolean> {
    const rows = await this.#database.query
      .updateTable("signing_keys")
      .set({ retired_at: at })
      .where("kid", "=", kid)
      .returning("kid")
      .execute();
    return rows.length === 1;
  }

  async list(): Promise<readonly StoredSigningKey[]> {
    const rows = await this.#database.query.selectFrom("signing_keys").selectAll().orderBy("number").execute();
    return rows.map(toKey);
  }

  /** The keys under which a token may be valid at a time, also those that do not sign yet. */
  async published(now: number): Promise<readonly StoredSigningKey[]> {
    const rows = await isPublished(this.#database.query.selectFrom("signing_keys").selectAll(), now)
      .orderBy("number")
      .execute();
    return rows.map(toKey);
  }

  /** The key that signs at a time. */
  async current(now: number): Promise<StoredSigningKey | undefined> {
    const row = await isPublished(this.#database.query.selectFrom("signing_keys").selectAll(), now)
      .where("signs_from", "<=", now)
      .orderBy("number", "desc")
      .limit(1)
      .executeTakeFirst();
    return row && toKey(row);
  }
}

function isPublished<Row>(
  query: SelectQueryBuilder<Tables, "signing_keys", Row>,
  now: number,
): SelectQueryBuilder<Tables, "signing_keys", Row> {
  return query.where(({ eb, or }) => or([eb("retired_at", "is", null), eb("retired_at", ">", now)]));
}

async function insert(query: Database["query"], row: Insertable<SigningKeyRow>): Promise<number> {
  const rows = await query
    .insertInto("signing_keys")
    .values(row)
    .onConflict((conflict) => conflict.column("number").doNothing())
    .returning(sql`1`.as("added"))
    .execute();
  return rows.length;
}

function toRow({ key, createdAt, signsFrom }: NewSigningKey): Omit<Insertable<SigningKeyRow>, "number"> {
  checkNames({ kid: key.kid });
  return {
    kid: key.kid,
    private_jwk: writeJson(key.privateKey),
    public_jwk: writeJson(key.publicKey),
    created_at: createdAt,
    signs_from: signsFrom,
    retired_at: null,
  };
}

function toKey(row: Selectable<SigningKeyRow>): StoredSigningKey {
  return {
    kid: row.kid,
    privateKey: readJson<PrivateKey>(row.private_jwk),
    publicKey: readJson<PublicKey>(row.public_jwk),
    createdAt: row.created_at,
    signsFrom: row.signs_from,
    retiredAt: row.retired_at,
  };
}
