import type { DatabaseSync } from "node:sqlite";
import { printSignal } from "./signal-text.ts";
import { type SignalListener, SignalListeners, type Signals } from "./signals.ts";

/** How often a process that listens looks whether another one has written to the file. */
const LOOK_EVERY_MS = 250;

/** Signals in one process. Of what other processes write to the file, listeners are told that there was something. */
export class SqliteSignals implements Signals {
  readonly #listeners = new SignalListeners();
  readonly #database: DatabaseSync;
  #timer: NodeJS.Timeout | undefined;
  #version: unknown;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async notify(channel: string, payload: string): Promise<void> {
    printSignal(channel, payload);
    // Not from inside of the caller: on PostgreSQL it comes from the network, too.
    setImmediate(() => this.#listeners.tell(channel, payload));
  }

  listen(channel: string, listener: SignalListener): () => void {
    if (!this.#timer) {
      this.#version = this.#readVersion();
      this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    }
    const stop = this.#listeners.add(channel, listener);
    return () => {
      stop();
      if (this.#listeners.isEmpty) this.close();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const version = this.#readVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.#listeners.tellAllToLook();
  }

  /** A number that changes when another connection has written. Undefined if it cannot be read just now. */
  #readVersion(): unknown {
    try {
      return this.#database.prepare("PRAGMA data_version").get()?.["data_version"];
    } catch {
      return undefined;
    }
  }
}
