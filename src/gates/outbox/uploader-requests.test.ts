import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Operation, TakenBatch, TakeOperation } from "./messages.ts";
import { UploadError } from "./upload-batch.ts";
import { Uploader, type UploadOptions, type UploadTrouble } from "./uploader.ts";
import type { WorkerLink } from "./worker-link.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  vi.spyOn(Math, "random").mockReturnValue(1);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Send = UploadOptions["send"];
const stores: Send = async () => "receipt";
const fails = (status?: number, more: object = {}): Send => {
  return async () => {
    throw new UploadError("no", { ...(status !== undefined && { status }), ...more });
  };
};

interface Setup {
  readonly send?: readonly Send[];
  readonly options?: Partial<UploadOptions>;
  /** So many entries wait in each of these plans. */
  readonly plans?: Readonly<Record<string, number>>;
  readonly manyWaiting?: number;
}

/** An uploader over an outbox in memory; what it asked of it, what it sent, and what it told. */
function anUploader({ send = [stores], options = {}, plans = { "plan-1": 1 }, manyWaiting = 1000 }: Setup = {}) {
  const waiting = new Map(Object.entries(plans));
  const asked: Operation[] = [];
  const sent: { readonly planId: string; readonly count: number; readonly at: number }[] = [];
  const troubles: UploadTrouble[] = [];
  const link = {
    isAppending: false,
    fail: undefined as Error | undefined,
    takeMs: 0,
    async ask(operation: Operation): Promise<unknown> {
      asked.push(operation);
      if (link.fail) throw link.fail;
      if (operation.kind === "take") {
        const taken = take(operation);
        if (link.takeMs > 0) await new Promise((resolve) => setTimeout(resolve, link.takeMs));
        return taken;
      }
      if (operation.kind === "acknowledge") {
        waiting.set(
          operation.planId,
          (waiting.get(operation.planId) ?? 0) - (sent.findLast((one) => one.planId === operation.planId)?.count ?? 0),
        );
      }
      // It is parked.
      if (operation.kind === "release" && operation.refused) waiting.delete(operation.planId);
      if (operation.kind === "count") {
        const counts = operation.planId === undefined ? [...waiting.values()] : [waiting.get(operation.planId) ?? 0];
        return { waiting: counts.reduce((sum, one) => sum + one, 0), refused: 0 };
      }
      return undefined;
    },
  };
  function take({ except, maxEntries, first }: TakeOperation): TakenBatch | undefined {
    const names = [...first, ...waiting.keys()];
    const planId = names.find((name) => !except.includes(name) && (waiting.get(name) ?? 0) > 0);
    if (planId === undefined) return undefined;
    const count = Math.min(maxEntries, waiting.get(planId) ?? 0);
    return {
      planId,
      clientKey: null,
      from: 0,
      prev: null,
      head: "head",
      bodies: Array.from({ length: count }, () => "{}"),
    };
  }
  const uploader = new Uploader(
    link as unknown as WorkerLink,
    {
      send: async (batch, more) => {
        sent.push({ planId: batch.planId, count: batch.bodies.length, at: performance.now() });
        return await (send[Math.min(sent.length, send.length) - 1] as Send)(batch, more);
      },
      onTrouble: (trouble) => troubles.push(trouble),
      ...options,
    },
    { manyWaiting },
  );
  const kinds = (kind: Operation["kind"]): Operation[] => asked.filter((one) => one.kind === kind);
  return { uploader, link, waiting, asked, sent, troubles, kinds };
}

const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

