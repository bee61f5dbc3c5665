import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Append, BeginOperation, PlanRow, WorkerSetup } from "./messages.ts";
import { Refusal } from "./refusal.ts";

/** What is remembered of a plan's row and of the end of its chain. */
export interface PlanEnd {
  readonly id: number;
  readonly upload: boolean;
  readonly refused: boolean;
  done: boolean;
  /** The number of the next entry, and the digest that it has to name. */
  seq: number;
  prev: string | null;
}

type Beginning = Pick<PlanEnd, "seq" | "prev">;

/** As `startChain` has it. The worker imports nothing of core: it would start four times slower. */
const FIRST: Beginning = { seq: 0, prev: null };

const MAX_REMEMBERED = 10_000;

const PLAN_COLUMNS = `
  plan_id, upload, target, client_key, state, uploaded, receipt, closed, refused,
  coalesce((SELECT max(seq) + 1 FROM entries WHERE plan = plans.id), base_seq) AS next_seq,
  coalesce((SELECT digest FROM entries WHERE plan = plans.id ORDER BY seq DESC LIMIT 1), base_head) AS next_prev`;

/** The plans' chains in the outbox file: adds to them what follows, and nothing else. All of it in a transaction of the store. */
export class Chains {
  readonly #maxBacklog: number;
  readonly #ends = new Map<string, PlanEnd>();
  #waiting: number | undefined;
  #savedWaiting: number | undefined;

  readonly #findPlan: StatementSync;
  readonly #lastEntry: StatementSync;
  readonly #addPlan: StatementSync;
  readonly #addEntry: StatementSync;
  readonly #markClosed: StatementSync;
  readonly #reopen: StatementSync;
  readonly #readWaiting: StatementSync;
  readonly #writeWaiting: StatementSync;
  readonly #bodies: StatementSync;
  readonly #onePlan: StatementSync;
  readonly #openPlans: StatementSync;

