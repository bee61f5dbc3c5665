import { sql } from "kysely";
import { AdminAuditStore } from "./admin-audit.ts";
import { administer, type StoreInTransaction } from "./administer.ts";
import { AgentStore } from "./agents.ts";
import { ApiKeyStore } from "./api-keys.ts";
import { AuditEntryStore } from "./audit-entries.ts";
import type { Database } from "./database.ts";
import { HoldStore } from "./holds.ts";
import { openPostgres, type PostgresOptions } from "./open-postgres.ts";
import { openSqlite } from "./open-sqlite.ts";
import { PersonStore } from "./people.ts";
import { PlanStore } from "./plans.ts";
import { PolicyStore } from "./policies.ts";
import { PrincipalLedgerStore } from "./principal-ledgers.ts";
import { RateLimitStore } from "./rate-limits.ts";
import { SignInStore } from "./sign-in.ts";
import type { Signals } from "./signals.ts";
import { SigningKeyStore } from "./signing-keys.ts";
import { WebhookStore } from "./webhooks.ts";

/** A SQLite file, or `:memory:` for what may be lost with the process. */
export interface SqliteOptions {
  readonly sqlite: string;
}

export type StoreOptions = SqliteOptions | PostgresOptions;

/** Everything that the server keeps. What the database refuses rejects with IntentlockError `ERR_STORE`. */
export interface Store {
  readonly adminAudit: AdminAuditStore;
  readonly agents: AgentStore;
  readonly apiKeys: ApiKeyStore;
  readonly auditEntries: AuditEntryStore;
  readonly holds: HoldStore;
  readonly people: PersonStore;
  readonly plans: PlanStore;
  readonly policies: PolicyStore;
  readonly principalLedgers: PrincipalLedgerStore;
  readonly rateLimits: RateLimitStore;
  readonly signals: Signals;
  readonly signIn: SignInStore;
  readonly signingKeys: SigningKeyStore;
  readonly webhooks: WebhookStore;
  /** Runs what people do in one transaction, one at a time: see {@link administer}. */
  administer<T>(work: (store: StoreInTransaction) => Promise<T>): Promise<T>;
  /** Asks the database for as little as can be asked. @throws IntentlockError `ERR_STORE` if it does not answer */
  health(): Promise<void>;
  /** Ends what is under way and gives everything back. */
  close(): Promise<void>;
}

/**
 * Opens the store of a server and brings its tables up to date. Any number of servers may have one PostgreSQL database
 * open; several processes of one machine may have one SQLite file open.
 *
 * @throws IntentlockError `ERR_STORE_UNUSABLE` if it cannot be opened or is of a newer version; `ERR_INVALID_OPTIONS`;
 * `ERR_MISSING_PEER` for PostgreSQL without the package `pg`
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  return createStore("postgres" in options ? await openPostgres(options) : await openSqlite(options.sqlite));
}

/** A store over a database that is open. */
export function createStore(database: Database): Store {
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= database.close();
    return closed;
  };
  return {
    adminAudit: new AdminAuditStore(database),
    agents: new AgentStore(database),
    apiKeys: new ApiKeyStore(database),
    auditEntries: new AuditEntryStore(database),
    holds: new HoldStore(database),
    people: new PersonStore(database),
    plans: new PlanStore(database),
    policies: new PolicyStore(database),
    principalLedgers: new PrincipalLedgerStore(database),
    rateLimits: new RateLimitStore(database),
    signals: database.signals,
    signIn: new SignInStore(database),
    signingKeys: new SigningKeyStore(database),
    webhooks: new WebhookStore(database),
    administer: (work) => administer(database, createStore, work),
    health: async () => {
      await sql`SELECT version FROM intentlock_schema`.execute(database.query);
    },
    close,
  };
}
