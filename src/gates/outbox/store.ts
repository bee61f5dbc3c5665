import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Chains } from "./chains.ts";
import {
  type Group,
  isAppend,
  type Operation,
  type Reply,
  type Request,
  type Result,
  sizeOf,
  type WorkerSetup,
} from "./messages.ts";
import { openFile } from "./open-file.ts";
import { Refusal } from "./refusal.ts";
import { Uploads } from "./uploads.ts";

/** Pages that are written often are then moved once; what a process leaves when it dies is read in a moment. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;
const MANY_FRAMES = 16_384;

/** The outbox file, for the worker thread: does operations in groups, each group one transaction and one sync. */
export class Store {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #dataVersion: StatementSync;
  readonly #chains: Chains;
  readonly #uploads: Uploads;
  readonly #syncDelayMs: number;
  #seenVersion: unknown;
  #bytesToCheckpoint = 0;
  #addsWaiting = false;

  /** @throws Error that says what is wrong with the file */
  constructor(setup: WorkerSetup) {
    this.#database = openFile(setup.path, setup);
    if (setup.maxPages !== undefined) this.#database.exec(`PRAGMA max_page_count = ${setup.maxPages}`);
    this.#begin = this.#database.prepare("BEGIN IMMEDIATE");
    this.#commit = this.#database.prepare("COMMIT");
    this.#rollback = this.#database.prepare("ROLLBACK");
    this.#dataVersion = this.#database.prepare("PRAGMA data_version");
    this.#chains = new Chains(this.#database, setup);
    this.#uploads = new Uploads(this.#database, this.#chains, setup);
    this.#syncDelayMs = setup.syncDelayMs;
    this.#tidy();
  }

  /**
   * Does a group of operations. An operation that is refused leaves no trace and the others are stored; if the
   * transaction fails, nothing of the group is, and every answer says so.
   */
  run(requests: readonly Request[]): Group {
    try {
      return this.#transact(requests);
    } catch (error) {
      // On a full disk, what the log has that the main file has too is room: what was uploaded can be marked so.
      if (isFull(error) && this.#restartLog()) return this.#runLast(requests);
      return refuseAll(requests, error);
    }
  }

  #runLast(requests: readonly Request[]): Group {
    try {
      return this.#transact(requests);
    } catch (error) {
      return refuseAll(requests, error);
    }
  }

  #transact(requests: readonly Request[]): Group {
    const started = performance.now();
    try {
      this.#begin.run();
      this.#forgetIfChanged();
      this.#addsWaiting = false;
      const replies = requests.map((request) => this.#answer(request));
      const waiting = this.#addsWaiting ? this.#chains.waiting : undefined;
      this.#chains.saveBacklog();
      this.#commit.run();
      if (this.#syncDelayMs > 0) pause(this.#syncDelayMs);
      return { replies, tookMs: performance.now() - started, ...(waiting !== undefined && { waiting }) };
    } catch (error) {
      this.#undo();
      throw error;
    }
  }

  /** Moves what was written into the main file, now and then: called when nobody waits for an answer. */
  checkpoint(): void {
    if (this.#bytesToCheckpoint < CHECKPOINT_BYTES) return;
    this.#bytesToCheckpoint = 0;
    try {
      const frames = this.#database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()?.["log"];
      // Somebody has been reading for long, or the file is written without a break: start it anew, if that is quick.
      if (Number(frames) > MANY_FRAMES) this.#truncateLog();
    } catch {
      // Everything is safe where it is, and the next attempt comes.
    }
  }

  close(): void {
    try {
      this.#truncateLog();
    } catch {
      // As above.
    }
    this.#database.close();
  }

  /** @returns whether all of the log is in the main file: the next write begins it anew */
  #restartLog(): boolean {
    try {
      const { busy, log, checkpointed } = this.#database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() ?? {};
      return busy === 0 && log === checkpointed;
    } catch {
      return false;
    }
  }

  #truncateLog(): void {
    const timeout = Number(this.#database.prepare("PRAGMA busy_timeout").get()?.["timeout"]);
    this.#database.exec("PRAGMA busy_timeout = 100");
    this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    this.#database.exec(`PRAGMA busy_timeout = ${timeout}`);
  }

  #answer(request: Request): Reply {
    try {
      if (!isAppend(request)) return { value: this.#do(request) };
      this.#bytesToCheckpoint += sizeOf(request) + 4096;
      if (this.#chains.append(request)) this.#addsWaiting = true;
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { failure: { code: error.code, message: error.message } };
    }
  }

  #do(operation: Operation): Result {
    switch (operation.kind) {
      case "begin":
        return this.#chains.begin(operation);
      case "entries":
        return this.#chains.entries(operation.planId);
      case "plans":
        return this.#chains.plans(operation.planId);
      case "take":
        return this.#uploads.take(operation);
      case "acknowledge":
        return this.#uploads.acknowledge(operation);
      case "release":
        return this.#uploads.release(operation);
      case "renew":
        return this.#uploads.renew(operation);
      case "unpark":
        return this.#uploads.unpark(operation.planId);
      case "count":
        return this.#uploads.count(operation);
      case "close":
        return undefined;
      default:
        return operation satisfies never;
    }
  }

  /** What is remembered of the file counts until another process has written to it. */
  #forgetIfChanged(): void {
    const version = this.#dataVersion.get()?.["data_version"];
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#chains.forget();
  }

  #undo(): void {
    this.#chains.forget();
    try {
      if (this.#database.isTransaction) this.#rollback.run();
    } catch {
      // SQLite has rolled back by itself.
    }
  }

  /** What processes that died left undone: a full log, old receipts, a wrong count. Not needed to go on. */
  #tidy(): void {
    try {
      this.#begin.run();
      this.#uploads.tidy();
      this.#commit.run();
      this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (error) {
      this.#undo();
      // Entries can be read and uploaded, and appends say what is wrong.
      if (!isFull(error)) throw error;
    }
  }
}

function refuseAll(requests: readonly Request[], error: unknown): Group {
  const message = `The outbox could not store it: ${error instanceof Error ? error.message : String(error)}`;
  return { replies: requests.map(() => ({ failure: { code: "ERR_AUDIT_WRITE", message } })), tookMs: 0 };
}

/** SQLITE_FULL: the disk is, or the file may not grow. */
function isFull(error: unknown): boolean {
  return ((error as { readonly errcode?: number }).errcode ?? 0) % 256 === 13;
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
