/**
 * The reference server: signs plans, decides about calls, waits for people and keeps the audit trail, over SQLite or
 * PostgreSQL.
 *
 * @module
 */
export type { WebhookMessage } from "../core/api/index.ts";
export { createServer, type IntentlockServer, type ServerOptions } from "./create-server.ts";
export type { ServerContext } from "./handler.ts";
export type { RateLimit } from "./http/authenticate.ts";
export type { KeyRing } from "./key-ring.ts";
export { type RunningServer, type ServeOptions, startServer } from "./serve.ts";
export { openStore, type PostgresOptions, type SqliteOptions, type Store, type StoreOptions } from "./store/index.ts";
export type { WebhookHeaders } from "./webhooks/sign-webhook.ts";
export { type VerifiedWebhook, verifyWebhook } from "./webhooks/verify-webhook.ts";
