import { Worker } from "node:worker_threads";
import { IntentlockError } from "../../core/index.ts";
import type { FromWorker, Operation, Reply, Request, Results, WorkerSetup } from "./messages.ts";
import { workerUrl } from "./worker-url.ts";

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: IntentlockError) => void;
}

/**
 * The way to the worker thread. Operations of one turn of the event loop travel together. The worker keeps the process
 * alive only while somebody waits for it; when it is gone, everything that waits and everything later is refused.
 */
export class WorkerLink {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #unsent: Request[] = [];
  #lastId = 0;
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
    return new Promise((resolve, reject) => {
      if (this.#gone) {
        reject(this.#gone);
        return;
      }
      const id = ++this.#lastId;
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
      // Runs after all promises that are settled have been followed up: a hundred calls at once are one message.
      if (this.#unsent.length === 0) process.nextTick(() => this.#send());
      this.#unsent.push({ id, operation });
    });
  }

  /** Ends the worker, after what was asked for. */
  async close(): Promise<void> {
    if (this.#gone) return;
    const exited = new Promise((resolve) => this.#worker.once("exit", resolve));
    await this.ask({ kind: "close" });
    this.#worker.ref();
    await exited;
  }

  #send(): void {
    const requests = this.#unsent;
    this.#unsent = [];
    if (!this.#gone) this.#worker.postMessage(requests);
  }

  #untilOpen(): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (message: string, cause?: unknown): void => {
        const error = new IntentlockError("ERR_OUTBOX", message, cause === undefined ? undefined : { cause });
        this.#fail(error);
        reject(error);
      };
      this.#worker.on("message", (message: FromWorker) => {
        if ("replies" in message) this.#receive(message.replies);
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

  #receive(replies: readonly Reply[]): void {
    for (const reply of replies) {
      const pending = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if (reply.failure) pending?.reject(new IntentlockError(reply.failure.code, reply.failure.message));
      else pending?.resolve(reply.value as never);
    }
    if (this.#pending.size === 0) this.#worker.unref();
  }

  /** Fails closed: whether the worker has stored what waits is unknown, so nobody is told that it has. */
  #fail(error: IntentlockError): void {
    if (this.#gone) return;
    this.#gone = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#unsent = [];
    this.#worker.unref();
  }
}

function workerDied(cause: unknown): IntentlockError {
  const message = "The outbox's worker thread has ended: nothing more can be stored. Open the outbox again";
  return new IntentlockError("ERR_AUDIT_WRITE", message, cause === undefined ? undefined : { cause });
}
