import { setTimeout as wait } from "node:timers/promises";
import type { Client, ClientConfig } from "pg";
import { parseSignal, printSignal } from "./signal-text.ts";
import { type SignalListener, SignalListeners, type Signals } from "./signals.ts";

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5000;

export interface PostgresSignalsOptions {
  readonly Client: new (config: ClientConfig) => Client;
  readonly config: ClientConfig;
  /** Of PostgreSQL: one for each store, so that stores in other schemas are not woken. */
  readonly channel: string;
  /** Sends over the pool. */
  readonly send: (text: string) => Promise<void>;
}

/**
 * Signals between all instances, with LISTEN on a connection of its own. When that breaks it is made again, with growing
 * pauses, and then all listeners are told to look: what came meanwhile is lost.
 */
export class PostgresSignals implements Signals {
  readonly #listeners = new SignalListeners();
  readonly #options: PostgresSignalsOptions;
  readonly #closing = new AbortController();
  #client: Client | undefined;

  private constructor(options: PostgresSignalsOptions) {
    this.#options = options;
  }

  /** Resolves when it listens. */
  static async open(options: PostgresSignalsOptions): Promise<PostgresSignals> {
    const signals = new PostgresSignals(options);
    await signals.#connect();
    return signals;
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.#options.send(printSignal(channel, payload));
  }

  listen(channel: string, listener: SignalListener): () => void {
    return this.#listeners.add(channel, listener);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = new this.#options.Client(this.#options.config);
    client.on("error", () => {});
    client.on("notification", ({ payload }) => {
      const signal = parseSignal(payload);
      if (signal) this.#listeners.tell(signal.channel, signal.payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#options.channel}"`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    client.once("end", () => void this.#reconnect());
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = MIN_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        await wait(pauseMs * (0.5 + Math.random() / 2), undefined, { signal, ref: false });
        await this.#connect();
        // It may have been closed while it connected.
        if (signal.aborted) await this.#client?.end();
        else this.#listeners.tellAllToLook();
        return;
      } catch {
        // The next round, or the end of the loop if it was closed.
      }
    }
  }
}
