import { resolve } from "node:path";
import { type AuditEntry, type ChainHead, digestEntry, IntentlockError, type PrivateKey } from "../../core/index.ts";
import type { AuditSink } from "../audit-sink.ts";
import { nodeSha256 } from "../node-sha256.ts";
import type { Append, PlanRow, WorkerSetup } from "./messages.ts";
import { Uploader, type UploadOptions } from "./uploader.ts";
import { WorkerLink } from "./worker-link.ts";

export interface OutboxOptions {
  /** The file. It is made, with its folder, if it is not there; it has to be on a local disk. */
  readonly path: string;
  /** As many entries may wait for upload, in all processes together, before nothing more is decided. Default: 10,000. */
  readonly maxBacklog?: number | undefined;
  /** How long the entries of a closed plan stay after they were uploaded. Default: 0. */
  readonly retentionMs?: number | undefined;
}

/** A plan whose entries go into an outbox. */
export interface OutboxPlan {
  readonly planId: string;
  /** Whether its entries go to a server. Entries of others never count as waiting, and are never removed. */
  readonly upload: boolean;
  /** Names the server and the agent, so that nobody else's uploader takes the plan. Default: empty. */
  readonly target?: string | undefined;
  /** Signs the plan's batches: whoever uploads what is left needs it. */
  readonly clientKey?: PrivateKey | undefined;
  /** Whatever the gate needs to go on with the plan in another process. */
  readonly state?: string | undefined;
  /** The end of the chain that the server has, for a plan that was begun on another machine: the next entry follows on it. */
  readonly base?: ChainHead | undefined;
}

/** What an outbox has of a plan. */
export interface StoredPlan extends Omit<OutboxPlan, "base"> {
  /** The end of its chain. */
  readonly head: ChainHead;
  /** Entries below this number are with the server. */
  readonly uploaded: number;
  readonly closed: boolean;
  /** What the server answered to the last batch. */
  readonly receipt?: string;
  /** Why the server refuses its entries for good: it is parked. */
  readonly refused?: string;
}

/** How an outbox is slowed down and filled up, for its tests. */
export type OutboxTrials = Partial<Pick<WorkerSetup, "syncDelayMs" | "maxPages" | "busyTimeoutMs">>;

/**
 * An audit sink that is one SQLite file on a worker thread, for any number of processes. An append returns when its
 * entries are on the disk; appends at the same time share one sync. Open it with {@link openOutbox}.
 */
export class Outbox implements AuditSink {
  readonly #link: WorkerLink;
  readonly #maxBacklog: number;
  readonly #uploaders: Uploader[] = [];
  #closing: Promise<void> | undefined;

