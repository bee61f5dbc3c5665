/**
 * The tables, as Kysely knows them. Times are milliseconds since the epoch; columns of type {@link JsonText} hold JSON.
 * How they are made is in `migrations.ts`.
 */
export interface Tables {
  readonly agents: AgentRow;
  readonly api_keys: ApiKeyRow;
  readonly signing_keys: SigningKeyRow;
  readonly people: PersonRow;
  readonly policies: PolicyRow;
  readonly plans: PlanRow;
  readonly plan_tokens: PlanTokenRow;
  readonly audit_entries: AuditEntryRow;
  readonly holds: HoldRow;
  readonly webhooks: WebhookRow;
  readonly webhook_deliveries: WebhookDeliveryRow;
  readonly sign_in_links: SignInLinkRow;
  readonly web_sessions: WebSessionRow;
  readonly admin_audit: AdminAuditRow;
  readonly rate_limits: RateLimitRow;
  readonly principal_ledgers: PrincipalLedgerRow;
}

/** Text that `JSON.stringify` wrote. It holds no NUL and no lone surrogate, whatever the value held: both are escaped. */
export type JsonText = string;

export interface AgentRow {
  id: string;
  name: string;
  settings: JsonText;
  /** Of the newest policy; 0 if there is none. */
  policy_version: number;
  created_at: number;
  disabled_at: number | null;
}

export interface ApiKeyRow {
  id: string;
  agent_id: string;
  hash: string;
  prefix: string;
  name: string | null;
  owner: string;
  may_act_for: JsonText | null;
  created_at: number;
  revoked_at: number | null;
  last_used_at: number | null;
}

export interface SigningKeyRow {
  kid: string;
  /** Counts from 1. Unique, so that of two that add a key at once one does. */
  number: number;
  private_jwk: JsonText;
  public_jwk: JsonText;
  created_at: number;
  signs_from: number;
  retired_at: number | null;
}

export interface PersonRow {
  email: string;
  name: string | null;
  roles: JsonText;
  groups: JsonText;
  created_at: number;
  disabled_at: number | null;
}

export interface PolicyRow {
  agent_id: string;
  version: number;
  text: string;
  created_at: number;
  created_by: string;
  comment: string | null;
}

export interface PlanRow {
  id: string;
  agent_id: string;
  api_key_id: string;
  user_email: string;
  task: JsonText;
  task_digest: string;
  plan: JsonText;
  tools: JsonText;
  client_key: JsonText | null;
  created_at: number;
  updated_at: number;
  status: string;
  token: string | null;
  token_jti: string | null;
  token_expires_at: number | null;
  used: JsonText;
  spent: JsonText;
  open_calls: JsonText;
  reserved: JsonText | null;
  seq: number;
  head: string | null;
  holds_count: number;
  lease_holder: string | null;
  lease_until: number | null;
  flagged: JsonText | null;
}

export interface PlanTokenRow {
  jti: string;
  plan_id: string;
  token: string;
  created_at: number;
}

export interface AuditEntryRow {
  plan_id: string;
  seq: number;
  agent_id: string;
  user_email: string;
  entry: JsonText;
  received_at: number;
  verdict_check: string | null;
  /** Of the token that a decision was made under; null for other entries. */
  decision_jti: string | null;
  /** Of a decision, with a tool's name in the form of one; null for other entries. */
  tool: string | null;
  /** Of a decision, as the call was answered, and so is `reason`. It says that an entry is a decision. */
  verdict: string | null;
  reason: string | null;
}

export interface HoldRow {
  id: string;
  kind: string;
  plan_id: string;
  agent_id: string;
  decision_seq: number | null;
  call_id: string | null;
  tool: string | null;
  fingerprint: string | null;
  args: JsonText | null;
  digest: string;
  step: number | null;
  rule: string | null;
  rule_reason: string | null;
  approvers: JsonText;
  status: string;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  decided_by: string | null;
  comment: string | null;
  approval: string | null;
  approval_expires_at: number | null;
  claimed_at: number | null;
}

export interface WebhookRow {
  id: string;
  agent_id: string | null;
  url: string;
  events: JsonText;
  secret: string;
  created_at: number;
  disabled_at: number | null;
}

export interface WebhookDeliveryRow {
  id: string;
  webhook_id: string;
  hold_id: string;
  event: string;
  attempts: number;
  /** Null when nothing is to be tried any more. */
  next_attempt_at: number | null;
  delivered_at: number | null;
  last_error: string | null;
}

export interface SignInLinkRow {
  hash: string;
  email: string;
  created_at: number;
  created_by: string;
  expires_at: number;
  used_at: number | null;
}

export interface WebSessionRow {
  hash: string;
  email: string;
  csrf: string;
  created_at: number;
  link_by: string;
  expires_at: number;
  last_seen_at: number;
}

export interface AdminAuditRow {
  seq: number;
  at: number;
  actor: string;
  action: string;
  target: string;
  details: JsonText;
  prev: string | null;
  digest: string;
}

export interface RateLimitRow {
  key: string;
  window_start: number;
  count: number;
}

export interface PrincipalLedgerRow {
  agent_id: string;
  user_email: string;
  version: number;
  ledger: JsonText;
  updated_at: number;
}
