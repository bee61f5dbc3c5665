import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Backoff } from "./backoff.ts";
import type { LeaseHolder, TakenBatch, Waiting } from "./messages.ts";
import { Pace } from "./pace.ts";
import { isForGood, toBatch, type UploadBatch, UploadError } from "./upload-batch.ts";
import type { WorkerLink } from "./worker-link.ts";

export interface UploadTrouble {
  readonly planId?: string;
  readonly error: unknown;
  /** The server will never take the plan's entries: it is parked until `unpark`. */
  readonly refused: boolean;
  readonly retryInMs?: number;
}

export interface UploadOptions {
  /**
   * Sends a batch and gives the server's receipt, when the server has stored it. The server may get a batch again, and
   * the same entries in other batches. Rejects with an {@link UploadError}; anything else counts as a lost connection.
   */
  readonly send: (batch: UploadBatch, options: { readonly signal: AbortSignal }) => Promise<string>;
  /** The plans that were begun with this target are taken. Default: empty. */
  readonly target?: string | undefined;
  readonly onTrouble?: ((trouble: UploadTrouble) => void) | undefined;
  /** Of a batch. Default: 200 entries, 256 KiB of JSON. One entry always goes, however large. */
  readonly maxEntries?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Plans at a time. Default: 4. */
  readonly lanes?: number | undefined;
  /** How long to wait for more entries. Default: 20. */
  readonly lingerMs?: number | undefined;
  /** How long to wait at most while entries keep coming, closer together than that. Default: 1000. */
  readonly standBackMs?: number | undefined;
  /** How often to look for what others have left. Default: 5000. */
  readonly pollMs?: number | undefined;
  /** How long a plan stays with an uploader that says nothing. Default: 15,000. */
  readonly leaseMs?: number | undefined;
  /** How long one batch may take. Default: 30,000. */
  readonly sendTimeoutMs?: number | undefined;
  /** The wait after a failure: it doubles from the first to the most, with jitter. Default: 250 and 30,000. */
  readonly retryMs?: { readonly first: number; readonly most: number } | undefined;
}

/** What is left after a flush: entries that are on their way, and those of parked plans. */
export type FlushResult = Waiting;

type Settings = {
  readonly [Name in Exclude<keyof UploadOptions, "onTrouble" | "retryMs" | "standBackMs" | "pollMs">]-?: Exclude<
    UploadOptions[Name],
    undefined
  >;
} & Pick<UploadOptions, "onTrouble">;

const FLUSH_POLL_MS = 100;

/**
 * Uploads the entries of an outbox in the background, plan by plan and in order. One uploader works on a plan at a
 * time, in all processes that share the file. Nothing of it keeps the process alive, except a flush.
 */
export class Uploader {
  readonly #link: WorkerLink;
  readonly #options: Settings;
  readonly #holder: LeaseHolder = { owner: randomUUID(), host: hostname(), pid: process.pid };
  readonly #backoff: Backoff;
  /** The batch sizes of plans whose batches were too large for the server. */
  readonly #smaller = new Map<string, number>();
  readonly #pace: Pace;
  /** The plans that somebody waits for. */
  readonly #wanted = new Set<{ readonly planId: string | undefined }>();
  readonly #busy = new Map<string, AbortController>();
  readonly #poll: NodeJS.Timeout;
  readonly #renewal: NodeJS.Timeout;
  #lanes = 0;
  #more = false;
  #ended = false;
  #progress = Promise.withResolvers<void>();

  /** @internal Use `outbox.startUpload`. */
  constructor(link: WorkerLink, options: UploadOptions, { manyWaiting }: { readonly manyWaiting: number }) {
    const { send, target = "", onTrouble, maxEntries = 200, maxBytes = 262_144, lanes = 4 } = options;
    const { lingerMs = 20, standBackMs = 1000, pollMs = 5000, leaseMs = 15_000, sendTimeoutMs = 30_000 } = options;
    this.#link = link;
    this.#options = { send, target, onTrouble, maxEntries, maxBytes, lanes, lingerMs, leaseMs, sendTimeoutMs };
    const isAppending = (): boolean => link.isAppending;
    this.#pace = new Pace({ lingerMs, standBackMs, manyWaiting, isAppending }, () => this.#work());
    this.#backoff = new Backoff(options.retryMs ?? { first: 250, most: 30_000 });
    this.#poll = setInterval(() => this.#wakeIn(0), pollMs).unref();
    this.#renewal = setInterval(() => this.#renew(), leaseMs / 3).unref();
  }

  /** There may be something to upload. */
  wake(): void {
    this.#wakeIn(this.#options.lingerMs);
  }

  /** Entries were stored, and so many wait now. */
  came(waiting: number): void {
    this.#pace.came(waiting);
    this.wake();
  }

  /**
   * Waits until everything is acknowledged, or what is asked for: entries of one plan, up to and with number `seq`.
   * Returns early if nothing but refused entries is left, and at the latest after `timeoutMs`.
   *
   * @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_AUDIT_WRITE` if the file cannot be read any more
   */
  async flush(
    options: { readonly planId?: string; readonly seq?: number; readonly timeoutMs?: number } = {},
  ): Promise<FlushResult> {
    const { planId, seq, timeoutMs = 5000 } = options;
    const deadline = performance.now() + timeoutMs;
    const count = {
      kind: "count",
      target: this.#options.target,
      ...(planId !== undefined && { planId }),
      ...(seq !== undefined && { below: seq + 1 }),
    } as const;
    const calm = this.#pace.hurry();
    const wanted = { planId };
    this.#wanted.add(wanted);
    this.#backoff.hurry();
    try {
      while (true) {
        const progress = this.#progress.promise;
        const left = await this.#link.ask(count);
        const remaining = deadline - performance.now();
        if (left.waiting === 0 || remaining <= 0) return left;
        this.#wakeIn(0);
        // Another process may be at it: it does not tell.
        await settled(progress, Math.min(FLUSH_POLL_MS, remaining));
      }
    } finally {
      this.#wanted.delete(wanted);
      calm();
    }
  }

