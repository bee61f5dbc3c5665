import { hostname } from "node:os";
import { describe, expect, test, vi } from "vitest";
import { KEY } from "../../../test/builders.ts";
import {
  anOutbox,
  anOutcome,
  Chain,
  closed,
  DEAD_PID,
  EntryServer,
  QUICK,
  withFile,
} from "../../../test/fixtures/outbox-files.ts";
import { verifyChain } from "../../core/index.ts";
import type { Outbox } from "./outbox.ts";
import { type UploadBatch, UploadError } from "./upload-batch.ts";
import type { UploadTrouble } from "./uploader.ts";

// A thread starts for each outbox: on a busy machine that takes as long as it takes.
vi.setConfig({ testTimeout: 600_000 });

const PATIENT = { timeoutMs: 600_000 } as const;

/** An outbox with a plan that is uploaded, and so many decisions in it. */
async function aPlan(outbox: Outbox, planId: string, decisions = 3): Promise<Chain> {
  const chain = new Chain(planId);
  await outbox.begin({ planId, upload: true, clientKey: KEY.privateKey });
  await outbox.append(chain.decisions(decisions));
  return chain;
}

function lease(path: string, { host = hostname(), pid = process.pid, forMs = 60_000 } = {}): void {
  withFile(path, (file) =>
    file
      .prepare("UPDATE plans SET lease_owner = 'somebody', lease_host = ?, lease_pid = ?, lease_until = ?")
      .run(host, pid, Date.now() + forMs),
  );
}

