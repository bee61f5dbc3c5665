import type { Selectable } from "kysely";
import type { Database } from "./database.ts";
import { checkEmail } from "./email.ts";
import { checkNames } from "./parameters.ts";
import type { WebSessionRow } from "./schema.ts";

/** A link that signs a person in once, by the hash of what is in it. */
export interface SignInLink {
  readonly hash: string;
  readonly email: string;
  readonly createdAt: number;
  /** An administrator's e-mail, or how the command line calls itself. */
  readonly createdBy: string;
  readonly expiresAt: number;
}

/** A person's session in the inbox, by the hash of its cookie. */
export interface WebSession {
  readonly hash: string;
  readonly email: string;
  readonly csrf: string;
  readonly createdAt: number;
  /** Who made the link that it began with: they could have opened it themselves. */
  readonly linkBy: string;
  readonly expiresAt: number;
  readonly lastSeenAt: number;
}

/** Sign-in links and web sessions. Those of a person who is disabled are worth nothing; of one removed, they are gone. */
export class SignInStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async addLink(link: SignInLink): Promise<void> {
    checkNames({ hash: link.hash, createdBy: link.createdBy });
    const times = { created_at: link.createdAt, expires_at: link.expiresAt, used_at: null };
    const row = { hash: link.hash, email: checkEmail(link.email), created_by: link.createdBy, ...times };
    await this.#database.query.insertInto("sign_in_links").values(row).execute();
  }

  /** Uses a link up. @returns whose it is and who made it: once, in time, and only for people in use */
  async useLink(hash: string, now: number): Promise<Pick<SignInLink, "email" | "createdBy"> | undefined> {
    const row = await this.#database.query
      .updateTable("sign_in_links")
      .set({ used_at: now })
      .where("hash", "=", hash)
      .where("used_at", "is", null)
      .where("expires_at", ">", now)
      .where("email", "in", this.#peopleInUse())
      .returning(["email", "created_by"])
      .executeTakeFirst();
    return row && { email: row.email, createdBy: row.created_by };
  }

  async addSession(session: WebSession): Promise<void> {
    checkNames({ hash: session.hash, csrf: session.csrf, linkBy: session.linkBy });
    await this.#database.query
      .insertInto("web_sessions")
      .values({
        hash: session.hash,
        email: checkEmail(session.email),
        csrf: session.csrf,
        created_at: session.createdAt,
        link_by: session.linkBy,
        expires_at: session.expiresAt,
        last_seen_at: session.lastSeenAt,
      })
      .execute();
  }

  /** @returns undefined if there is none, it has expired, or its person is disabled */
  async findSession(hash: string, now: number): Promise<WebSession | undefined> {
    const row = await this.#database.query
      .selectFrom("web_sessions")
      .selectAll()
      .where("hash", "=", hash)
      .where("expires_at", ">", now)
      .where("email", "in", this.#peopleInUse())
      .executeTakeFirst();
    return row && toSession(row);
  }

  /** Notes that a session is in use, and moves its end if told so. */
  async touchSession(
    hash: string,
    { now, expiresAt }: { readonly now: number; readonly expiresAt?: number },
  ): Promise<void> {
    await this.#database.query
      .updateTable("web_sessions")
      .set({ last_seen_at: now, ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) })
      .where("hash", "=", hash)
      .execute();
  }

  async removeSession(hash: string): Promise<void> {
    await this.#database.query.deleteFrom("web_sessions").where("hash", "=", hash).execute();
  }

  /** Signs a person out everywhere. */
  async removeSessionsOf(email: string): Promise<void> {
    await this.#database.query.deleteFrom("web_sessions").where("email", "=", checkEmail(email)).execute();
  }

  /** Forgets what has expired. */
  async sweep(now: number): Promise<void> {
    await this.#database.query.deleteFrom("web_sessions").where("expires_at", "<=", now).execute();
    await this.#database.query.deleteFrom("sign_in_links").where("expires_at", "<=", now).execute();
  }

  #peopleInUse() {
    return this.#database.query.selectFrom("people").select("email").where("disabled_at", "is", null);
  }
}

function toSession(row: Selectable<WebSessionRow>): WebSession {
  return {
    hash: row.hash,
    email: row.email,
    csrf: row.csrf,
    createdAt: row.created_at,
    linkBy: row.link_by,
    expiresAt: row.expires_at,
    lastSeenAt: row.last_seen_at,
  };
}
