import type { DatabaseKind } from "./database.ts";

/** Version 1 of the tables. */
export function createTables(kind: DatabaseKind): readonly string[] {
  const int = kind === "sqlite" ? "INTEGER" : "BIGINT";
  // STRICT: otherwise SQLite takes any type in any column.
  const end = kind === "sqlite" ? ") STRICT" : ")";
  // Room in each page, so that a new version of a row that changes with every call stays in its page.
  const busyEnd = kind === "sqlite" ? end : ") WITH (fillfactor = 60)";
  return [
    `CREATE TABLE agents (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL,
      policy_version ${int} NOT NULL DEFAULT 0, created_at ${int} NOT NULL, disabled_at ${int} ${end}`,
    `CREATE TABLE api_keys (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents (id),
      hash TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, name TEXT, owner TEXT NOT NULL, may_act_for TEXT,
      created_at ${int} NOT NULL, revoked_at ${int}, last_used_at ${int} ${end}`,
    "CREATE INDEX api_keys_agent ON api_keys (agent_id)",
    `CREATE TABLE signing_keys (kid TEXT PRIMARY KEY, number ${int} NOT NULL UNIQUE, private_jwk TEXT NOT NULL,
      public_jwk TEXT NOT NULL, created_at ${int} NOT NULL, signs_from ${int} NOT NULL, retired_at ${int} ${end}`,
    `CREATE TABLE people (email TEXT PRIMARY KEY, name TEXT, roles TEXT NOT NULL, groups TEXT NOT NULL,
      created_at ${int} NOT NULL, disabled_at ${int} ${end}`,
    `CREATE TABLE policies (agent_id TEXT NOT NULL REFERENCES agents (id), version ${int} NOT NULL, text TEXT NOT NULL,
      created_at ${int} NOT NULL, created_by TEXT NOT NULL, comment TEXT, PRIMARY KEY (agent_id, version) ${end}`,
    `CREATE TABLE plans (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents (id),
      api_key_id TEXT NOT NULL REFERENCES api_keys (id), user_email TEXT NOT NULL, task TEXT NOT NULL,
      task_digest TEXT NOT NULL, plan TEXT NOT NULL, tools TEXT NOT NULL, client_key TEXT, created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('pending', 'open', 'closed', 'revoked', 'rejected')), token TEXT,
      token_jti TEXT, token_expires_at ${int}, used TEXT NOT NULL, spent TEXT NOT NULL, open_calls TEXT NOT NULL,
      reserved TEXT, seq ${int} NOT NULL, head TEXT, holds_count ${int} NOT NULL DEFAULT 0, lease_holder TEXT, lease_until ${int},
      flagged TEXT ${busyEnd}`,
    // Nothing that changes with every call is in an index: PostgreSQL then updates the row in place (HOT).
    "CREATE INDEX plans_newest ON plans (created_at, id)",
    "CREATE INDEX plans_agent ON plans (agent_id, created_at, id)",
    "CREATE INDEX plans_status ON plans (status, created_at, id)",
    "CREATE INDEX plans_flagged ON plans (created_at, id) WHERE flagged IS NOT NULL",
    "CREATE INDEX plans_user ON plans (user_email, created_at, id)",
    `CREATE TABLE plan_tokens (jti TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), token TEXT NOT NULL,
      created_at ${int} NOT NULL ${end}`,
    "CREATE INDEX plan_tokens_plan ON plan_tokens (plan_id)",
    // No foreign keys here, where every call writes: entries are only written together with the row of their plan.
    // The entry stands last: SQLite reads through a long text to what stands behind it.
    `CREATE TABLE audit_entries (plan_id TEXT NOT NULL, seq ${int} NOT NULL, agent_id TEXT NOT NULL,
      user_email TEXT NOT NULL, received_at ${int} NOT NULL,
      verdict_check TEXT CHECK (verdict_check IN ('recomputed', 'not_recomputable', 'differs')), decision_jti TEXT,
      tool TEXT, verdict TEXT, reason TEXT, entry TEXT NOT NULL, PRIMARY KEY (plan_id, seq) ${end}`,
    // Every decision writes into each of these. What lists are filtered and counted by is in them: no entry is read for it.
    `CREATE INDEX audit_entries_decisions ON audit_entries
      (received_at, plan_id, seq, agent_id, user_email, tool, verdict, reason) WHERE verdict IS NOT NULL`,
    `CREATE INDEX audit_entries_agent ON audit_entries (agent_id, received_at, plan_id, seq, tool, verdict, reason)
      WHERE verdict IS NOT NULL`,
    `CREATE INDEX audit_entries_user ON audit_entries
      (user_email, received_at, plan_id, seq, agent_id, tool, verdict, reason) WHERE verdict IS NOT NULL`,
    `CREATE TABLE holds (id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('call', 'plan')),
      plan_id TEXT NOT NULL REFERENCES plans (id), agent_id TEXT NOT NULL, decision_seq ${int}, call_id TEXT, tool TEXT,
      fingerprint TEXT, args TEXT, digest TEXT NOT NULL, step ${int}, rule TEXT, rule_reason TEXT,
      approvers TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'cancelled')),
      created_at ${int} NOT NULL, expires_at ${int} NOT NULL, decided_at ${int}, decided_by TEXT, comment TEXT,
      approval TEXT, approval_expires_at ${int}, claimed_at ${int},
      CHECK ((kind = 'call') = (decision_seq IS NOT NULL)) ${end}`,
    "CREATE UNIQUE INDEX holds_decision ON holds (plan_id, decision_seq) WHERE kind = 'call'",
    "CREATE UNIQUE INDEX holds_plan ON holds (plan_id) WHERE kind = 'plan'",
    // The two above are of some holds only, and no query for all of a plan reads them.
    "CREATE INDEX holds_of_plan ON holds (plan_id)",
    "CREATE INDEX holds_pending ON holds (expires_at, id) WHERE status = 'pending'",
    "CREATE INDEX holds_decided ON holds (status, decided_at, id) WHERE decided_at IS NOT NULL",
    "CREATE INDEX holds_approved ON holds (agent_id, tool, created_at, id) WHERE status = 'approved'",
    "CREATE INDEX holds_newest ON holds (created_at, id)",
    `CREATE TABLE webhooks (id TEXT PRIMARY KEY, agent_id TEXT REFERENCES agents (id), url TEXT NOT NULL,
      events TEXT NOT NULL, secret TEXT NOT NULL, created_at ${int} NOT NULL, disabled_at ${int} ${end}`,
    `CREATE TABLE webhook_deliveries (id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL REFERENCES webhooks (id),
      hold_id TEXT NOT NULL REFERENCES holds (id), event TEXT NOT NULL, attempts ${int} NOT NULL DEFAULT 0, next_attempt_at ${int},
      delivered_at ${int}, last_error TEXT, UNIQUE (webhook_id, hold_id, event) ${end}`,
    "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL",
    // Whoever is removed from the people is signed out with it.
    `CREATE TABLE sign_in_links (hash TEXT PRIMARY KEY,
      email TEXT NOT NULL REFERENCES people (email) ON DELETE CASCADE, created_at ${int} NOT NULL,
      created_by TEXT NOT NULL, expires_at ${int} NOT NULL, used_at ${int} ${end}`,
    "CREATE INDEX sign_in_links_email ON sign_in_links (email)",
    `CREATE TABLE web_sessions (hash TEXT PRIMARY KEY,
      email TEXT NOT NULL REFERENCES people (email) ON DELETE CASCADE, csrf TEXT NOT NULL, created_at ${int} NOT NULL,
      link_by TEXT NOT NULL, expires_at ${int} NOT NULL, last_seen_at ${int} NOT NULL ${end}`,
    "CREATE INDEX web_sessions_email ON web_sessions (email)",
    `CREATE TABLE admin_audit (seq ${int} PRIMARY KEY, at ${int} NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
      target TEXT NOT NULL, details TEXT NOT NULL, prev TEXT, digest TEXT NOT NULL ${end}`,
    `CREATE TABLE rate_limits (key TEXT PRIMARY KEY, window_start ${int} NOT NULL, count ${int} NOT NULL ${end}`,
    // What people have taken from their budgets. A row changes with every call, like one of plans.
    `CREATE TABLE principal_ledgers (agent_id TEXT NOT NULL REFERENCES agents (id), user_email TEXT NOT NULL,
      version ${int} NOT NULL, ledger TEXT NOT NULL, updated_at ${int} NOT NULL,
      PRIMARY KEY (agent_id, user_email) ${busyEnd}`,
  ];
}
