import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import type { AuditEntry } from "intentlock/core";

/** The floor: entries as lines of a file, and one `fdatasync` for all that wait. No chain, no table, no thread. */
export class BareLog {
  readonly #file: number;
  #waiting: { readonly line: string; readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  #syncing = false;

  constructor(path: string) {
    this.#file = openSync(path, "a", 0o600);
  }

  append(entry: AuditEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: `${JSON.stringify(entry)}\n`, resolve, reject });
      if (this.#syncing) return;
      this.#syncing = true;
      // After all that come in this turn, as the outbox does.
      process.nextTick(() => this.#sync());
    });
  }

  close(): void {
    closeSync(this.#file);
  }

  #sync(): void {
    const group = this.#waiting;
    this.#waiting = [];
    writeSync(this.#file, group.map(({ line }) => line).join(""));
    fdatasync(this.#file, (error) => {
      for (const { resolve, reject } of group) error ? reject(error) : resolve();
      // Who was answered comes again first.
      process.nextTick(() => {
        this.#syncing = this.#waiting.length > 0;
        if (this.#syncing) this.#sync();
      });
    });
  }
}