  constructor(database: DatabaseSync, { maxBacklog }: WorkerSetup) {
    this.#maxBacklog = maxBacklog;
    this.#findPlan = database.prepare("SELECT * FROM plans WHERE plan_id = ?");
    this.#lastEntry = database.prepare("SELECT seq, digest FROM entries WHERE plan = ? ORDER BY seq DESC LIMIT 1");
    this.#addPlan = database.prepare(
      `INSERT INTO plans (plan_id, upload, target, client_key, state, base_seq, base_head, uploaded, uploaded_head, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#addEntry = database.prepare("INSERT INTO entries (plan, seq, digest, body) VALUES (?, ?, ?, ?)");
    this.#markClosed = database.prepare("UPDATE plans SET closed = 1 WHERE id = ?");
    this.#reopen = database.prepare("UPDATE plans SET done_at = NULL WHERE id = ?");
    this.#readWaiting = database.prepare("SELECT waiting FROM backlog");
    this.#writeWaiting = database.prepare("UPDATE backlog SET waiting = ?");
    this.#bodies = database.prepare(
      "SELECT body FROM entries WHERE plan = (SELECT id FROM plans WHERE plan_id = ?) ORDER BY seq",
    );
    this.#onePlan = database.prepare(`SELECT ${PLAN_COLUMNS} FROM plans WHERE plan_id = ?`);
    this.#openPlans = database.prepare(`SELECT ${PLAN_COLUMNS} FROM plans WHERE done_at IS NULL ORDER BY id`);
  }

  /** @throws Refusal if the plan is known as something else */
  begin(operation: BeginOperation): undefined {
    const { planId, upload, target, clientKey, state, base } = operation;
    const row = this.#findPlan.get(planId);
    if (!row) {
      this.#add(planId, [Number(upload), target, clientKey, state], base);
      return;
    }
    const same = row["upload"] === Number(upload) && row["target"] === target && row["client_key"] === clientKey;
    if (!same) throw new Refusal("ERR_INVALID_OPTIONS", "The outbox has this plan already, with other options");
  }

  /**
   * Adds entries to a plan's chain, all or none. A plan that nobody began is a local one.
   *
   * @returns whether they go to a server
   * @throws Refusal if they do not follow on what is stored, or too many wait
   */
  append([planId, seq, prev, decides, closes, ...texts]: Append): boolean {
    const known = this.endOf(planId);
    const expected = known ?? FIRST;
    if (seq !== expected.seq || prev !== expected.prev) throw notTheNext(seq, expected.seq);
    const count = texts.length / 2;
    if (known?.upload && decides) this.#assertRoom(known, count);
    const end = known ?? this.#add(planId, [0, "", null, null]);
    for (let index = 0; index < texts.length; index += 2) {
      end.prev = texts[index] as string;
      this.#addEntry.run(end.id, end.seq++, end.prev, texts[index + 1] as string);
    }
    if (closes) this.#markClosed.run(end.id);
    if (end.done) this.#reopen.run(end.id);
    end.done = false;
    if (end.upload && !end.refused) this.countWaiting(count);
    return end.upload;
  }

  /** The JSON texts of a plan's entries that are still here, in order. */
  entries(planId: string): readonly string[] {
    return this.#bodies.all(planId).map(({ body }) => body as string);
  }

  plans(planId: string | undefined): PlanRow[] {
    const rows = planId === undefined ? this.#openPlans.all() : this.#onePlan.all(planId);
    return rows.map((row) => ({
      planId: row["plan_id"] as string,
      upload: row["upload"] === 1,
      target: row["target"] as string,
      clientKey: row["client_key"] as string | null,
      state: row["state"] as string | null,
      seq: row["next_seq"] as number,
      prev: row["next_prev"] as string | null,
      uploaded: row["uploaded"] as number,
      receipt: row["receipt"] as string | null,
      closed: row["closed"] === 1,
      refused: row["refused"] as string | null,
    }));
  }

  /** The end of a plan's chain, as it is in the file; undefined if the plan is unknown. */
  endOf(planId: string): PlanEnd | undefined {
    const remembered = this.#ends.get(planId);
    if (remembered) return remembered;
    const row = this.#findPlan.get(planId);
    if (!row) return undefined;
    const id = row["id"] as number;
    const last = this.#lastEntry.get(id);
    return this.#remember(planId, {
      id,
      upload: row["upload"] === 1,
      refused: row["refused"] !== null,
      done: row["done_at"] !== null,
      seq: last ? (last["seq"] as number) + 1 : (row["base_seq"] as number),
      prev: (last ? last["digest"] : row["base_head"]) as string | null,
    });
  }

  /** Adds to the number of entries that wait for upload, in all processes. */
  countWaiting(more: number): void {
    this.#waiting = this.waiting + more;
  }

  get waiting(): number {
    if (this.#waiting === undefined) {
      this.#waiting = this.#readWaiting.get()?.["waiting"] as number;
      this.#savedWaiting = this.#waiting;
    }
    return this.#waiting;
  }

  /** Before a commit. */
  saveBacklog(): void {
    if (this.#waiting === undefined || this.#waiting === this.#savedWaiting) return;
    this.#writeWaiting.run(this.#waiting);
    this.#savedWaiting = this.#waiting;
  }

  /** Drops what is remembered of a plan, or of all: somebody else has changed the file, or a transaction failed. */
  forget(planId?: string): void {
    if (planId !== undefined) {
      this.#ends.delete(planId);
      return;
    }
    this.#ends.clear();
    this.#waiting = undefined;
    this.#savedWaiting = undefined;
  }

  #add(planId: string, values: readonly SQLInputValue[], { seq, prev }: Beginning = FIRST): PlanEnd {
    const id = Number(this.#addPlan.run(planId, ...values, seq, prev, seq, prev, Date.now()).lastInsertRowid);
    return this.#remember(planId, { id, upload: values[0] === 1, refused: false, done: false, seq, prev });
  }

  #remember(planId: string, end: PlanEnd): PlanEnd {
    if (this.#ends.size >= MAX_REMEMBERED) this.#ends.clear();
    this.#ends.set(planId, end);
    return end;
  }

  #assertRoom({ refused }: PlanEnd, more: number): void {
    if (refused) {
      throw new Refusal(
        "ERR_AUDIT_BACKLOG",
        "The server refuses the audit entries of this plan: nothing more is decided under it",
      );
    }
    const { waiting } = this;
    if (waiting + more <= this.#maxBacklog) return;
    throw new Refusal("ERR_AUDIT_BACKLOG", `${waiting} audit entries wait for upload, and ${this.#maxBacklog} may`);
  }
}

/** Two writers on one plan, or one that does not know what it has written. */
function notTheNext(seq: number, expected: number): Refusal {
  const what = seq === expected ? "it does not follow on the entry before" : `entry ${expected} comes next`;
  return new Refusal(
    "ERR_AUDIT_WRITE",
    `Audit entry ${seq} is refused: ${what}. Does another process write to this plan?`,
  );
}