describe("an uploader", () => {
  test("sends a plan's entries in order, with what is needed to sign them, and keeps the receipt", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    const batches: UploadBatch[] = [];
    const send = async (batch: UploadBatch): Promise<string> => {
      batches.push(batch);
      return server.take(batch);
    };
    const chain = await aPlan(outbox, "plan-1", 5);
    const uploader = outbox.startUpload({ ...QUICK, send, maxEntries: 2 });
    expect(await uploader.flush(PATIENT)).toEqual({ waiting: 0, refused: 0 });
    expect(server.batches).toEqual(["plan-1:0-1", "plan-1:2-3", "plan-1:4-4"]);
    expect(verifyChain(server.entries("plan-1"), "plan-1").head).toEqual(chain.head);
    expect(batches[0]?.from).toEqual({ planId: "plan-1", seq: 0, prev: null });
    expect(batches.at(-1)).toMatchObject({ clientKey: KEY.privateKey, to: chain.head });
    expect(batches[1]?.from).toEqual(batches[0]?.to);
    expect(await outbox.plan("plan-1")).toMatchObject({ uploaded: 5, receipt: "receipt-5" });
    expect(server.faults).toEqual([]);
  });

  test("sends what is appended later, without being asked", async () => {
    const outbox = await anOutbox();
    const arrived = Promise.withResolvers<void>();
    const send = async (): Promise<string> => {
      arrived.resolve();
      return "receipt";
    };
    outbox.startUpload({ ...QUICK, pollMs: 60_000, send });
    await aPlan(outbox, "plan-1");
    await arrived.promise;
  });

  test("stands back while entries keep coming, and not when somebody waits: then that plan comes first", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    const slow = { ...QUICK, lingerMs: 600_000, standBackMs: 600_000, pollMs: 600_000 };
    const uploader = outbox.startUpload({ ...slow, send: server.send, lanes: 1 });
    for (const planId of ["plan-1", "plan-2", "plan-3"]) await aPlan(outbox, planId);
    expect(server.batches).toEqual([]);
    expect(await uploader.flush({ ...PATIENT, planId: "plan-3", seq: 2 })).toEqual({ waiting: 0, refused: 0 });
    expect(server.batches[0]).toBe("plan-3:0-2");
    await uploader.flush(PATIENT);
    expect(server.batches).toEqual(["plan-3:0-2", "plan-1:0-2", "plan-2:0-2"]);
  });

  test("leaves alone what is local, and what goes somewhere else", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    await outbox.append(new Chain("plan-1").decisions(1));
    await outbox.begin({ planId: "plan-2", upload: true, target: "other" });
    await outbox.append(new Chain("plan-2").decisions(1));
    await outbox.begin({ planId: "plan-3", upload: true, target: "mine" });
    await outbox.append(new Chain("plan-3").decisions(1));
    const uploader = outbox.startUpload({ ...QUICK, send: server.send, target: "mine" });
    expect(await uploader.flush(PATIENT)).toEqual({ waiting: 0, refused: 0 });
    expect(server.batches).toEqual(["plan-3:0-0"]);
    expect((await outbox.plans()).map(({ planId, uploaded }) => [planId, uploaded])).toEqual([
      ["plan-1", 0],
      ["plan-2", 0],
      ["plan-3", 1],
    ]);
  });

  test("keeps batches small, but sends any entry", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    await aPlan(outbox, "plan-1", 3);
    const uploader = outbox.startUpload({ ...QUICK, send: server.send, maxBytes: 10 });
    await uploader.flush(PATIENT);
    expect(server.batches).toEqual(["plan-1:0-0", "plan-1:1-1", "plan-1:2-2"]);
  });

  test("frees the backlog", async () => {
    const outbox = await anOutbox({ maxBacklog: 3 });
    const server = new EntryServer();
    const chain = await aPlan(outbox, "plan-1", 3);
    const before = chain.head;
    await expect(outbox.append(chain.decisions(1))).rejects.toMatchObject({ code: "ERR_AUDIT_BACKLOG" });
    await outbox.startUpload({ ...QUICK, send: server.send }).flush(PATIENT);
    await outbox.append(new Chain("plan-1", before).decisions(3));
  });

  test("removes the entries of a plan that is closed, and goes on if something comes after", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    const chain = await aPlan(outbox, "plan-1");
    const uploader = outbox.startUpload({ ...QUICK, send: server.send });
    await uploader.flush(PATIENT);
    expect(await outbox.entries("plan-1")).toHaveLength(3);
    await outbox.append(chain.next(closed));
    await uploader.flush(PATIENT);
    expect(await outbox.entries("plan-1")).toEqual([]);
    expect(await outbox.plans()).toEqual([]);
    const { head } = chain;
    expect(await outbox.plan("plan-1")).toMatchObject({ uploaded: 4, closed: true, receipt: "receipt-4", head });
    await expect(outbox.append(new Chain("plan-1").decisions(1))).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    await outbox.append(chain.next(anOutcome));
    await uploader.flush(PATIENT);
    expect(verifyChain(server.entries("plan-1"), "plan-1").head).toEqual(chain.head);
    expect(await outbox.entries("plan-1")).toEqual([]);
    expect(server.faults).toEqual([]);
  });

  test("keeps the entries of a closed plan for as long as it is told to", async () => {
    const outbox = await anOutbox({ retentionMs: 60_000 });
    const chain = await aPlan(outbox, "plan-1");
    await outbox.append(chain.next(closed));
    await outbox.startUpload({ ...QUICK, send: new EntryServer().send }).flush(PATIENT);
    expect(await outbox.entries("plan-1")).toHaveLength(4);
    await outbox.close();
    withFile(outbox.path, (file) => file.exec("UPDATE plans SET done_at = done_at - 60000"));
    expect(await (await anOutbox({ path: outbox.path, retentionMs: 60_000 })).entries("plan-1")).toEqual([]);
  });

  test("leaves a file that does not grow with what was uploaded", async () => {
    const outbox = await anOutbox();
    const uploader = outbox.startUpload({ ...QUICK, send: async () => "receipt" });
    const pages: number[] = [];
    for (let round = 0; round < 6; round++) {
      const chain = await aPlan(outbox, `plan-${round}`, 400);
      await outbox.append(chain.next(closed));
      await uploader.flush(PATIENT);
      pages.push(withFile(outbox.path, (file) => Number(file.prepare("PRAGMA page_count").get()?.["page_count"])));
    }
    expect(pages.at(-1)).toBeLessThan((pages[0] as number) + 10);
  });
});

