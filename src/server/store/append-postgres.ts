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
  const { entries, token, claimHoldId, ledger } = values;
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
    values.reserved,
  ];
  if (ledger) {
    const { expectVersion, text } = ledger;
    if (claimHoldId === undefined) return CompiledQuery.raw(DEBIT, [...parameters, expectVersion, text]);
    return CompiledQuery.raw(CLAIM_AND_DEBIT, [...parameters, claimHoldId, expectVersion, text]);
  }
  if (claimHoldId !== undefined) return CompiledQuery.raw(CLAIM, [...parameters, claimHoldId]);
  if (token) return CompiledQuery.raw(ISSUE, [...parameters, token.jti, token.token, token.expiresAt]);
  return CompiledQuery.raw(PLAIN, parameters);
}

/**
 * The row of the plan is what parallel appends meet on: the second waits for the first, looks at `seq` again and finds
 * another number. A hold is locked before it, to the same effect, and claimed only if the plan moved; and so is the
 * ledger of the plan's person, on which appends to several plans meet. Holds are locked before ledgers, ledgers before
 * plans: no two appends wait for each other.
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
    status = COALESCE($10, status), reserved = COALESCE($19, reserved) ${parts.set ?? ""}
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

/** The statements that lock a hold (its id is $20), a ledger (its version and text are the next two), or both. */
function writeTaking(takes: { readonly claim: boolean; readonly debit: boolean }): string {
  const [version, text] = takes.claim ? ["$21", "$22"] : ["$20", "$21"];
  const held = `held AS MATERIALIZED (
  SELECT id FROM holds WHERE id = $20 AND plan_id = $1 AND status = 'approved' AND claimed_at IS NULL
    AND (approval_expires_at IS NULL OR approval_expires_at > $8) FOR UPDATE
),`;
  const counted = `counted AS MATERIALIZED (
  SELECT l.agent_id, l.user_email FROM principal_ledgers AS l
  WHERE (l.agent_id, l.user_email) = (SELECT p.agent_id, p.user_email FROM plans AS p WHERE p.id = $1)
    AND l.version = ${version} ${takes.claim ? "AND EXISTS (SELECT FROM held)" : ""} FOR UPDATE OF l
),`;
  const claimed = ", claimed AS (UPDATE holds SET claimed_at = $8 WHERE id = $20 AND EXISTS (SELECT FROM moved))";
  const debited = `, debited AS (
  UPDATE principal_ledgers AS l SET version = l.version + 1, ledger = ${text}, updated_at = $8
  FROM moved WHERE l.agent_id = moved.agent_id AND l.user_email = moved.user_email
)`;
  return writeStatement({
    before: `${takes.claim ? held : ""} ${takes.debit ? counted : ""}`,
    where: takes.debit ? "AND EXISTS (SELECT FROM counted)" : "AND EXISTS (SELECT FROM held)",
    after: `${takes.claim ? claimed : ""} ${takes.debit ? debited : ""}`,
  });
}

const CLAIM = writeTaking({ claim: true, debit: false });
const DEBIT = writeTaking({ claim: false, debit: true });
const CLAIM_AND_DEBIT = writeTaking({ claim: true, debit: true });

const ISSUE = writeStatement({
  set: ", token_jti = $20, token = $21, token_expires_at = $22",
  after: `, issued AS (
  INSERT INTO plan_tokens (jti, plan_id, token, created_at) SELECT $20, moved.id, $21, $8 FROM moved
)`,
});