describe("when an uploader looks", () => {
  test("a little after it is woken, so that more may come", async () => {
    const { uploader, kinds } = anUploader();
    uploader.wake();
    await pass(19);
    expect(kinds("take")).toEqual([]);
    await pass(1);
    const [take] = kinds("take") as TakeOperation[];
    expect(take).toEqual({
      kind: "take",
      holder: { owner: expect.any(String), host: expect.any(String), pid: process.pid },
      leaseMs: 15_000,
      target: "",
      first: [],
      except: [],
      maxEntries: 200,
      maxBytes: 262_144,
    });
  });

  test("every five seconds for what others have left", async () => {
    const { kinds } = anUploader({ plans: {} });
    await pass(4999);
    expect(kinds("take")).toEqual([]);
    await pass(2);
    expect(kinds("take")).toHaveLength(1);
    await pass(10_000);
    expect(kinds("take")).toHaveLength(3);
  });

  test("later while entries keep coming, and not once many wait", async () => {
    const { uploader, kinds } = anUploader({ manyWaiting: 10 });
    uploader.came(1);
    await pass(15);
    uploader.came(2);
    await pass(15);
    expect(kinds("take")).toEqual([]);
    uploader.came(10);
    await pass(5);
    expect(kinds("take").length).toBeGreaterThan(0);
  });

  test("later while entries are on their way to the disk", async () => {
    const { uploader, kinds, link } = anUploader();
    link.isAppending = true;
    uploader.came(1);
    await pass(500);
    expect(kinds("take")).toEqual([]);
    link.isAppending = false;
    await pass(40);
    expect(kinds("take").length).toBeGreaterThan(0);
  });

  test("at several plans at once, and then at what is left", async () => {
    const plans = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`plan-${n}`, 1]));
    let now = 0;
    let most = 0;
    const slow: Send = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 10));
      now--;
      return "receipt";
    };
    const { uploader, sent } = anUploader({ plans, send: [slow] });
    uploader.wake();
    await pass(22);
    uploader.wake();
    await pass(100);
    expect([sent.length, most]).toEqual([40, 4]);
  });

  test("once more if it was woken while it looked", async () => {
    const { uploader, link, sent, waiting } = anUploader({ plans: {}, options: { lanes: 1, lingerMs: 0 } });
    link.takeMs = 50;
    uploader.wake();
    await pass(20);
    waiting.set("plan-1", 1);
    uploader.wake();
    await pass(200);
    expect(sent).toHaveLength(1);
  });
});

describe("a batch", () => {
  test("that was stored is acknowledged, with its end and the receipt", async () => {
    const { uploader, kinds } = anUploader({ plans: { "plan-1": 3 } });
    uploader.wake();
    await pass(20);
    const [{ holder }] = kinds("take") as [TakeOperation];
    const { owner } = holder;
    expect(kinds("acknowledge")).toEqual([
      { kind: "acknowledge", planId: "plan-1", owner, seq: 3, head: "head", receipt: "receipt" },
    ]);
  });

  test("that is too large comes in halves, until one was stored; then the next is as large as ever", async () => {
    const large = fails(413);
    const { uploader, sent, waiting, troubles, kinds } = anUploader({
      plans: { "plan-1": 7 },
      send: [large, large, stores],
    });
    uploader.wake();
    await pass(20);
    // What is left then is five.
    expect(sent.map(({ count }) => count)).toEqual([7, 4, 2, 5]);
    expect(kinds("release")).toHaveLength(2);
    expect([waiting.get("plan-1"), troubles]).toEqual([0, []]);
  });

  test("of one entry that is too large is refused for good", async () => {
    const { uploader, troubles } = anUploader({ send: [fails(413)] });
    uploader.wake();
    await pass(20);
    expect(troubles).toEqual([{ planId: "plan-1", error: expect.any(UploadError), refused: true }]);
  });

  test("that is refused parks its plan with the reason, which begins anew if it goes on", async () => {
    const { uploader, kinds, sent, troubles, waiting } = anUploader({
      plans: { "plan-1": 8 },
      send: [fails(413), fails(500), fails(422), stores],
    });
    uploader.wake();
    await pass(300);
    waiting.set("plan-1", 8);
    uploader.wake();
    await pass(20);
    expect(sent.map(({ count }) => count)).toEqual([8, 4, 4, 8]);
    expect(kinds("release").at(-1)).toMatchObject({ planId: "plan-1", refused: "422: no" });
    expect(troubles.map(({ refused }) => refused)).toEqual([false, true]);
  });

  test.each<[string, Send, string]>([
    ["without a receipt", async () => undefined as never, "send() gave no receipt"],
    ["that breaks off", () => Promise.reject(new TypeError("reset")), "reset"],
    ["that takes too long", () => new Promise(() => undefined), "The upload took too long, or was given up"],
  ])("%s is a failure, and comes again", async (_name, send, message) => {
    const { uploader, troubles, sent } = anUploader({ send: [send, stores], options: { sendTimeoutMs: 50 } });
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), ms);
      return controller.signal;
    });
    uploader.wake();
    await pass(400);
    expect(troubles).toEqual([
      { planId: "plan-1", error: expect.objectContaining({ message }), refused: false, retryInMs: 250 },
    ]);
    expect(sent).toHaveLength(2);
  });
});

