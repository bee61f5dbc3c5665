import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Append, FromWorker, Reply, Request, WorkerSetup } from "./messages.ts";
import { WorkerLink } from "./worker-link.ts";

const workers: FakeWorker[] = vi.hoisted(() => []);

/** A thread that answers what the test says. */
class FakeWorker extends EventEmitter {
  readonly url: URL;
  readonly options: object;
  readonly sent: Request[][] = [];
  isKept = true;

  constructor(url: URL, options: object) {
    super();
    this.url = url;
    this.options = options;
    workers.push(this);
  }

  postMessage(requests: Request[]): void {
    structuredClone(requests);
    this.sent.push(requests);
  }

  ref(): void {
    this.isKept = true;
  }

  unref(): void {
    this.isKept = false;
  }

  say(message: FromWorker): void {
    this.emit("message", message);
  }

  answer(replies: readonly Reply[], more: { tookMs?: number; waiting?: number } = {}): void {
    this.say({ replies, tookMs: 0, ...more });
  }
}

vi.mock("node:worker_threads", async (importActual) => ({
  ...(await importActual<object>()),
  get Worker() {
    return FakeWorker;
  },
}));

const SETUP = { path: "/outbox.db" } as WorkerSetup;
const entry = (seq: number): Append => ["plan-1", seq, null, true, false, "digest", "{}"];
const count = { kind: "count", target: "" } as const;
const NONE = { waiting: 0, refused: 0 };
const DIED = "The outbox's worker thread has ended: nothing more can be stored. Open the outbox again";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setImmediate"] }));
afterEach(() => {
  vi.useRealTimers();
  workers.length = 0;
});

async function opened() {
  const opening = WorkerLink.open(SETUP);
  const worker = workers.at(-1) as FakeWorker;
  worker.say({ opened: true });
  return { link: await opening, worker };
}

/** Lets promises go on. */
async function turn(): Promise<void> {
  for (let n = 0; n < 10; n++) await Promise.resolve();
}

/** All that is due in this turn of the event loop, and none of the next ones. */
async function tick(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise<void>((resolve) => process.nextTick(resolve));
}

async function outcomesOf(promises: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).message));
}

