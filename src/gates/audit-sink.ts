import type { AuditEntry, ChainHead } from "../core/index.ts";

/** Where audit entries go. */
export interface AuditSink {
  /**
   * Stores entries of one plan, all or none, before it returns. A sink that cannot throws, and the calls that the
   * entries are about do not run; the same numbers come again with the next attempt.
   *
   * @param head the end of the plan's chain with these entries, for sinks that check it
   * @param texts the JSON text of each entry, for sinks that store it
   */
  append(entries: readonly AuditEntry[], head?: ChainHead, texts?: readonly string[]): void | Promise<void>;
  close?(): void | Promise<void>;
}

/** Keeps entries in memory, for tests and for trying things out. They are gone with the process. */
export class MemoryAuditSink implements AuditSink {
  readonly #entries: AuditEntry[] = [];

  append(entries: readonly AuditEntry[]): void {
    this.#entries.push(...entries);
  }

  /** All entries so far, in the order in which they came. */
  get entries(): readonly AuditEntry[] {
    return this.#entries;
  }
}