describe("trouble", () => {
  test.each([
    ["a lost connection", () => new TypeError("fetch failed")],
    ["no answer", () => new UploadError("timeout")],
    ["500", () => new UploadError("oh", { status: 500 })],
    ["401", () => new UploadError("no such key", { status: 401 })],
    ["408", () => new UploadError("too slow", { status: 408 })],
    ["429", () => new UploadError("too many", { status: 429, retryAfterMs: 2 })],
  ])("that passes, like %s: the batch is sent again", async (_name, makeError) => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    const told: UploadTrouble[] = [];
    let failures = 3;
    server.fail = () => {
      if (failures-- > 0) throw makeError();
    };
    const chain = await aPlan(outbox, "plan-1");
    const onTrouble = (trouble: UploadTrouble): void => {
      told.push(trouble);
      throw new Error("a listener's own");
    };
    const uploader = outbox.startUpload({ ...QUICK, send: server.send, onTrouble });
    expect(await uploader.flush(PATIENT)).toEqual({ waiting: 0, refused: 0 });
    expect(verifyChain(server.entries("plan-1"), "plan-1").head).toEqual(chain.head);
    expect(told).toHaveLength(3);
    expect(told[0]).toMatchObject({ planId: "plan-1", refused: false, retryInMs: expect.any(Number) });
  });

  test.each([400, 403, 404, 409, 410, 413, 422])(
    "that stays (%i) parks the plan, and the others go on",
    async (status) => {
      const outbox = await anOutbox({ maxBacklog: 10 });
      const server = new EntryServer();
      const told: UploadTrouble[] = [];
      server.fail = ({ planId }) => {
        if (planId === "plan-1") throw new UploadError("audit_fork", { status });
      };
      const parked = await aPlan(outbox, "plan-1", 9);
      await aPlan(outbox, "plan-2", 1);
      const uploader = outbox.startUpload({ ...QUICK, send: server.send, onTrouble: (trouble) => told.push(trouble) });
      expect(await uploader.flush(PATIENT)).toEqual({ waiting: 0, refused: 9 });
      expect(await uploader.flush({ planId: "plan-1", seq: 4, ...PATIENT })).toEqual({ waiting: 0, refused: 5 });
      expect(server.batches).toEqual(["plan-2:0-0"]);
      expect(told).toMatchObject([{ planId: "plan-1", refused: true }]);
      expect(await outbox.plan("plan-1")).toMatchObject({ refused: `${status}: audit_fork` });
      // Nothing more is decided under it, its outcomes are kept, and it takes no room from others.
      const before = parked.head;
      await expect(outbox.append(parked.decisions(1))).rejects.toMatchObject({ code: "ERR_AUDIT_BACKLOG" });
      const going = new Chain("plan-1", before);
      await outbox.append(going.next(anOutcome));
      await aPlan(outbox, "plan-3", 9);
      await uploader.flush(PATIENT);
      server.fail = undefined;
      await outbox.unpark("plan-1");
      expect(await uploader.flush(PATIENT)).toEqual({ waiting: 0, refused: 0 });
      expect(verifyChain(server.entries("plan-1"), "plan-1").head).toEqual(going.head);
      await outbox.append(going.decisions(1));
    },
  );

  test("with the size of a batch makes it smaller", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    server.fail = ({ entries }) => {
      if (entries.length > 2) throw new UploadError("payload_too_large", { status: 413 });
    };
    await aPlan(outbox, "plan-1", 7);
    expect(await outbox.startUpload({ ...QUICK, send: server.send }).flush(PATIENT)).toEqual({
      waiting: 0,
      refused: 0,
    });
    expect(server.entries("plan-1")).toHaveLength(7);
  });

  test("of one plan does not hold up the others", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    server.fail = ({ planId }) => {
      if (planId === "plan-0") throw new UploadError("oh", { status: 500 });
    };
    for (let plan = 0; plan < 10; plan++) await aPlan(outbox, `plan-${plan}`);
    const uploader = outbox.startUpload({ ...QUICK, send: server.send, lanes: 1 });
    for (let plan = 1; plan < 10; plan++) await uploader.flush({ planId: `plan-${plan}`, ...PATIENT });
    expect(server.stored.size).toBe(9);
    server.fail = undefined;
    await uploader.flush(PATIENT);
    expect(server.stored.size).toBe(10);
  });

  test("with a server that stores and does not answer: what comes again is the same", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    let lost = 2;
    const send = async (batch: UploadBatch): Promise<string> => {
      const receipt = server.take(batch);
      if (lost-- > 0) throw new TypeError("fetch failed");
      return receipt;
    };
    await aPlan(outbox, "plan-1");
    await outbox.startUpload({ ...QUICK, send }).flush(PATIENT);
    expect(server.batches).toEqual(["plan-1:0-2", "plan-1:0-2", "plan-1:0-2"]);
    expect(server.faults).toEqual([]);
  });

  test("with a send that gives no receipt, or never ends, is a failure", async () => {
    const outbox = await anOutbox();
    const told: UploadTrouble[] = [];
    const answers = [async () => undefined as never, () => new Promise<never>(() => {}), async () => "receipt"];
    const send = (): Promise<string> => (answers.shift() ?? (async () => "more"))();
    await aPlan(outbox, "plan-1");
    const options = { ...QUICK, send, sendTimeoutMs: 5, onTrouble: (trouble: UploadTrouble) => told.push(trouble) };
    await outbox.startUpload(options).flush(PATIENT);
    expect(told.map(({ error }) => (error as Error).message)).toEqual([
      expect.stringContaining("no receipt"),
      expect.stringContaining("too long"),
    ]);
    expect(await outbox.plan("plan-1")).toMatchObject({ receipt: "receipt" });
  });
});

