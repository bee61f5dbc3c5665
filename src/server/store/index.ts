/**
 * What a server keeps, over SQLite or PostgreSQL. All SQL is in this folder, and all values are parameters of it.
 *
 * @module
 */

export type { AdminAuditCheck, AdminAuditStore, AdminEntry, AdminEvent } from "./admin-audit.ts";
export type { StoreInTransaction } from "./administer.ts";
export type { Agent, AgentStore, NewAgent } from "./agents.ts";
export type { ApiKey, ApiKeyStore, NewApiKey } from "./api-keys.ts";
export type { IssuedToken, LedgerChange, PlanAppend, VerdictCheck } from "./append.ts";
export type { AuditEntryStore, StoredDecision } from "./audit-entries.ts";
export type { CountRequest, DecisionCounts, VerdictCounts } from "./count-decisions.ts";
export type { StoredEntry } from "./entry-record.ts";
export type { HeadsRequest, HoldHead, HoldPlace } from "./hold-heads.ts";
export type { Hold, HoldStatus, NewHold } from "./hold-record.ts";
export { HOLD_SIGNAL, type HoldDecisionRecord, type HoldFilter, type HoldStore } from "./holds.ts";
export type {
  DecisionFilter,
  DecisionPlace,
  DecisionsPart,
  DecisionsRequest,
  ListedDecision,
} from "./list-decisions.ts";
export { HOLD_OPENED_SIGNAL, type OpenedHold } from "./open-hold.ts";
export type { PostgresOptions } from "./open-postgres.ts";
export type { NameRange, PageRequest } from "./page.ts";
export type { NewPerson, Person, PersonStore } from "./people.ts";
export type { OpenCall, PlanState, PlanStatus, PlanText, Reserved, StoredPlan, StoredTask } from "./plan-record.ts";
export type { NewPlan, PlanFilter, PlanStore } from "./plans.ts";
export type { PolicyStore, StoredPolicy } from "./policies.ts";
export type { Principal, PrincipalLedger, PrincipalLedgerStore } from "./principal-ledgers.ts";
export type { RateLimitStore } from "./rate-limits.ts";
export type { SignInLink, SignInStore, WebSession } from "./sign-in.ts";
export type { SignalListener, Signals } from "./signals.ts";
export type { NewSigningKey, SigningKeyStore, StoredSigningKey } from "./signing-keys.ts";
export { openStore, type SqliteOptions, type Store, type StoreOptions } from "./store.ts";
export type { DueDelivery, Webhook, WebhookStore } from "./webhooks.ts";
