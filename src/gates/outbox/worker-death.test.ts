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
  // What it says afterwards is not listened to.
  worker.emit("message", { replies: [true], tookMs: 1, waiting: 1 });
  await expect(outbox.append(new Chain("plan-1").decisions(1))).rejects.toMatchObject({
    code: "ERR_AUDIT_WRITE",
    cause: expect.objectContaining({ message: "out of memory" }),
  });
  await worker.terminate();
});

test("a request that cannot be sent fails what waits with it, and nothing is answered for something else", async () => {
  const { outbox, worker } = await anOutboxWithWorker(50);
  const before = outbox.append(new Chain("plan-1").decisions(1));
  const base = { planId: "plan-2", seq: () => 0, prev: null } as never;
  const results = await Promise.allSettled([
    outbox.begin({ planId: "plan-2", upload: true, base }),
    outbox.append(new Chain("plan-3").decisions(1)),
    before,
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await expect(outbox.append(new Chain("plan-4").decisions(1))).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
  await worker.terminate();
});
