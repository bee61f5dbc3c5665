import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Chains } from "./chains.ts";
import type {
  AcknowledgeOperation,
  CountOperation,
  LeaseHolder,
  ReleaseOperation,
  RenewOperation,
  TakenBatch,
  TakeOperation,
  Waiting,
  WorkerSetup,
} from "./messages.ts";
import { Refusal } from "./refusal.ts";

type Row = Readonly<Record<string, unknown>>;

const DAY_MS = 86_400_000;
/** How long the receipts of plans that are done are kept, and how long a plan may be open that nobody closes. */
const KEPT_MS = 30 * DAY_MS;
/** So many plans are emptied at a time: an append may wait for it. */
const SWEEP_LIMIT = 20;

/** What waits for upload in the outbox file, and who is at it. All of it in a transaction of the store. */
export class Uploads {
  readonly #chains: Chains;
  readonly #retentionMs: number;
  readonly #statements: Readonly<Record<keyof typeof SQL, StatementSync>>;
  #tidiedAt = 0;

  constructor(database: DatabaseSync, chains: Chains, { retentionMs }: WorkerSetup) {
    this.#chains = chains;
    this.#retentionMs = retentionMs;
    const prepared = Object.entries(SQL).map(([name, text]) => [name, database.prepare(text)]);
    this.#statements = Object.fromEntries(prepared) as Record<keyof typeof SQL, StatementSync>;
  }

  take(operation: TakeOperation): TakenBatch | undefined {
    const now = Date.now();
    const plan = this.#findFree(operation, now);
    if (!plan) return undefined;
    const { owner, host, pid } = operation.holder;
    this.#statements.lease.run(owner, host, pid, now + operation.leaseMs, now, plan["id"] as number);
    return this.#readBatch(plan, operation);
  }

  /** What a server has is with the server, whoever sent it: the lease does not matter. */
  acknowledge({ planId, owner, seq, head, receipt }: AcknowledgeOperation): undefined {
    const plan = this.#find(planId);
    const uploaded = plan["uploaded"] as number;
    const end = this.#chains.endOf(planId);
    if (!end || seq > end.seq)
      throw new Refusal("ERR_AUDIT_WRITE", "An entry is acknowledged that the outbox does not have");
    if (seq > uploaded) {
      this.#statements.acknowledge.run(seq, head, receipt, end.id);
      if (plan["refused"] === null) this.#chains.countWaiting(uploaded - seq);
      if (plan["closed"] === 1 && seq === end.seq) {
        this.#statements.finish.run(Date.now(), end.id);
        end.done = true;
      }
    }
    this.release({ kind: "release", planId, owner });
    this.#sweep();
  }

  release({ planId, owner, refused }: ReleaseOperation): undefined {
    this.#statements.release.run(planId, owner);
    if (refused === undefined) return;
    const plan = this.#find(planId);
    if (plan["refused"] !== null) return;
    this.#chains.countWaiting(-this.#countPlan(plan));
    this.#statements.park.run(refused, planId);
    this.#chains.forget(planId);
  }

  renew({ planIds, owner, leaseMs }: RenewOperation): undefined {
    for (const planId of planIds) this.#statements.renew.run(Date.now() + leaseMs, planId, owner);
  }

  unpark(planId: string): undefined {
    const plan = this.#find(planId);
    if (plan["refused"] === null) return;
    this.#statements.park.run(null, planId);
    this.#chains.countWaiting(this.#countPlan(plan));
    this.#chains.forget(planId);
  }

  count({ target, planId, below }: CountOperation): Waiting {
    if (planId === undefined) {
      const { waiting, refused } = this.#statements.countAll.get(target) as Row;
      return { waiting: waiting as number, refused: refused as number };
    }
    const plan = this.#find(planId);
    const count = plan["upload"] === 1 ? this.#countPlan(plan, below) : 0;
    return plan["refused"] === null ? { waiting: count, refused: 0 } : { waiting: 0, refused: count };
  }

  /** Counts anew, and removes what nobody needs any more. */
  tidy(): void {
    this.#tidiedAt = Date.now();
    this.#statements.recount.run();
    this.#statements.forgetOld.run(this.#tidiedAt - KEPT_MS);
    this.#statements.abandon.run(this.#tidiedAt, this.#tidiedAt - KEPT_MS);
    this.#chains.forget();
    this.#sweep();
  }

