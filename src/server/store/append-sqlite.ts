import { CompiledQuery, type Kysely } from "kysely";
import { type AppendToPlan, type AppendValues, toAppendValues } from "./append.ts";
import { type Database, storeError } from "./database.ts";
import type { Tables } from "./schema.ts";

interface Waiting {
  readonly values: AppendValues;
  readonly resolve: (happened: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** As many as are written before others that want the database have their turn. */
const MAX_GROUP = 256;

/**
 * Appends in IMMEDIATE transactions, each with all that wait when it begins: many appends share one sync of the disk.
 * An append is a savepoint inside, so that one that fails takes no other with it, and none is answered before the commit.
 */
export function createSqliteAppend({ query }: Pick<Database, "query">): AppendToPlan {
  const waiting: Waiting[] = [];
  let isAwaited = false;
  const flush = async (): Promise<void> => {
    isAwaited = false;
    while (waiting.length > 0) {
      await query.connection().execute((connection) => appendGroup(connection, waiting.splice(0, MAX_GROUP)));
    }
  };
  return async (planId, append) => {
    const values = toAppendValues(planId, append);
    return await new Promise<boolean>((resolve, reject) => {
      waiting.push({ values, resolve, reject });
      if (isAwaited) return;
      isAwaited = true;
      // After the events that are there already: their appends come along.
      setImmediate(() => {
        flush().catch((error) => {
          for (const one of waiting.splice(0)) one.reject(storeError(error));
        });
      });
    });
  };
}

/** Answers each of the group, whatever happens. */
async function appendGroup(connection: Kysely<Tables>, group: readonly Waiting[]): Promise<void> {
  const answers: (() => void)[] = [];
  try {
    await run(connection, "begin immediate");
    for (const { values, resolve, reject } of group) {
      await run(connection, "savepoint one");
      try {
        const happened = await appendOne(connection, values);
        answers.push(() => resolve(happened));
      } catch (error) {
        await run(connection, "rollback to one");
        answers.push(() => reject(error));
      }
      await run(connection, "release one");
    }
    await run(connection, "commit");
  } catch (error) {
    // Fails where SQLite has rolled back by itself, as on a full disk.
    await run(connection, "rollback").catch(() => {});
    for (const { reject } of group) reject(error);
    return;
  }
  for (const answer of answers) answer();
}

async function appendOne(connection: Kysely<Tables>, values: AppendValues): Promise<boolean> {
  const { planId, now, token, claimHoldId, ledger } = values;
  if (claimHoldId !== undefined) {
    const claimed = await run(connection, CLAIM, [now, claimHoldId, planId, now]);
    if (claimed.length === 0) return false;
  }
  const [plan] = await run<{ agent_id: string; user_email: string }>(connection, MOVE, [
    values.nextSeq,
    values.head,
    values.used,
    values.spent,
    values.openCalls,
    now,
    values.status,
    values.reserved,
    planId,
    values.expectSeq,
    JSON.stringify(values.whileStatus),
    values.apiKeyId,
    values.apiKeyId,
  ]);
  if (!plan) {
    // What was claimed is not.
    await run(connection, "rollback to one");
    return false;
  }
  const { agent_id: agentId, user_email: userEmail } = plan;
  if (ledger) {
    const debit = [ledger.text, now, agentId, userEmail, ledger.expectVersion];
    const debited = await run(connection, DEBIT, debit);
    if (debited.length === 0) {
      await run(connection, "rollback to one");
      return false;
    }
  }
  for (const { seq, entry, verdictCheck, decisionJti, tool, verdict, reason } of values.entries) {
    const ofDecision = [verdictCheck, decisionJti, tool, verdict, reason];
    await run(connection, WRITE, [planId, seq, agentId, userEmail, entry, now, ...ofDecision]);
  }
  if (token) {
    await run(connection, SET_TOKEN, [token.jti, token.token, token.expiresAt, planId]);
    await run(connection, ISSUE, [token.jti, planId, token.token, now]);
  }
  return true;
}

async function run<Row>(connection: Kysely<Tables>, text: string, parameters: unknown[] = []): Promise<Row[]> {
  const { rows } = await connection.executeQuery(CompiledQuery.raw(text, parameters) as CompiledQuery<Row>);
  return rows;
}

const CLAIM = `UPDATE holds SET claimed_at = ? WHERE id = ? AND plan_id = ? AND status = 'approved'
  AND claimed_at IS NULL AND (approval_expires_at IS NULL OR approval_expires_at > ?) RETURNING id`;
const MOVE = `UPDATE plans SET seq = ?, head = ?, used = ?, spent = ?, open_calls = ?, updated_at = ?,
  status = COALESCE(?, status), reserved = COALESCE(?, reserved) WHERE id = ? AND seq = ? AND status IN (SELECT value FROM json_each(?))
  AND (? IS NULL OR EXISTS (
    SELECT 1 FROM api_keys AS k JOIN agents AS a ON a.id = k.agent_id
    WHERE k.id = ? AND k.agent_id = plans.agent_id AND k.revoked_at IS NULL AND a.disabled_at IS NULL
  ))
  RETURNING agent_id, user_email`;
const DEBIT = `UPDATE principal_ledgers SET version = version + 1, ledger = ?, updated_at = ?
  WHERE agent_id = ? AND user_email = ? AND version = ? RETURNING version`;
const WRITE = `INSERT INTO audit_entries (plan_id, seq, agent_id, user_email, entry, received_at, verdict_check,
  decision_jti, tool, verdict, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const SET_TOKEN = "UPDATE plans SET token_jti = ?, token = ?, token_expires_at = ? WHERE id = ?";
const ISSUE = "INSERT INTO plan_tokens (jti, plan_id, token, created_at) VALUES (?, ?, ?, ?)";
