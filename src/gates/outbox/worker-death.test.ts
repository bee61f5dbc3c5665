import type { Worker } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import { anOutbox, Chain } from "../../../test/fixtures/outbox-files.ts";
import type { Outbox } from "./outbox.ts";

// A thread starts for each outbox: on a busy machine that takes as long as it takes.
vi.setConfig({ testTimeout: 600_000 });

/** An outbox, and its thread. */
async function anOutboxWithWorker(syncDelayMs = 0): Promise<{ outbox: Outbox & { path: string }; worker: Worker }> {
  const started = Promise.withResolvers<Worker>();
  process.once("worker", started.resolve);
  const outbox = await anOutbox({}, { syncDelayMs });
  return { outbox, worker: await started.promise };
}

test("a worker that dies fails what waits for it and everything later", async () => {
  // Long enough that nothing is answered before the end.
  const { outbox, worker } = await anOutboxWithWorker(200);
  const [first, second] = [new Chain("plan-1"), new Chain("plan-2")];
  const waiting = [outbox.append(first.decisions(1)), outbox.append(second.decisions(1)), outbox.entries("plan-1")];
  const results = Promise.allSettled(waiting);
  await worker.terminate();
  for (const result of await results) {
    expect(result).toMatchObject({ status: "rejected", reason: { code: "ERR_AUDIT_WRITE" } });
  }
  await expect(outbox.append(new Chain("plan-3").decisions(1))).rejects.toThrow("worker thread has ended");
  await outbox.close();
});

test("a worker that fails does so too", async () => {
  const { outbox, worker } = await anOutboxWithWorker();
  const waiting = expect(outbox.append(new Chain("plan-1").decisions(1))).rejects.toMatchObject({
    code: "ERR_AUDIT_WRITE",
  });
  worker.emit("error", new Error("out of memory"));
  await waiting;
  await expect(outbox.append(new Chain("plan-1").decisions(1))).rejects.toMatchObject({
    code: "ERR_AUDIT_WRITE",
    cause: expect.objectContaining({ message: "out of memory" }),
  });
  await worker.terminate();
});
