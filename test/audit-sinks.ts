import type { AuditEntry } from "../src/core/index.ts";
import { type AuditSink, MemoryAuditSink } from "../src/gates/audit-sink.ts";

/** Takes some turns of the event loop to store what it is given. */
export class SlowAuditSink extends MemoryAuditSink {
  override async append(entries: readonly AuditEntry[]): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    super.append(entries);
  }
}

/** Fails as it is told to, once or until it is told to work again. */
export class FailingAuditSink extends MemoryAuditSink {
  /** What the next writes do, instead of storing anything. */
  fail: (() => void | Promise<void>) | undefined;
  closed = 0;

  override append(entries: readonly AuditEntry[]): void | Promise<void> {
    if (this.fail) return this.fail();
    super.append(entries);
  }

  close(): void {
    this.closed++;
  }
}

/** Stores what it is given when it is told to, batch by batch. */
export class HeldAuditSink implements AuditSink {
  readonly stored: AuditEntry[] = [];
  readonly waiting: { readonly entries: readonly AuditEntry[]; readonly finish: (error?: Error) => void }[] = [];

  append(entries: readonly AuditEntry[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (error?: Error): void => {
        this.waiting.shift();
        if (error) {
          reject(error);
          return;
        }
        this.stored.push(...entries);
        resolve();
      };
      this.waiting.push({ entries, finish });
    });
  }

  /** Ends the write that waits, and lets everybody go on who waited for it. */
  async finish(error?: Error): Promise<void> {
    await settle();
    this.waiting[0]?.finish(error);
    await settle();
  }
}

/** Lets everything happen that does not wait for something else. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
