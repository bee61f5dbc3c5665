import { CompiledQuery } from "kysely";
import { type AppendToPlan, type AppendValues, toAppendValues } from "./append.ts";
import type { Database } from "./database.ts";

/** Appends in one statement and so in one round trip: all of its parts happen, or none. */
export function createPostgresAppend({ query }: Pick<Database, "query">): AppendToPlan {
  return async (planId, append) => {
    const values = toAppendValues(planId, append);
    const { rows } = await query.executeQuery(toStatement(values));
    return rows.length === 1;
  };
}

function toStatement(values: AppendValues): CompiledQuery {
  const { entries, token, claimHoldId } = values;
  const parameters = [
    values.planId,
    values.expectSeq,
    values.nextSeq,
    values.head,
    values.used,
    values.spent,
    values.openCalls,
    values.now,
    values.whileStatus,
    values.status,
    entries.map(({ seq }) => seq),
    entries.map(({ entry }) => entry),
    entries.map(({ verdictCheck }) => verdictCheck),
    entries.map(({ decisionJti }) => decisionJti),
    values.apiKeyId,
    entries.map(({ tool }) => tool),
    entries.map(({ verdict }) => verdict),
    entries.map(({ reason }) => reason),
  ];
  if (claimHoldId !== undefined) return CompiledQuery.raw(CLAIM, [...parameters, claimHoldId]);
  if (token) return CompiledQuery.raw(ISSUE, [...parameters, token.jti, token.token, token.expiresAt]);
  return CompiledQuery.raw(PLAIN, parameters);
}

/**
 * The row of the plan is what parallel appends meet on: the second waits for the first, looks at `seq` again and finds
 * another number. A hold is locked before it, to the same effect, and claimed only if the plan moved.
 */
function writeStatement(parts: {
  readonly before?: string;
  readonly set?: string;
  readonly where?: string;
  readonly after?: string;
}): string {
  return `WITH ${parts.before ?? ""}
moved AS (
  UPDATE plans SET seq = $3, head = $4, used = $5, spent = $6, open_calls = $7, updated_at = $8,
    status = COALESCE($10, status) ${parts.set ?? ""}
  WHERE id = $1 AND seq = $2 AND status = ANY ($9::text[])
    AND ($15::text IS NULL OR EXISTS (
      SELECT FROM api_keys AS k JOIN agents AS a ON a.id = k.agent_id
      WHERE k.id = $15 AND k.agent_id = plans.agent_id AND k.revoked_at IS NULL AND a.disabled_at IS NULL
    )) ${parts.where ?? ""}
  RETURNING id, agent_id, user_email
),
written AS (
  INSERT INTO audit_entries (plan_id, seq, agent_id, user_email, entry, received_at, verdict_check, decision_jti, tool,
    verdict, reason)
  SELECT moved.id, e.seq, moved.agent_id, moved.user_email, e.entry, $8, e.verdict_check, e.decision_jti, e.tool,
    e.verdict, e.reason
  FROM moved, unnest($11::bigint[], $12::text[], $13::text[], $14::text[], $16::text[], $17::text[], $18::text[])
    AS e (seq, entry, verdict_check, decision_jti, tool, verdict, reason)
) ${parts.after ?? ""}
SELECT id FROM moved`;
}

const PLAIN = writeStatement({});

const CLAIM = writeStatement({
  before: `held AS MATERIALIZED (
  SELECT id FROM holds WHERE id = $19 AND plan_id = $1 AND status = 'approved' AND claimed_at IS NULL
    AND (approval_expires_at IS NULL OR approval_expires_at > $8) FOR UPDATE
),`,
  where: "AND EXISTS (SELECT FROM held)",
  after: ", claimed AS (UPDATE holds SET claimed_at = $8 WHERE id = $19 AND EXISTS (SELECT FROM moved))",
});

const ISSUE = writeStatement({
  set: ", token_jti = $19, token = $20, token_expires_at = $21",
  after: `, issued AS (
  INSERT INTO plan_tokens (jti, plan_id, token, created_at) SELECT $19, moved.id, $20, $8 FROM moved
)`,
});
