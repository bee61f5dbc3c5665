/** What an agent has whose settings do not say otherwise. */
export const AGENT_DEFAULTS = {
  planTtlSeconds: 900,
  planMaxAgeSeconds: 86_400,
  maxHolds: 20,
} as const;

/** How long a plan waits for a person, in seconds. */
export const PLAN_HOLD_SECONDS = 3600;