  /** Flushes, and stops. Batches that are on their way are given up: they will be sent again. */
  async close({ timeoutMs = 5000 }: { readonly timeoutMs?: number } = {}): Promise<FlushResult> {
    try {
      return await this.flush({ timeoutMs });
    } finally {
      this.#ended = true;
      clearInterval(this.#poll);
      clearInterval(this.#renewal);
      this.#pace.end();
      for (const controller of this.#busy.values()) controller.abort();
      while (this.#lanes > 0) await this.#progress.promise;
    }
  }

  #wakeIn(ms: number): void {
    if (!this.#ended) this.#pace.startIn(Math.max(ms, this.#backoff.pauseMs(this.#pace.hurried)));
  }

  #work(): void {
    this.#more = true;
    if (this.#lanes < this.#options.lanes) void this.#runLane();
  }

  /** Takes one plan after another until there is none. A lane that finds one lets another lane look too. */
  async #runLane(): Promise<void> {
    this.#lanes++;
    try {
      while (!this.#ended && this.#backoff.pauseMs(this.#pace.hurried) === 0 && this.#pace.goesOn()) {
        this.#more = false;
        const batch = await this.#take();
        if (batch) {
          if (this.#lanes < this.#options.lanes) void this.#runLane();
          await this.#upload(batch);
        } else if (!this.#more) break;
      }
    } catch (error) {
      // The outbox itself does not answer: appends fail too, and say so.
      this.#tell({ error, refused: false });
    } finally {
      this.#lanes--;
      // Only an end is waited for: a flush that is told of a look that found nothing would look again at once.
      if (this.#ended) this.#announce();
      const again = this.#backoff.nextMs(this.#pace.hurried);
      if (again !== undefined) this.#wakeIn(again);
    }
  }

  async #take(): Promise<TakenBatch | undefined> {
    const { target, maxEntries, maxBytes, leaseMs } = this.#options;
    const except = [...this.#busy.keys(), ...this.#backoff.waitingPlans(this.#pace.hurried)];
    const limit = Math.min(maxEntries, ...this.#smaller.values());
    const size = { maxEntries: limit, maxBytes };
    const first = [...this.#wanted].flatMap(({ planId }) => planId ?? []);
    const batch = await this.#link.ask({ kind: "take", holder: this.#holder, leaseMs, target, first, except, ...size });
    if (batch) this.#busy.set(batch.planId, new AbortController());
    return batch;
  }

  async #upload(batch: TakenBatch): Promise<void> {
    const { planId, head } = batch;
    const { owner } = this.#holder;
    const seq = batch.from + batch.bodies.length;
    try {
      const receipt = await this.#send(batch);
      if (typeof receipt !== "string") throw new UploadError("send() gave no receipt");
      await this.#link.ask({ kind: "acknowledge", planId, owner, seq, head, receipt });
      this.#pace.went(batch.bodies.length);
      this.#backoff.succeeded(planId);
      this.#smaller.delete(planId);
    } catch (error) {
      await this.#fail(batch, error);
    } finally {
      this.#busy.delete(planId);
      this.#announce();
    }
  }

  /** A `send` that does not listen to its signal is left behind. */
  async #send(batch: TakenBatch): Promise<string> {
    const ended = this.#busy.get(batch.planId)?.signal as AbortSignal;
    const signal = AbortSignal.any([ended, AbortSignal.timeout(this.#options.sendTimeoutMs)]);
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(new UploadError("The upload took too long, or was given up"));
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([this.#options.send(toBatch(batch), { signal }), aborted.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async #fail({ planId, bodies }: TakenBatch, error: unknown): Promise<void> {
    const { owner } = this.#holder;
    const status = error instanceof UploadError ? error.status : undefined;
    if (status === 413 && bodies.length > 1) {
      this.#smaller.set(planId, Math.ceil(bodies.length / 2));
      await this.#link.ask({ kind: "release", planId, owner });
      return;
    }
    if (isForGood(status)) {
      this.#smaller.delete(planId);
      this.#backoff.forget(planId);
      const reason = `${status}: ${(error as Error).message}`;
      await this.#link.ask({ kind: "release", planId, owner, refused: reason });
      this.#tell({ planId, error, refused: true });
      return;
    }
    const retryAfterMs = error instanceof UploadError ? error.retryAfterMs : undefined;
    const retryInMs = this.#backoff.failed(planId, retryAfterMs);
    if (!this.#ended) this.#tell({ planId, error, refused: false, retryInMs });
    await this.#link.ask({ kind: "release", planId, owner });
  }

  #renew(): void {
    if (this.#busy.size === 0) return;
    const { leaseMs } = this.#options;
    const renewal = { kind: "renew", planIds: [...this.#busy.keys()], owner: this.#holder.owner, leaseMs } as const;
    // Without it the lease runs out, and somebody sends the batch again.
    this.#link.ask(renewal).catch(() => {});
  }

  #announce(): void {
    this.#progress.resolve();
    this.#progress = Promise.withResolvers<void>();
  }

  #tell(trouble: UploadTrouble): void {
    try {
      this.#options.onTrouble?.(trouble);
    } catch {
      // What a listener throws is the listener's.
    }
  }
}

/** Waits for a promise, or for so long; the process stays alive. */
async function settled(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