describe("a link", () => {
  test("is there once its thread has the file open, and keeps no process alive", async () => {
    const { worker } = await opened();
    expect(worker.url.pathname).toMatch(/worker\.ts$/);
    expect(worker.options).toEqual({
      name: "intentlock-outbox",
      workerData: SETUP,
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    expect(worker.isKept).toBe(false);
  });

  test.each<[string, (worker: FakeWorker) => void, string, unknown]>([
    ["the file cannot be opened", (worker) => worker.say({ opened: false, message: "damaged" }), "damaged", undefined],
    [
      "the thread fails",
      (worker) => worker.emit("error", new Error("out of memory")),
      "The outbox could not be started: out of memory",
      expect.objectContaining({ message: "out of memory" }),
    ],
    [
      "the thread fails with no error",
      (worker) => worker.emit("error", "odd"),
      "The outbox could not be started: odd",
      "odd",
    ],
    [
      "the thread ends",
      (worker) => worker.emit("exit", 3),
      "The outbox could not be started: its thread ended with code 3",
      undefined,
    ],
  ])("is not there if %s", async (_name, happen, message, cause) => {
    const opening = WorkerLink.open(SETUP);
    const refused = expect(opening).rejects.toMatchObject({ code: "ERR_OUTBOX", message });
    happen(workers.at(-1) as FakeWorker);
    await refused;
    expect(((await opening.catch((error: unknown) => error)) as Error).cause).toEqual(cause);
    expect(workers.at(-1)?.isKept).toBe(false);
  });
});

describe("requests", () => {
  test("of one turn travel together, and are answered in their order", async () => {
    const { link, worker } = await opened();
    const asked = [link.append(entry(0)), link.ask(count), link.append(entry(1))];
    expect(worker.sent).toEqual([]);
    await tick();
    expect(worker.sent).toEqual([[entry(0), count, entry(1)]]);
    const failure = { code: "ERR_AUDIT_WRITE", message: "no" } as const;
    worker.answer([true, { value: NONE }, { failure }]);
    expect(await outcomesOf(asked)).toEqual([undefined, NONE, "no"]);
    await expect(asked[2]).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
  });

  test("of the next turn do not wait for the answer to those before", async () => {
    const { link, worker } = await opened();
    const first = link.append(entry(0));
    await tick();
    const second = link.append(entry(1));
    await tick();
    expect(worker.sent).toEqual([[entry(0)], [entry(1)]]);
    worker.answer([true]);
    worker.answer([true]);
    expect(await outcomesOf([first, second])).toEqual([undefined, undefined]);
    await tick();
    expect(worker.sent).toHaveLength(2);
  });

  test("are sent meanwhile where a turn takes longer than the thread took for a group", async () => {
    const { link, worker } = await opened();
    void link.append(entry(0));
    vi.advanceTimersByTime(50);
    void link.append(entry(1));
    expect(worker.sent).toEqual([]);
    vi.advanceTimersByTime(1);
    void link.append(entry(2));
    expect(worker.sent).toEqual([[entry(0), entry(1), entry(2)]]);
    worker.answer([true, true, true], { tookMs: 2 });
    await tick();
    expect(worker.sent).toHaveLength(1);
    void link.append(entry(3));
    vi.advanceTimersByTime(3);
    void link.append(entry(4));
    expect(worker.sent[1]).toEqual([entry(3), entry(4)]);
    void link.append(entry(5));
    vi.advanceTimersByTime(2);
    void link.append(entry(6));
    expect(worker.sent).toHaveLength(2);
  });

  test("keep the process alive as long as somebody waits", async () => {
    const { link, worker } = await opened();
    const first = link.append(entry(0));
    expect(worker.isKept).toBe(true);
    await tick();
    const second = link.append(entry(1));
    await tick();
    worker.answer([true]);
    await first;
    expect(worker.isKept).toBe(true);
    worker.answer([true]);
    await second;
    expect(worker.isKept).toBe(false);
  });

  test("say whether entries are on their way", async () => {
    const { link, worker } = await opened();
    expect(link.isAppending).toBe(false);
    void link.ask(count);
    expect(link.isAppending).toBe(false);
    void link.append(entry(0));
    void link.append(entry(1));
    await tick();
    worker.answer([{ value: NONE }, true]);
    expect(link.isAppending).toBe(true);
    worker.answer([true]);
    expect(link.isAppending).toBe(false);
  });

  test("tell how many entries wait for upload, when there are more", async () => {
    const { link, worker } = await opened();
    worker.answer([], { waiting: 1 });
    const told: number[] = [];
    link.onWaiting = (waiting) => told.push(waiting);
    worker.answer([]);
    worker.answer([], { waiting: 0 });
    worker.answer([], { waiting: 7 });
    expect(told).toEqual([0, 7]);
  });
});

describe("hundreds of answers", () => {
  async function asked(many: number) {
    const { link, worker } = await opened();
    const done: number[] = [];
    for (let seq = 0; seq < many; seq++) void link.append(entry(seq)).then(() => done.push(seq));
    await tick();
    return { link, worker, done };
  }

  test("come a few in a turn of the event loop", async () => {
    const { worker, done } = await asked(150);
    worker.answer(Array.from({ length: 150 }, () => true as const));
    await turn();
    expect(done).toHaveLength(64);
    vi.runOnlyPendingTimers();
    await turn();
    expect(done).toHaveLength(128);
    vi.runOnlyPendingTimers();
    await turn();
    expect(done).toEqual(Array.from({ length: 150 }, (_, seq) => seq));
    expect(worker.isKept).toBe(false);
  });

  test("that come in two groups are one queue", async () => {
    const { worker, done } = await asked(150);
    worker.answer(Array.from({ length: 100 }, () => true as const));
    worker.answer(Array.from({ length: 50 }, () => true as const));
    await turn();
    expect(done).toHaveLength(64);
    vi.runOnlyPendingTimers();
    await turn();
    expect(done).toHaveLength(128);
  });

  test("hold back what is asked meanwhile, so that it shares a group with what their askers ask next", async () => {
    const { link, worker } = await asked(65);
    worker.answer(Array.from({ length: 65 }, () => true as const));
    await turn();
    void link.append(entry(100));
    await tick();
    expect(worker.sent).toHaveLength(1);
    vi.runOnlyPendingTimers();
    await tick();
    expect(worker.sent[1]).toEqual([entry(100)]);
  });

  test("do not hold it back for longer than a group takes", async () => {
    const { link, worker } = await asked(65);
    worker.answer(
      Array.from({ length: 65 }, () => true as const),
      { tookMs: 5 },
    );
    await turn();
    void link.append(entry(100));
    const now = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 6);
    await tick();
    now.mockRestore();
    expect(worker.sent[1]).toEqual([entry(100)]);
  });
});

describe("a thread that is gone", () => {
  test.each<[string, (worker: FakeWorker) => void, unknown]>([
    ["ended", (worker) => worker.emit("exit", 1), undefined],
    ["failed", (worker) => worker.emit("error", new Error("disk")), expect.objectContaining({ message: "disk" })],
    [
      "said what cannot be read",
      (worker) => worker.emit("messageerror", new Error("odd")),
      expect.objectContaining({ message: "odd" }),
    ],
  ])("because it %s: all that waits and comes later is refused", async (_name, happen, cause) => {
    const { link, worker } = await opened();
    const sent = link.append(entry(0));
    await tick();
    const unsent = link.ask(count);
    const refused = Promise.allSettled([sent, unsent]);
    happen(worker);
    const later = link.append(entry(1));
    for (const waiting of [sent, unsent, later]) {
      const error = (await waiting.catch((thrown: unknown) => thrown)) as Error;
      expect(error).toMatchObject({ code: "ERR_AUDIT_WRITE", message: DIED });
      expect(error.cause).toEqual(cause);
    }
    await refused;
    await tick();
    expect(worker.sent).toHaveLength(1);
    expect([link.isAppending, worker.isKept]).toEqual([false, false]);
    // Nothing is known of what it says afterwards.
    let told = false;
    link.onWaiting = () => {
      told = true;
    };
    worker.answer([true], { waiting: 1 });
    expect(told).toBe(false);
    await link.close();
  });

  test("is gone for the first reason", async () => {
    const { link, worker } = await opened();
    worker.emit("error", new Error("first"));
    worker.emit("exit", 1);
    await expect(link.append(entry(0))).rejects.toMatchObject({ cause: { message: "first" } });
  });

  test("has answered what it has answered", async () => {
    const { link, worker } = await opened();
    const asked = Array.from({ length: 100 }, (_, seq) => link.append(entry(seq)));
    await tick();
    worker.answer(Array.from({ length: 90 }, () => true as const));
    worker.emit("exit", 1);
    const outcomes = await outcomesOf(asked);
    expect(outcomes.filter((one) => one === undefined)).toHaveLength(90);
    expect(outcomes.slice(90)).toEqual(Array.from({ length: 10 }, () => DIED));
  });

  test("is what a request makes of it that cannot be sent", async () => {
    const { link, worker } = await opened();
    const odd = link.ask({ ...count, target: (() => "") as never });
    const other = link.append(entry(0));
    const refused = Promise.allSettled([odd, other]);
    await tick();
    expect(await refused).toMatchObject([
      { reason: { code: "ERR_AUDIT_WRITE", message: DIED, cause: { name: "DataCloneError" } } },
      { reason: { code: "ERR_AUDIT_WRITE" } },
    ]);
    expect(worker.sent).toEqual([]);
  });
});

test("closing asks the thread to end, keeps the process until it has, and does so after all else", async () => {
  const { link, worker } = await opened();
  const append = link.append(entry(0));
  let isClosed = false;
  const closing = link.close().then(() => {
    isClosed = true;
  });
  await tick();
  expect(worker.sent).toEqual([[entry(0), { kind: "close" }]]);
  worker.answer([true, { value: undefined }]);
  await append;
  await turn();
  expect([isClosed, worker.isKept]).toEqual([false, true]);
  worker.emit("exit", 0);
  await closing;
});