describe("flush", () => {
  test("gives up when its time is over, and says what waits", async () => {
    const outbox = await anOutbox();
    await aPlan(outbox, "plan-1");
    const send = async (): Promise<string> => {
      throw new TypeError("fetch failed");
    };
    const uploader = outbox.startUpload({ ...QUICK, send });
    expect(await uploader.flush({ timeoutMs: 1 })).toEqual({ waiting: 3, refused: 0 });
    expect(await uploader.flush({ planId: "plan-1", seq: 1, timeoutMs: 1 })).toEqual({ waiting: 2, refused: 0 });
  });

  test("of a plan up to a number does not wait for more", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    server.fail = ({ entries }) => {
      if ((entries[0]?.seq ?? 0) > 1) throw new TypeError("fetch failed");
    };
    await aPlan(outbox, "plan-1", 4);
    const uploader = outbox.startUpload({ ...QUICK, send: server.send, maxEntries: 2 });
    expect(await uploader.flush({ planId: "plan-1", seq: 1, ...PATIENT })).toEqual({ waiting: 0, refused: 0 });
    expect(await uploader.flush({ planId: "plan-1", seq: 3, timeoutMs: 1 })).toEqual({ waiting: 2, refused: 0 });
  });

  test("of a plan that there is not is an error, of a local one is nothing", async () => {
    const outbox = await anOutbox();
    const uploader = outbox.startUpload({ ...QUICK, send: async () => "receipt" });
    await expect(uploader.flush({ planId: "plan-1" })).rejects.toMatchObject({ code: "ERR_UNKNOWN_PLAN" });
    await outbox.append(new Chain("plan-1").decisions(1));
    expect(await uploader.flush({ planId: "plan-1" })).toEqual({ waiting: 0, refused: 0 });
  });

  test("does not wait for a pause to end", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    const failed = Promise.withResolvers<void>();
    server.fail = () => {
      throw new TypeError("fetch failed");
    };
    await aPlan(outbox, "plan-1");
    const retryMs = { first: 3_600_000, most: 3_600_000 };
    const uploader = outbox.startUpload({ ...QUICK, retryMs, send: server.send, onTrouble: () => failed.resolve() });
    await failed.promise;
    server.fail = undefined;
    expect(await uploader.flush(PATIENT)).toEqual({ waiting: 0, refused: 0 });
  });
});

