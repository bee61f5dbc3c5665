/**
 * Runs the outbox's worker in the thread of the tests: Stryker neither breaks the code of another thread nor sees which
 * tests reach it. What only a thread of its own can do, such as dying alone, is not for here.
 */
import { EventEmitter } from "node:events";
import type { MessagePort, WorkerOptions } from "node:worker_threads";
import { vi } from "vitest";

interface Started {
  readonly parentPort: MessagePort;
  readonly workerData: unknown;
}

/** Whoever is being loaded: the code of a worker asks for these while it is. */
let starting: Started | undefined;
/** One after the other. */
let started: Promise<unknown> = Promise.resolve();
let count = 0;

class WorkerInProcess extends EventEmitter {
  readonly #port: MessagePort;

  constructor(url: URL, { workerData }: WorkerOptions = {}) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    process.nextTick(() => (process as EventEmitter).emit("worker", this));
    port1.on("message", (message: unknown) => this.emit("message", message));
    port1.on("close", () => this.emit("exit", 0));
    const instance = `${url.pathname}?instance=${count++}`;
    started = started.then(async () => {
      starting = { parentPort: port2, workerData: structuredClone(workerData) as unknown };
      await import(/* @vite-ignore */ instance).catch((error: unknown) => {
        this.emit("error", error);
        port2.close();
      });
    });
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message);
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }
}

vi.mock("node:worker_threads", async (importActual) => ({
  ...(await importActual<typeof import("node:worker_threads")>()),
  get Worker() {
    return WorkerInProcess;
  },
  get parentPort() {
    return starting?.parentPort ?? null;
  },
  get workerData() {
    return starting?.workerData;
  },
}));
