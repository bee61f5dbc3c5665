import { Worker } from "node:worker_threads";
import { IntentlockError } from "../../core/index.ts";
import {
  type Append,
  type FromWorker,
  type Group,
  isAppend,
  type Operation,
  type Reply,
  type Request,
  type Results,
  type WorkerSetup,
} from "./messages.ts";
import { workerUrl } from "./worker-url.ts";

interface Pending {
  readonly isAppend: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (error: IntentlockError) => void;
}

/** As many are answered in one turn of the event loop: hundreds that go on at once would hold up everything else. */
const ANSWERS_A_TURN = 64;

/**
 * The way to the worker thread. Requests of one turn of the event loop travel together, or as many at a time as keep the
 * worker busy. It keeps the process alive only while somebody waits for it; when it is gone, everything that waits and
 * everything later is refused.
 */
export class WorkerLink {
  readonly #worker: Worker;
  /** Told how many entries wait for upload, when there are more. */
  onWaiting: ((waiting: number) => void) | undefined;
  /** In the order of the requests, which is that of the replies. */
  #pending: Pending[] = [];
  #appends = 0;
  #unsent: Request[] = [];
  #unsentSince = 0;
  /** What is known already, of the first that are pending. */
  #replies: readonly Reply[] = [];
  /** How long the last group took; before the first, as on a slow disk. */
  #tookMs = 50;
  #gone: IntentlockError | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** @throws IntentlockError `ERR_OUTBOX` if the file cannot be used */
  static async open(setup: WorkerSetup): Promise<WorkerLink> {
    const worker = new Worker(workerUrl(), {
      name: "intentlock-outbox",
      workerData: setup,
      // Nothing is inherited: not a loader, and not a hook. In Node.js 22, node:sqlite says that it is experimental.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    const link = new WorkerLink(worker);
    await link.#untilOpen();
    worker.unref();
    return link;
  }

  /** @throws IntentlockError with the code of the refusal, `ERR_AUDIT_WRITE` if the worker is gone */
  ask<Kind extends Operation["kind"]>(operation: Extract<Operation, { kind: Kind }>): Promise<Results[Kind]> {
    return this.#request(operation);
  }

  /** Stores entries. @throws IntentlockError as above */
  append(append: Append): Promise<void> {
    return this.#request(append);
  }

  /** Whether somebody waits for entries to be stored. */
  get isAppending(): boolean {
    return this.#appends > 0;
  }

  /** Ends the worker, after what was asked for. */
  async close(): Promise<void> {
    if (this.#gone) return;
    const exited = new Promise((resolve) => this.#worker.once("exit", resolve));
    await this.ask({ kind: "close" });
    this.#worker.ref();
    await exited;
  }

  #request(request: Request): Promise<never> {
    return new Promise((resolve, reject) => {
      if (this.#gone) {
        reject(this.#gone);
        return;
      }
      if (this.#pending.length === 0) this.#worker.ref();
      const pending = { resolve, reject, isAppend: isAppend(request) };
      if (pending.isAppend) this.#appends++;
      this.#pending.push(pending);
      this.#unsent.push(request);
      if (this.#unsent.length === 1) {
        this.#unsentSince = performance.now();
        // Runs after all promises that are settled have been followed up: a hundred calls at once are one message.
        process.nextTick(() => this.#sendInTime());
      } else this.#sendIfLate();
    });
  }

  /** Who is answered in the next turns comes again too, and shares a sync with these. */
  #sendInTime(): void {
    if (this.#replies.length === 0) this.#send();
    else this.#sendIfLate();
  }

  /** The worker could have stored a group meanwhile: it begins, and what comes is the next group. */
  #sendIfLate(): void {
    if (performance.now() - this.#unsentSince > this.#tookMs) this.#send();
  }

  #send(): void {
    const requests = this.#unsent;
    this.#unsent = [];
    if (requests.length === 0 || this.#gone) return;
    try {
      this.#worker.postMessage(requests);
    } catch (error) {
      // Replies have no other number than their place: after a request that cannot be sent none would be the right one.
      this.#fail(workerDied(error));
    }
  }

  #untilOpen(): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (message: string, cause?: unknown): void => {
        const error = new IntentlockError("ERR_OUTBOX", message, cause === undefined ? undefined : { cause });
        this.#fail(error);
        reject(error);
      };
      this.#worker.on("message", (message: FromWorker) => {
        if ("replies" in message) this.#receive(message);
        else if (message.opened) resolve();
        else refuse(message.message);
      });
      const died = (why: string, cause?: unknown): void => {
        refuse(`The outbox could not be started: ${why}`, cause);
      };
      this.#worker.on("error", (error) => {
        this.#fail(workerDied(error));
        died(error instanceof Error ? error.message : String(error), error);
      });
      this.#worker.on("messageerror", (error) => {
        this.#fail(workerDied(error));
      });
      this.#worker.on("exit", (code) => {
        this.#fail(workerDied(undefined));
        died(`its thread ended with code ${code}`);
      });
    });
  }

  #receive({ replies, tookMs, waiting }: Group): void {
    // Who asked was told that nothing is known of it.
    if (this.#gone) return;
    this.#tookMs = tookMs;
    const goesOn = this.#replies.length > 0;
    this.#replies = this.#replies.concat(replies);
    if (!goesOn) this.#answer();
    if (waiting !== undefined) this.onWaiting?.(waiting);
  }

  #answer(): void {
    const replies = this.#replies.slice(0, ANSWERS_A_TURN);
    this.#replies = this.#replies.slice(ANSWERS_A_TURN);
    const answered = this.#pending.splice(0, replies.length);
    for (const [index, reply] of replies.entries()) {
      const { resolve, reject, isAppend } = answered[index] as Pending;
      if (isAppend) this.#appends--;
      if (reply === true) resolve(undefined as never);
      else if (reply.failure) reject(new IntentlockError(reply.failure.code, reply.failure.message));
      else resolve(reply.value as never);
    }
    if (this.#replies.length > 0) {
      setImmediate(() => this.#answer());
      return;
    }
    if (this.#pending.length === 0) this.#worker.unref();
    // After all that comes from these answers: a tick that is asked for here would be before it.
    else if (this.#unsent.length > 0) queueMicrotask(() => process.nextTick(() => this.#send()));
  }

  /** Fails closed: whether the worker has stored what waits is unknown, so nobody is told that it has. */
  #fail(error: IntentlockError): void {
    if (this.#gone) return;
    // What is known of the first is true all the same.
    while (this.#replies.length > 0) this.#answer();
    this.#gone = error;
    for (const { reject } of this.#pending) reject(error);
    this.#pending = [];
    this.#appends = 0;
    this.#unsent = [];
    this.#worker.unref();
  }
}

function workerDied(cause: unknown): IntentlockError {
  const message = "The outbox's worker thread has ended: nothing more can be stored. Open the outbox again";
  return new IntentlockError("ERR_AUDIT_WRITE", message, cause === undefined ? undefined : { cause });
}
