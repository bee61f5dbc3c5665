import { describe, expect, onTestFinished, test, vi } from "vitest";
import { aFile, DEAD_PID, withFile } from "../../../test/fixtures/outbox-files.ts";
import type { Append, Group, Operation, Reply, Request, TakeOperation, WorkerSetup } from "./messages.ts";
import { Store } from "./store.ts";

describe("the worker's store", () => {
  const NOW = 1_800_000_000_000;
  const DAY_MS = 86_400_000;
  const SETUP = { maxBacklog: 10, retentionMs: 0, busyTimeoutMs: 5000, syncDelayMs: 0, maxPages: undefined } as const;
  const TAKE: TakeOperation = {
    ...{ kind: "take", holder: { owner: "me", host: "here", pid: process.pid }, leaseMs: 1000 },
    ...{ target: "", first: [], except: [], maxEntries: 200, maxBytes: 1000 },
  };

  /** In this thread: the clock, and who is alive, are the test's. */
  function aStore(setup: Partial<WorkerSetup> = {}): Store {
    const store = new Store({ ...SETUP, path: aFile(), ...setup });
    onTestFinished(() => store.close());
    return store;
  }

  function setClock(now: number): void {
    const clock = vi.spyOn(Date, "now").mockReturnValue(now);
    onTestFinished(() => clock.mockRestore());
  }

  const ask = (store: Store, request: Request): Reply | undefined => store.run([request]).replies[0];

  const append = (planId: string, texts: readonly string[], { seq = 0, closes = false } = {}): Append => {
    const numbered = texts.flatMap((text, index) => [`digest-${seq + index}`, text]);
    return [planId, seq, seq === 0 ? null : `digest-${seq - 1}`, true, closes, ...numbered];
  };
  const acknowledge = (seq: number, { planId = "plan-1", receipt = "receipt" } = {}): Operation => ({
    ...{ kind: "acknowledge", planId, owner: "me", seq, head: `digest-${seq - 1}`, receipt },
  });
  const refuse = (refused: string): Operation => ({ kind: "release", planId: "plan-1", owner: "me", refused });
  const unpark: Operation = { kind: "unpark", planId: "plan-1" };

  /** A plan that is uploaded, with an entry for each text. */
  function add(store: Store, planId: string, { texts = ["0", "1", "2"], closes = false } = {}): Group {
    const begin = { kind: "begin", planId, upload: true, target: "", clientKey: null, state: null } as const;
    return store.run([begin, append(planId, texts, { closes })]);
  }

  test.each([
    ["ends now", { forMs: 0 }, true],
    ["ends as late as any can", { forMs: 10_000 }, false],
    ["ends later than any can", { forMs: 10_001 }, true],
    ["is of a process that is gone", { code: "ESRCH" }, true],
    ["is of a process that is somebody else's", { code: "EPERM" }, false],
  ])(
    "gives a plan or not whose lease %s",
    (_name, { forMs = 1000, code }: { forMs?: number; code?: string }, given) => {
      setClock(NOW);
      const kill = vi.spyOn(process, "kill").mockImplementation(() => {
        if (code !== undefined) throw Object.assign(new Error("kill"), { code });
        return true;
      });
      onTestFinished(() => kill.mockRestore());
      const store = aStore();
      add(store, "plan-1");
      const holder = { ...TAKE.holder, owner: "other", pid: DEAD_PID };
      expect(ask(store, { ...TAKE, holder, leaseMs: forMs })).toMatchObject({ value: { planId: "plan-1" } });
      expect(ask(store, TAKE)).toEqual({ value: given ? expect.objectContaining({ planId: "plan-1" }) : undefined });
    },
  );

  test("gives as many bytes as a batch may have, and no more", () => {
    const store = aStore();
    add(store, "plan-1", { texts: ["é0", "é1", "é2"] });
    expect(ask(store, { ...TAKE, maxBytes: 6 })).toMatchObject({ value: { bodies: ["é0", "é1"], head: "digest-1" } });
  });

  test("takes no acknowledgement of an entry that it does not have", () => {
    const store = aStore();
    add(store, "plan-1");
    expect(ask(store, acknowledge(4))).toMatchObject({ failure: { code: "ERR_AUDIT_WRITE" } });
    expect(ask(store, { kind: "plans", planId: "plan-1" })).toMatchObject({ value: [{ uploaded: 0, receipt: null }] });
  });

  test.each([2, 3])("does not go back for an acknowledgement that comes late (%i of 3)", (seq) => {
    const store = aStore();
    add(store, "plan-1");
    ask(store, acknowledge(3, { receipt: "first" }));
    expect(ask(store, acknowledge(seq, { receipt: "late" }))).toEqual({ value: undefined });
    expect(ask(store, { kind: "plans", planId: "plan-1" })).toMatchObject({
      value: [{ uploaded: 3, receipt: "first" }],
    });
  });

  test.each([
    ["is refused by two who sent it", [refuse("409: one"), refuse("409: two")], 0],
    ["is refused to one, and taken from another", [refuse("409: one"), acknowledge(3)], 0],
    ["goes on after it was refused", [refuse("409: one"), unpark], 3],
    ["is to go on, and was not refused", [unpark], 3],
  ])("counts what waits once when a plan %s", (_name, operations, waiting) => {
    const store = aStore();
    add(store, "plan-1");
    expect(store.run(operations).replies).toEqual(operations.map(() => ({ value: undefined })));
    expect(add(store, "plan-2", { texts: ["0"] }).waiting).toBe(waiting + 1);
  });

  test.each([
    ["keeps for 30 days", 30 * DAY_MS, true],
    ["forgets after 30 days", 30 * DAY_MS + 1, false],
  ])("%s a plan that is done, and one that nobody closes", (_name, ms, kept) => {
    const path = aFile();
    setClock(NOW);
    const store = aStore({ path });
    add(store, "done", { closes: true });
    add(store, "open");
    add(store, "waiting");
    store.run(["done", "open"].map((planId) => acknowledge(3, { planId })));
    setClock(NOW + ms);
    const next = aStore({ path });
    const open = [...(kept ? ["open"] : []), "waiting"].map((planId) => expect.objectContaining({ planId }));
    expect(ask(next, { kind: "plans" })).toEqual({ value: open });
    expect(ask(next, { kind: "entries", planId: "open" })).toEqual({ value: kept ? ["0", "1", "2"] : [] });
    expect(ask(next, { kind: "plans", planId: "done" })).toMatchObject({ value: { length: kept ? 1 : 0 } });
  });

  test("forgets old plans once a day while it is open: who writes to one then fails alone", () => {
    const path = aFile();
    setClock(NOW);
    const store = aStore({ path });
    add(store, "old", { closes: true });
    add(store, "plan-1");
    ask(store, acknowledge(3, { planId: "old" }));
    withFile(path, (file) => file.exec("UPDATE plans SET done_at = 0 WHERE plan_id = 'old'"));
    const isKnown = (): unknown => ask(store, { kind: "plans", planId: "old" });
    setClock(NOW + DAY_MS);
    ask(store, acknowledge(3, { planId: "old" }));
    expect(isKnown()).toMatchObject({ value: { length: 1 } });
    setClock(NOW + DAY_MS + 1);
    ask(store, acknowledge(3, { planId: "old" }));
    expect(isKnown()).toEqual({ value: [] });
    const appends = ["old", "plan-1"].map((planId) => append(planId, ["3"], { seq: 3 }));
    expect(store.run(appends).replies).toMatchObject([{ failure: { code: "ERR_AUDIT_WRITE" } }, true]);
  });
});