describe("after a failure", () => {
  test("a plan waits longer each time, up to half a minute", async () => {
    const { uploader, sent, troubles } = anUploader({ send: [fails(500)] });
    uploader.wake();
    await pass(150_000);
    const waits = sent.slice(1).map(({ at }, index) => Math.round(at - (sent[index]?.at ?? 0)));
    expect(waits.slice(0, 9)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(troubles[0]).toEqual({ planId: "plan-1", error: expect.any(UploadError), refused: false, retryInMs: 250 });
  });

  test("and a success a plan begins with short waits again", async () => {
    const { uploader, troubles } = anUploader({
      plans: { "plan-1": 2 },
      send: [fails(500), fails(500), stores, fails(500), stores],
      options: { maxEntries: 1 },
    });
    uploader.wake();
    await pass(2000);
    expect(troubles.map(({ retryInMs }) => retryInMs)).toEqual([250, 500, 250]);
  });

  test("and a refusal so does a plan that goes on", async () => {
    const { uploader, troubles, waiting } = anUploader({ send: [fails(500), fails(422), fails(500), stores] });
    uploader.wake();
    await pass(300);
    waiting.set("plan-1", 1);
    uploader.wake();
    await pass(2000);
    expect(troubles.map(({ retryInMs }) => retryInMs)).toEqual([250, undefined, 250]);
  });

  test("a plan waits as long as the server says", async () => {
    const { uploader, sent } = anUploader({ send: [fails(429, { retryAfterMs: 7000 }), stores] });
    uploader.wake();
    await pass(20_000);
    expect(sent.map(({ at }) => Math.round(at))).toEqual([20, 7020]);
  });

  test("one that was stored lets the others of all plans come at once", async () => {
    const { uploader, sent } = anUploader({
      plans: { "plan-1": 1, "plan-2": 1 },
      send: [fails(500), stores],
      options: { lanes: 1 },
    });
    uploader.wake();
    await pass(270);
    expect(sent.map(({ planId, at }) => [planId, Math.round(at)])).toEqual([
      ["plan-1", 20],
      ["plan-1", 270],
      ["plan-2", 270],
    ]);
  });

  test("of the outbox itself somebody is told, and it looks again when it is woken", async () => {
    const { uploader, link, troubles, sent } = anUploader();
    link.fail = new Error("disk");
    uploader.wake();
    await pass(20);
    expect(troubles).toEqual([{ error: link.fail, refused: false }]);
    link.fail = undefined;
    uploader.wake();
    await pass(20);
    expect(sent).toHaveLength(1);
  });

  test("nobody has to be told, and what a listener throws is its own", async () => {
    for (const onTrouble of [
      undefined,
      () => {
        throw new Error("a bug");
      },
    ]) {
      const { uploader, sent } = anUploader({ send: [fails(500), stores], options: { onTrouble } });
      uploader.wake();
      await pass(400);
      expect(sent).toHaveLength(2);
    }
  });
});

describe("the lease of a plan", () => {
  test("is made longer while its batch is on its way, and not otherwise", async () => {
    const { uploader, kinds } = anUploader({
      send: [() => new Promise((resolve) => setTimeout(() => resolve("receipt"), 12_000))],
      options: { leaseMs: 9000 },
    });
    await pass(3000);
    expect(kinds("renew")).toEqual([]);
    uploader.wake();
    await pass(7000);
    const [{ holder }] = kinds("take") as [TakeOperation];
    const renewal = { kind: "renew", planIds: ["plan-1"], owner: holder.owner, leaseMs: 9000 };
    expect(kinds("renew")).toEqual([renewal, renewal]);
    await pass(60_000);
    expect(kinds("renew")).toHaveLength(4);
  });

  test("that cannot be made longer is nobody's trouble yet", async () => {
    const { uploader, link, troubles } = anUploader({
      send: [() => new Promise((resolve) => setTimeout(() => resolve("receipt"), 6000))],
      options: { pollMs: 1e6 },
    });
    uploader.wake();
    await pass(20);
    link.fail = new Error("disk");
    await pass(5000);
    link.fail = undefined;
    await pass(1000);
    expect(troubles).toEqual([]);
  });
});

describe("a flush", () => {
  test("asks for what is meant, does not linger, and is over when nothing waits", async () => {
    const { uploader, kinds, sent } = anUploader({
      plans: { "plan-1": 1, "plan-2": 1 },
      options: { target: "server" },
    });
    const flushing = uploader.flush({ planId: "plan-2", seq: 3 });
    await pass(0);
    expect(await flushing).toEqual({ waiting: 0, refused: 0 });
    expect(kinds("count")[0]).toEqual({ kind: "count", target: "server", planId: "plan-2", below: 4 });
    expect(sent[0]).toMatchObject({ planId: "plan-2", at: 0 });
  });

  test("puts its plan first while it lasts, and no longer", async () => {
    const { uploader, kinds, waiting } = anUploader({ plans: { "plan-1": 1, "plan-2": 1 } });
    const flushing = uploader.flush({ planId: "plan-2" });
    await pass(0);
    await flushing;
    await pass(100);
    waiting.set("plan-1", 1);
    uploader.wake();
    await pass(100);
    const firsts = (kinds("take") as TakeOperation[]).map(({ first }) => first);
    expect([firsts[0], firsts.at(-1)]).toEqual([["plan-2"], []]);
  });

  test("of everything has no plan first", async () => {
    const { uploader, kinds } = anUploader();
    const flushing = uploader.flush();
    await pass(0);
    await flushing;
    expect(kinds("count")[0]).toStrictEqual({ kind: "count", target: "" });
    expect((kinds("take") as TakeOperation[])[0]?.first).toEqual([]);
  });

  test.each([
    [undefined, 5000],
    [250, 250],
    [0, 0],
  ])("given %s ms is over after %i, with what waits, and looks ten times a second", async (timeoutMs, tookMs) => {
    const { uploader, kinds } = anUploader({ send: [() => new Promise(() => undefined)] });
    const flushing = uploader.flush(timeoutMs === undefined ? {} : { timeoutMs });
    let endedAt = -1;
    void flushing.then(() => {
      endedAt = performance.now();
    });
    await pass(6000);
    expect([await flushing, endedAt]).toEqual([{ waiting: 1, refused: 0 }, tookMs]);
    expect(kinds("count")).toHaveLength(Math.ceil(tookMs / 100) + 1);
  });

  test("looks again as soon as something was stored, and leaves no timer", async () => {
    const { uploader, kinds } = anUploader({
      send: [() => new Promise((resolve) => setTimeout(() => resolve("receipt"), 30))],
      options: { pollMs: 1e6, leaseMs: 1e6 },
    });
    const before = vi.getTimerCount();
    const flushing = uploader.flush();
    await pass(30);
    await flushing;
    expect(kinds("count")).toHaveLength(2);
    await pass(50);
    expect(vi.getTimerCount()).toBe(before);
  });

  test("ends the waits after failures; while it lasts none is longer than a second", async () => {
    const { uploader, sent } = anUploader({ send: [fails(500, { retryAfterMs: 20_000 })] });
    uploader.wake();
    await pass(1000);
    expect(sent).toHaveLength(1);
    const flushing = uploader.flush({ timeoutMs: 2500 });
    await pass(2500);
    await flushing;
    expect(sent.map(({ at }) => Math.round(at))).toEqual([20, 1000, 2000, 3000]);
    await pass(10_000);
    expect(sent).toHaveLength(4);
  });

  test("that is over leaves the uploader as patient as before", async () => {
    const { uploader, kinds, waiting } = anUploader();
    const flushing = uploader.flush();
    await pass(0);
    await flushing;
    await pass(100);
    const before = kinds("take").length;
    waiting.set("plan-1", 1);
    uploader.came(1);
    await pass(15);
    uploader.came(2);
    await pass(15);
    expect(kinds("take")).toHaveLength(before);
  });

  test("fails as the outbox does, and leaves nothing behind", async () => {
    const { uploader, link, kinds } = anUploader();
    link.fail = new Error("disk");
    await expect(uploader.flush({ planId: "plan-9" })).rejects.toThrow("disk");
    link.fail = undefined;
    uploader.wake();
    await pass(20);
    expect((kinds("take") as TakeOperation[])[0]?.first).toEqual([]);
  });
});

describe("the end", () => {
  test("flushes, and leaves no timer", async () => {
    const { uploader, sent } = anUploader();
    const closing = uploader.close();
    await pass(0);
    expect(await closing).toEqual({ waiting: 0, refused: 0 });
    expect(sent).toHaveLength(1);
    uploader.wake();
    uploader.came(1);
    await pass(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gives up what is on its way, waits until it was given back, and tells nobody", async () => {
    const signals: AbortSignal[] = [];
    const { uploader, asked, troubles } = anUploader({
      send: [
        (_batch, { signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      ],
    });
    let last: string | undefined;
    const closing = uploader.close({ timeoutMs: 150 });
    const noted = closing.then(() => {
      last = asked.at(-1)?.kind;
    });
    await pass(150);
    await noted;
    expect([await closing, last]).toEqual([{ waiting: 1, refused: 0 }, "release"]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(asked.at(-1)).toMatchObject({ kind: "release", planId: "plan-1" });
    expect(troubles).toEqual([]);
    await pass(60_000);
    expect([signals.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test("comes before a look that was to come", async () => {
    const { uploader } = anUploader({ plans: {} });
    uploader.wake();
    await uploader.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("comes also where the outbox does not answer", async () => {
    const { uploader, link } = anUploader();
    link.fail = new Error("disk");
    await expect(uploader.close()).rejects.toThrow("disk");
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("an upload that is over no longer listens to its signal", async () => {
  const removed = vi.spyOn(EventTarget.prototype, "removeEventListener");
  const { uploader } = anUploader();
  uploader.wake();
  await pass(20);
  expect(removed).toHaveBeenCalledWith("abort", expect.any(Function));
});