  /** @internal Use {@link openOutbox}. */
  constructor(link: WorkerLink, { maxBacklog }: Pick<WorkerSetup, "maxBacklog">) {
    this.#link = link;
    this.#maxBacklog = maxBacklog;
    link.onWaiting = (waiting) => {
      for (const uploader of this.#uploaders) uploader.came(waiting);
    };
  }

  /**
   * Makes a plan known before its first entry. A plan that is not is a local one: its entries stay here.
   *
   * @throws IntentlockError `ERR_INVALID_OPTIONS` if it is known as something else, `ERR_AUDIT_WRITE`, `ERR_CLOSED`
   */
  async begin(plan: OutboxPlan): Promise<void> {
    this.#assertOpen();
    const { planId, upload, target = "", clientKey, state = null, base } = plan;
    const texts = [planId, target, state ?? ""];
    if (!isPlanId(planId) || typeof upload !== "boolean" || texts.some((text) => typeof text !== "string")) {
      throw new IntentlockError(
        "ERR_INVALID_OPTIONS",
        "begin: expected { planId, upload, target?, clientKey?, state? }",
      );
    }
    const key = clientKey === undefined ? null : JSON.stringify(clientKey);
    await this.#link.ask({ kind: "begin", planId, upload, target, clientKey: key, state, ...(base && { base }) });
  }

  /**
   * Stores entries of one plan, all or none, and returns when they are on the disk. Entries about calls that ran are
   * taken even if too many wait: there are no more of them than of decisions.
   *
   * @param head the end of the chain with these entries, from whoever chained them: otherwise they are hashed again
   * @param texts each entry as JSON, from whoever printed them: otherwise they are printed again
   * @throws IntentlockError `ERR_AUDIT_WRITE` if they are not stored, or do not follow on what is stored;
   * `ERR_AUDIT_BACKLOG` if too many wait for upload, or the server refuses the plan's; `ERR_CLOSED`
   */
  append(entries: readonly AuditEntry[], head?: ChainHead, texts?: readonly string[]): Promise<void> {
    try {
      this.#assertOpen();
      return entries.length === 0 ? Promise.resolve() : this.#link.append(toAppend(entries, head, texts));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The entries of a plan that are here, from the first: those of a plan that is closed and uploaded are removed. */
  async entries(planId: string): Promise<AuditEntry[]> {
    this.#assertOpen();
    const bodies = await this.#link.ask({ kind: "entries", planId });
    return bodies.map((body) => JSON.parse(body) as AuditEntry);
  }

  /** The plans that are not done: open, local, or with entries that wait. Without their keys. */
  async plans(): Promise<Omit<StoredPlan, "clientKey">[]> {
    this.#assertOpen();
    return (await this.#link.ask({ kind: "plans" })).map((row) => toStoredPlan({ ...row, clientKey: null }));
  }

  /** One plan, with its key, also if it is done; undefined if it is unknown, or was done long ago. */
  async plan(planId: string): Promise<StoredPlan | undefined> {
    this.#assertOpen();
    const [row] = await this.#link.ask({ kind: "plans", planId });
    return row && toStoredPlan(row);
  }

  /** Tries again to upload a plan that the server refused. @throws IntentlockError `ERR_UNKNOWN_PLAN` */
  async unpark(planId: string): Promise<void> {
    this.#assertOpen();
    await this.#link.ask({ kind: "unpark", planId });
    for (const uploader of this.#uploaders) uploader.wake();
  }

  /** Begins to upload in the background: also what other processes have left. */
  startUpload(options: UploadOptions): Uploader {
    this.#assertOpen();
    const uploader = new Uploader(this.#link, options, { manyWaiting: this.#maxBacklog / 4 });
    this.#uploaders.push(uploader);
    uploader.wake();
    return uploader;
  }

  /**
   * Uploads what waits, for as long as it may take, and gives the file back. What is left is safe: whoever opens the
   * file next uploads it.
   */
  close({ timeoutMs = 5000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#end(timeoutMs);
    return this.#closing;
  }

  async #end(timeoutMs: number): Promise<void> {
    await Promise.allSettled(this.#uploaders.map((uploader) => uploader.close({ timeoutMs })));
    await this.#link.close();
  }

  #assertOpen(): void {
    if (this.#closing) throw new IntentlockError("ERR_CLOSED", "The outbox is closed");
  }
}

/**
 * Opens an outbox file, or makes one.
 *
 * @throws IntentlockError `ERR_OUTBOX` if the file is damaged, cannot be written, or is of another version: the message
 * says what to do; `ERR_INVALID_OPTIONS`
 *
 * @example
 * import { LocalGate, openOutbox } from "intentlock/gates";
 *
 * const outbox = await openOutbox({ path: ".intentlock/outbox.db" });
 * const gate = new LocalGate({ policy, audit: outbox });
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  return await openTrialOutbox(options, {});
}

/** @internal For tests and benchmarks. */
export async function openTrialOutbox(options: OutboxOptions, trials: OutboxTrials): Promise<Outbox> {
  const { path, maxBacklog = 10_000, retentionMs = 0 } = options;
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "path: expected the path of a file");
  }
  assertCount(maxBacklog, "maxBacklog");
  assertCount(retentionMs, "retentionMs");
  const { syncDelayMs = 0, maxPages, busyTimeoutMs = 5000 } = trials;
  // Absolute, so that SQLite cannot read anything else than a file name in it.
  const setup = { path: resolve(path), maxBacklog, retentionMs, busyTimeoutMs, syncDelayMs, maxPages };
  return new Outbox(await WorkerLink.open(setup), setup);
}

function assertCount(value: number, option: string): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new IntentlockError("ERR_INVALID_OPTIONS", `${option}: expected a whole number, at least 0`);
}

/** @throws IntentlockError `ERR_AUDIT_WRITE` if the entries are not a piece of one chain */
function toAppend(
  entries: readonly AuditEntry[],
  head: ChainHead | undefined,
  texts: readonly string[] | undefined,
): Append {
  const { planId, seq, prev } = entries[0] as AuditEntry;
  // A value that SQLite does not take would fail everybody's transaction.
  if (!isPlanId(planId) || !Number.isSafeInteger(seq) || (prev !== null && typeof prev !== "string")) throw notAChain();
  const printed: string[] = [];
  let digest = prev;
  let decides = false;
  let closes = false;
  for (const [index, entry] of entries.entries()) {
    const next = entries[index + 1];
    const { type } = entry.event;
    const follows = entry.planId === planId && entry.seq === seq + index && entry.prev === digest;
    const body = texts ? texts[index] : JSON.stringify(entry);
    digest = head ? (next?.prev ?? head.prev) : digestEntry(entry, nodeSha256);
    if (!follows || typeof body !== "string" || typeof digest !== "string") throw notAChain();
    printed.push(digest, body);
    decides ||= type === "decision" || type === "plan_signed" || type === "refresh";
    closes ||= type === "closed";
  }
  return [planId, seq, prev, decides, closes, ...printed];
}

function isPlanId(planId: unknown): planId is string {
  return typeof planId === "string" && planId !== "" && planId.length <= 200 && planId.isWellFormed();
}

function notAChain(): IntentlockError {
  return new IntentlockError(
    "ERR_AUDIT_WRITE",
    "These are not audit entries that follow on each other: none is stored",
  );
}

function toStoredPlan(row: PlanRow): StoredPlan {
  const { planId, upload, target, clientKey, state, seq, prev, uploaded, receipt, closed, refused } = row;
  return {
    planId,
    upload,
    target,
    ...(clientKey !== null && { clientKey: JSON.parse(clientKey) as PrivateKey }),
    ...(state !== null && { state }),
    head: { planId, seq, prev },
    uploaded,
    closed,
    ...(receipt !== null && { receipt }),
    ...(refused !== null && { refused }),
  };
}
