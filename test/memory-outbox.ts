import type { AuditEntry, ChainHead } from "../src/core/index.ts";
import { MemoryAuditSink } from "../src/gates/audit-sink.ts";
import type { Outbox, OutboxPlan, StoredPlan, Uploader, UploadOptions } from "../src/gates/outbox/index.ts";

/** An outbox without a file and without an uploader, which remembers what a gate wanted of it. */
export class MemoryOutbox extends MemoryAuditSink {
  readonly begun: OutboxPlan[] = [];
  readonly uploads: UploadOptions[] = [];
  readonly flushes: Parameters<Uploader["flush"]>[0][] = [];
  /** How long each close was to take. */
  readonly closes: (number | undefined)[] = [];
  /** What the server has not taken after a flush. */
  left = { waiting: 0, refused: 0 };
  readonly #heads = new Map<string, ChainHead>();

  /** As a gate takes it. */
  get outbox(): Outbox {
    return this as unknown as Outbox;
  }

  async begin(plan: OutboxPlan): Promise<void> {
    this.begun.push(plan);
    this.#heads.set(plan.planId, plan.base ?? { planId: plan.planId, seq: 0, prev: null });
  }

  override async append(entries: readonly AuditEntry[], head?: ChainHead): Promise<void> {
    super.append(entries);
    if (head) this.#heads.set(head.planId, head);
  }

  async plan(planId: string): Promise<StoredPlan | undefined> {
    const begun = this.begun.find((plan) => plan.planId === planId);
    const head = this.#heads.get(planId);
    return begun && head && { ...begun, head, uploaded: head.seq, closed: false };
  }

  startUpload(options: UploadOptions): Pick<Uploader, "flush" | "close"> {
    this.uploads.push(options);
    return {
      flush: async (wanted) => {
        this.flushes.push(wanted);
        return this.left;
      },
      close: async ({ timeoutMs } = {}) => {
        this.closes.push(timeoutMs);
        return this.left;
      },
    };
  }

  /** The types of a plan's entries, in their order. */
  typesOf(planId: string): string[] {
    return this.entries.filter((entry) => entry.planId === planId).map(({ event }) => event.type);
  }
}