describe("close", () => {
  test("uploads what waits", async () => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    await aPlan(outbox, "plan-1");
    outbox.startUpload({ ...QUICK, lingerMs: 3_600_000, pollMs: 3_600_000, send: server.send });
    await outbox.close(PATIENT);
    expect(server.entries("plan-1")).toHaveLength(3);
  });

  test("gives up a batch that does not end, and the next who comes sends it", async () => {
    const outbox = await anOutbox();
    const started = Promise.withResolvers<AbortSignal>();
    await aPlan(outbox, "plan-1");
    const send = (_batch: UploadBatch, { signal }: { signal: AbortSignal }): Promise<string> => {
      started.resolve(signal);
      return new Promise(() => {});
    };
    outbox.startUpload({ ...QUICK, send });
    const signal = await started.promise;
    await outbox.close({ timeoutMs: 1 });
    expect(signal.aborted).toBe(true);
    const server = new EntryServer();
    const next = await anOutbox({ path: outbox.path });
    await next.startUpload({ ...QUICK, send: server.send }).flush(PATIENT);
    expect(server.entries("plan-1")).toHaveLength(3);
  });
});

describe("several uploaders on one file", () => {
  test("share the plans, one at a time each", async () => {
    const outboxes = [await anOutbox()];
    outboxes.push(await anOutbox({ path: (outboxes[0] as { path: string }).path }));
    const server = new EntryServer();
    const busy = new Set<string>();
    const twice: string[] = [];
    const send = async (batch: UploadBatch): Promise<string> => {
      if (busy.has(batch.planId)) twice.push(batch.planId);
      busy.add(batch.planId);
      await new Promise((resolve) => setImmediate(resolve));
      busy.delete(batch.planId);
      return server.take(batch);
    };
    const chains = await Promise.all(
      outboxes.flatMap((outbox, n) => [1, 2, 3].map((p) => aPlan(outbox, `plan-${n}-${p}`, 20))),
    );
    const uploaders = outboxes.map((outbox) => outbox.startUpload({ ...QUICK, send, maxEntries: 3 }));
    await Promise.all(uploaders.map(async (uploader) => await uploader.flush({ timeoutMs: 60_000 })));
    for (const { head } of chains) expect(verifyChain(server.entries(head.planId), head.planId).head).toEqual(head);
    expect([twice, server.faults]).toEqual([[], []]);
    expect(server.batches.length).toBe(new Set(server.batches).size);
  });

  test.each([
    ["is held by a process that lives", { pid: process.ppid }, false],
    ["is held on another machine", { host: "elsewhere", pid: DEAD_PID }, false],
    ["was held by a process that is dead", { pid: DEAD_PID }, true],
    ["ran out", { pid: process.ppid, forMs: -1 }, true],
    ["is from before the clock was set back", { pid: process.ppid, forMs: 86_400_000 }, true],
  ])("take a plan or not whose lease %s", async (_name, options, taken) => {
    const outbox = await anOutbox();
    const server = new EntryServer();
    await aPlan(outbox, "plan-1");
    lease(outbox.path, options);
    await aPlan(outbox, "plan-2");
    const uploader = outbox.startUpload({ ...QUICK, send: server.send });
    await uploader.flush({ planId: "plan-2", ...PATIENT });
    expect(await uploader.flush({ planId: "plan-1", timeoutMs: taken ? 60_000 : 1 })).toEqual({
      waiting: taken ? 0 : 3,
      refused: 0,
    });
  });

  test("do not take a plan whose batch takes longer than a lease", async () => {
    const outbox = await anOutbox();
    const other = await anOutbox({ path: outbox.path });
    const server = new EntryServer();
    const slow = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    await aPlan(outbox, "plan-1");
    const send = async (batch: UploadBatch): Promise<string> => {
      started.resolve();
      await slow.promise;
      return server.take(batch);
    };
    outbox.startUpload({ ...QUICK, send, leaseMs: 300 });
    await started.promise;
    const until = (): number =>
      withFile(outbox.path, (file) => Number(file.prepare("SELECT lease_until FROM plans").get()?.["lease_until"]));
    const first = until();
    other.startUpload({ ...QUICK, send: server.send });
    await vi.waitUntil(() => until() > first + 300, { timeout: 60_000 });
    expect(server.batches).toEqual([]);
    slow.resolve();
    await other.startUpload({ ...QUICK, send: server.send }).flush(PATIENT);
    expect(server.batches).toEqual(["plan-1:0-2"]);
  });
});