  #find(planId: string): Row {
    const plan = this.#statements.find.get(planId);
    if (!plan) throw new Refusal("ERR_UNKNOWN_PLAN", "The outbox does not have this plan");
    return plan;
  }

  #findFree({ target, first, except, holder, leaseMs }: TakeOperation, now: number): Row | undefined {
    const { wanted, candidates } = this.#statements;
    const passed = JSON.stringify(except);
    const canTake = (plan: Row): boolean => isFree(plan, { holder, leaseMs, now });
    const plan = first.length > 0 ? wanted.all(target, passed, JSON.stringify(first)).find(canTake) : undefined;
    if (plan) return plan;
    for (const other of candidates.iterate(target, passed) as Iterable<Row>) if (canTake(other)) return other;
    return undefined;
  }

  #readBatch(plan: Row, { maxEntries, maxBytes }: TakeOperation): TakenBatch {
    const from = plan["uploaded"] as number;
    const bodies: string[] = [];
    let bytes = 0;
    let head = "";
    for (const row of this.#statements.batch.iterate(plan["id"] as number, from, maxEntries) as Iterable<Row>) {
      const body = row["body"] as string;
      bytes += Buffer.byteLength(body);
      // One entry always goes, however large.
      if (bodies.length > 0 && bytes > maxBytes) break;
      bodies.push(body);
      head = row["digest"] as string;
    }
    return {
      planId: plan["plan_id"] as string,
      clientKey: plan["client_key"] as string | null,
      from,
      prev: plan["uploaded_head"] as string | null,
      head,
      bodies,
    };
  }

  #countPlan(plan: Row, below: number = Number.MAX_SAFE_INTEGER): number {
    const row = this.#statements.countPlan.get(plan["id"] as number, plan["uploaded"] as number, below);
    return row?.["waiting"] as number;
  }

  #sweep(): void {
    const now = Date.now();
    for (const { id } of this.#statements.swept.all(now - this.#retentionMs, SWEEP_LIMIT)) {
      this.#statements.removeEntries.run(id as number);
      this.#statements.moveBase.run(id as number);
    }
    if (now - this.#tidiedAt > DAY_MS) this.tidy();
  }
}

/** Whether nobody works on a plan: there is no lease, it ran out, or who had it is gone. */
function isFree(
  plan: Row,
  { holder, leaseMs, now }: { readonly holder: LeaseHolder; readonly leaseMs: number; readonly now: number },
): boolean {
  const until = plan["lease_until"] as number | null;
  // One that ends later than any can comes from before the clock was set back.
  if (plan["lease_owner"] === null || until === null || until <= now || until > now + 10 * leaseMs) return true;
  const pid = plan["lease_pid"] as number;
  // Of a process on another machine, or in another container, nothing is known but the time.
  return plan["lease_host"] === holder.host && pid !== holder.pid && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It may belong to somebody else: then it lives.
    return (error as { code?: unknown }).code !== "ESRCH";
  }
}

const WAITS = "EXISTS (SELECT 1 FROM entries WHERE plan = plans.id AND seq >= plans.uploaded)";
const COUNT_WAITING = "(SELECT count(*) FROM entries WHERE plan = plans.id AND seq >= plans.uploaded)";

const CANDIDATE = `upload = 1 AND done_at IS NULL AND refused IS NULL AND target = ?
  AND plan_id NOT IN (SELECT value FROM json_each(?)) AND ${WAITS}`;

const SQL = {
  find: "SELECT * FROM plans WHERE plan_id = ?",
  // Who was tried longest ago comes first: a plan that is always busy, or always fails, leaves room for the others.
  candidates: `SELECT * FROM plans WHERE ${CANDIDATE} ORDER BY tried_at, id`,
  wanted: `SELECT * FROM plans WHERE ${CANDIDATE} AND plan_id IN (SELECT value FROM json_each(?)) ORDER BY tried_at, id`,
  batch: "SELECT digest, body FROM entries WHERE plan = ? AND seq >= ? ORDER BY seq LIMIT ?",
  lease: "UPDATE plans SET lease_owner = ?, lease_host = ?, lease_pid = ?, lease_until = ?, tried_at = ? WHERE id = ?",
  renew: "UPDATE plans SET lease_until = ? WHERE plan_id = ? AND lease_owner = ?",
  release: `UPDATE plans SET lease_owner = NULL, lease_host = NULL, lease_pid = NULL, lease_until = NULL
    WHERE plan_id = ? AND lease_owner = ?`,
  acknowledge: "UPDATE plans SET uploaded = ?, uploaded_head = ?, receipt = ? WHERE id = ?",
  finish: "UPDATE plans SET done_at = ? WHERE id = ?",
  park: "UPDATE plans SET refused = ? WHERE plan_id = ?",
  countPlan: "SELECT count(*) AS waiting FROM entries WHERE plan = ? AND seq >= ? AND seq < ?",
  countAll: `SELECT
      coalesce(sum(CASE WHEN refused IS NULL THEN ${COUNT_WAITING} ELSE 0 END), 0) AS waiting,
      coalesce(sum(CASE WHEN refused IS NULL THEN 0 ELSE ${COUNT_WAITING} END), 0) AS refused
    FROM plans WHERE upload = 1 AND done_at IS NULL AND target = ?`,
  recount: `UPDATE backlog SET waiting = (
    SELECT coalesce(sum(${COUNT_WAITING}), 0) FROM plans WHERE upload = 1 AND done_at IS NULL AND refused IS NULL)`,
  swept: `SELECT id FROM plans WHERE done_at IS NOT NULL AND base_seq < uploaded AND done_at <= ? LIMIT ?`,
  removeEntries: "DELETE FROM entries WHERE plan = ? AND seq < (SELECT uploaded FROM plans WHERE id = entries.plan)",
  moveBase: "UPDATE plans SET base_seq = uploaded, base_head = uploaded_head WHERE id = ?",
  forgetOld: "DELETE FROM plans WHERE done_at IS NOT NULL AND base_seq = uploaded AND done_at < ?",
  abandon: `UPDATE plans SET done_at = ?
    WHERE upload = 1 AND closed = 0 AND done_at IS NULL AND created_at < ? AND NOT ${WAITS}`,
} as const;
