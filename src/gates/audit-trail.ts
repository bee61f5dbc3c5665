import { printEntry } from "../core/audit.ts";
import {
  type AuditEntry,
  type AuditEvent,
  type ChainHead,
  chainEntry,
  type Sha256,
  startChain,
} from "../core/index.ts";
import type { AuditSink } from "./audit-sink.ts";

interface Waiting {
  readonly event: AuditEvent;
  readonly argsText: string | undefined;
  readonly resolve: (seq: number) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The chain of one plan's entries on their way to a sink. Entries that come while others are being written wait and are
 * written together, so that a slow sink is asked once for many. A batch that fails leaves the chain as it was; an event
 * that is not JSON fails alone.
 */
export class AuditTrail {
  readonly #sink: AuditSink | undefined;
  readonly #clock: () => number;
  readonly #hash: Sha256;
  #head: ChainHead;
  #waiting: Waiting[] = [];
  #writing = false;

  /**
   * @param sink without one, entries are numbered and forgotten
   * @param options.head where the chain goes on; from its beginning unless told
   */
  constructor(
    planId: string,
    options: { sink: AuditSink | undefined; clock: () => number; hash: Sha256; head?: ChainHead | undefined },
  ) {
    this.#head = options.head ?? startChain(planId);
    this.#sink = options.sink;
    this.#clock = options.clock;
    this.#hash = options.hash;
  }

  /**
   * Writes one event and gives its number. Rejects if it was not stored.
   *
   * @param argsText the canonical JSON of the arguments that are in it, from whoever has it
   */
  write(event: AuditEvent, argsText?: string): number | Promise<number> {
    if (!this.#sink) {
      const { seq } = this.#head;
      this.#head = { ...this.#head, seq: seq + 1 };
      return seq;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, argsText, resolve, reject });
      if (!this.#writing) this.#writeNext();
    });
  }

  /** No async functions: there is one such write for each call, and each of them would keep its own state. */
  #writeNext(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    const chained: Waiting[] = [];
    const stored = this.#chain(batch, chained);
    this.#writing = stored !== undefined;
    stored?.then(
      (head) => {
        const { seq } = this.#head;
        this.#head = head;
        for (const [index, { resolve }] of chained.entries()) resolve(seq + index);
        this.#goOn();
      },
      (error: unknown) => {
        for (const { reject } of chained) reject(error);
        this.#goOn();
      },
    );
  }

  /** Hands a batch to the sink. @returns the end of the chain, once it is stored; undefined if nothing of it is JSON */
  #chain(batch: readonly Waiting[], chained: Waiting[]): Promise<ChainHead> | undefined {
    const entries: AuditEntry[] = [];
    const texts: string[] = [];
    let head = this.#head;
    for (const waiting of batch) {
      try {
        const next = chainEntry(head, waiting.event, { at: this.#clock(), hash: this.#hash });
        texts.push(printEntry(next, waiting.argsText));
        entries.push(next.entry);
        chained.push(waiting);
        head = next.head;
      } catch (error) {
        waiting.reject(error);
      }
    }
    if (entries.length === 0) return undefined;
    try {
      return Promise.resolve(this.#sink?.append(entries, head, texts)).then(() => head);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #goOn(): void {
    this.#writing = false;
    if (this.#waiting.length > 0) this.#writeNext();
  }
}
