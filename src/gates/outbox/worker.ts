import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type FromWorker, isAppend, type Request, sizeOf, type WorkerSetup } from "./messages.ts";
import { Store } from "./store.ts";

/** The thread that owns the outbox file: whatever has come in by the time it looks is one transaction. */

const MAX_GROUP_BYTES = 32 * 1024 * 1024;

const port = parentPort;
if (!port) throw new Error("The outbox's worker is started by openOutbox");
const say = (message: FromWorker): void => port.postMessage(message);

const store = openStore();
if (store) {
  say({ opened: true });
  port.on("message", (first: readonly Request[]) => {
    const group = takeGroup(first);
    say(store.run(group));
    store.checkpoint();
    if (!group.some((request) => !isAppend(request) && request.kind === "close")) return;
    store.close();
    port.close();
  });
}

function openStore(): Store | undefined {
  try {
    return new Store(workerData as WorkerSetup);
  } catch (error) {
    say({ opened: false, message: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

function takeGroup(first: readonly Request[]): Request[] {
  const group = [...first];
  let bytes = sizeOfAll(first);
  while (bytes < MAX_GROUP_BYTES) {
    const more = port && (receiveMessageOnPort(port)?.message as readonly Request[] | undefined);
    if (!more) break;
    group.push(...more);
    bytes += sizeOfAll(more);
  }
  return group;
}

function sizeOfAll(requests: readonly Request[]): number {
  let size = 0;
  for (const request of requests) if (isAppend(request)) size += sizeOf(request);
  return size;
}
