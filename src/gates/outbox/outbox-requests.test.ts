import { describe, expect, test, vi } from "vitest";
import { aDecision, anOutcome, Chain, closed } from "../../../test/fixtures/outbox-files.ts";
import type { AuditEntry, AuditEvent } from "../../core/index.ts";
import { Outbox, openOutbox } from "./outbox.ts";
import type { UploadOptions } from "./uploader.ts";
import type { WorkerLink } from "./worker-link.ts";

const OPTIONS: UploadOptions = { send: async () => "receipt", lingerMs: 60_000, pollMs: 60_000 };

/** An outbox, and what it asks of its thread, which answers so. */
function anOutbox({ maxBacklog = 100, answer }: { maxBacklog?: number; answer?: (kind: string) => unknown } = {}) {
  const asked: { readonly kind: string }[] = [];
  const appended: unknown[] = [];
  const link = {
    isAppending: false,
    onWaiting: undefined as ((waiting: number) => void) | undefined,
    ask: vi.fn(async (operation: { readonly kind: string }) => {
      asked.push(operation);
      return answer?.(operation.kind) ?? (operation.kind === "count" ? { waiting: 0, refused: 0 } : []);
    }),
    append: vi.fn(async (append: unknown) => void appended.push(append)),
    close: vi.fn(async () => undefined),
  };
  return { outbox: new Outbox(link as unknown as WorkerLink, { maxBacklog }), link, asked, appended };
}

describe("a plan is begun", () => {
  test("with all that is said of it", async () => {
    const { outbox, asked } = anOutbox();
    const base = { planId: "plan-1", seq: 3, prev: "digest" };
    const clientKey = { kty: "OKP", crv: "Ed25519", kid: "k", x: "x", d: "d" } as const;
    await outbox.begin({ planId: "plan-1", upload: true, target: "server", clientKey, state: "{}", base });
    expect(asked).toEqual([
      {
        kind: "begin",
        planId: "plan-1",
        upload: true,
        target: "server",
        clientKey: JSON.stringify(clientKey),
        state: "{}",
        base,
      },
    ]);
  });

  test("with nothing that is not said", async () => {
    const { outbox, asked } = anOutbox();
    await outbox.begin({ planId: "plan-1", upload: false });
    expect(asked).toStrictEqual([
      { kind: "begin", planId: "plan-1", upload: false, target: "", clientKey: null, state: null },
    ]);
  });

  test("if its id is no longer than an id may be", async () => {
    const { outbox, asked } = anOutbox();
    await outbox.begin({ planId: "p".repeat(200), upload: false });
    const refused = outbox.begin({ planId: "p".repeat(201), upload: false });
    await expect(refused).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
    expect(asked).toHaveLength(1);
  });
});

describe("entries go to the thread", () => {
  const DIGEST = expect.stringMatching(/^sha256:/);

  test.each<[string, readonly AuditEvent[], boolean, boolean]>([
    ["a decision", [aDecision()], true, false],
    ["a plan that was signed", [{ type: "plan_signed" } as AuditEvent], true, false],
    ["a refresh", [{ type: "refresh" } as AuditEvent], true, false],
    ["an outcome", [anOutcome], false, false],
    ["the end", [closed], false, true],
    ["an outcome and a decision", [anOutcome, aDecision()], true, false],
    ["an outcome and the end", [anOutcome, closed], false, true],
    ["the end, and something after it", [closed, anOutcome], false, true],
  ])("with what they are: %s", async (_name, events, decides, closes) => {
    const { outbox, appended } = anOutbox();
    const entries = new Chain("plan-1").next(...events);
    await outbox.append(entries);
    const texts = entries.flatMap((entry) => [DIGEST, JSON.stringify(entry)]);
    expect(appended).toEqual([["plan-1", 0, null, decides, closes, ...texts]]);
  });

  test("with digests that were made when they were chained", async () => {
    const { outbox, appended } = anOutbox();
    const chain = new Chain("plan-1");
    const entries = chain.decisions(2);
    await outbox.append(entries, chain.head, ["one", "two"]);
    expect(appended).toEqual([["plan-1", 0, null, true, false, entries[1]?.prev, "one", chain.head.prev, "two"]]);
  });

  test.each<[string, (entries: readonly AuditEntry[]) => unknown]>([
    ["of another plan", (entries) => entries.map((entry, index) => ({ ...entry, planId: `plan-${index}` }))],
    ["with another number", (entries) => entries.map((entry, index) => ({ ...entry, seq: index * 2 }))],
    [
      "of another plan and another number",
      (entries) => entries.map((entry, index) => ({ ...entry, planId: `plan-${index}`, seq: index * 2 })),
    ],
    [
      "whose first follows on no text",
      (entries) => entries.map((entry, index) => (index ? entry : { ...entry, prev: 7 })),
    ],
    ["of a plan whose id is a list", (entries) => entries.map((entry) => ({ ...entry, planId: ["plan-1"] }))],
    ["of a plan whose id is too long", (entries) => entries.map((entry) => ({ ...entry, planId: "p".repeat(201) }))],
  ])("or not, if they are no piece of one chain: %s", async (_name, change) => {
    const { outbox, appended } = anOutbox();
    const chain = new Chain("plan-1");
    const entries = change(chain.decisions(2)) as AuditEntry[];
    // As if whoever has chained them had said so.
    const refused = outbox.append(entries, chain.head);
    await expect(refused).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    expect(appended).toEqual([]);
  });
});

test("a plan has what is known of it, and nothing of what is not", async () => {
  const bare = {
    planId: "plan-1",
    upload: true,
    target: "",
    clientKey: null,
    state: null,
    seq: 1,
    prev: "digest",
    uploaded: 0,
    receipt: null,
    closed: false,
    refused: null,
  };
  const head = { planId: "plan-1", seq: 1, prev: "digest" };
  const stored = { planId: "plan-1", upload: true, target: "", head, uploaded: 0, closed: false };
  const all = { ...bare, clientKey: '{"kid":"k"}', state: "{}", receipt: "r", refused: "no" };
  expect(await anOutbox({ answer: () => [bare] }).outbox.plan("plan-1")).toStrictEqual(stored);
  const { outbox, asked } = anOutbox({ answer: () => [all] });
  const known = { ...stored, clientKey: { kid: "k" }, state: "{}", receipt: "r", refused: "no" };
  expect(await outbox.plan("plan-1")).toStrictEqual(known);
  const { clientKey: _, ...listed } = known;
  expect(await outbox.plans()).toStrictEqual([listed]);
  expect(asked).toEqual([{ kind: "plans", planId: "plan-1" }, { kind: "plans" }]);
  expect(await anOutbox().outbox.plan("plan-2")).toBeUndefined();
});

describe("uploaders", () => {
  /** An outbox with two of them, and when each was woken. */
  function uploading(maxBacklog?: number) {
    const one = anOutbox(maxBacklog === undefined ? {} : { maxBacklog });
    const uploaders = [one.outbox.startUpload(OPTIONS), one.outbox.startUpload(OPTIONS)];
    return { ...one, uploaders };
  }

  test("are told what waits, each", async () => {
    const { outbox, link, uploaders } = uploading();
    const told = uploaders.map((uploader) => vi.spyOn(uploader, "came"));
    link.onWaiting?.(7);
    expect(told.map(({ mock }) => mock.calls)).toEqual([[[7]], [[7]]]);
    await outbox.close();
  });

  test("are woken when a plan goes on that was refused", async () => {
    const { outbox, asked, uploaders } = uploading();
    const woken = uploaders.map((uploader) => vi.spyOn(uploader, "wake"));
    await outbox.unpark("plan-1");
    expect(asked).toEqual([{ kind: "unpark", planId: "plan-1" }]);
    expect(woken.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    await outbox.close();
  });

  test("look at once for what is there, and do not stand back from a quarter of the backlog on", async () => {
    vi.useFakeTimers();
    try {
      const { outbox, link, asked } = anOutbox({ maxBacklog: 40 });
      link.ask.mockImplementation(async (operation: { readonly kind: string }) => {
        asked.push(operation);
        return operation.kind === "count" ? { waiting: 0, refused: 0 } : (undefined as never);
      });
      outbox.startUpload({ ...OPTIONS, lingerMs: 20, standBackMs: 1000 });
      await vi.advanceTimersByTimeAsync(20);
      expect(asked.map(({ kind }) => kind)).toEqual(["take"]);
      // Entries that keep coming are waited for, unless many wait.
      link.onWaiting?.(9);
      await vi.advanceTimersByTimeAsync(15);
      link.onWaiting?.(9);
      await vi.advanceTimersByTimeAsync(15);
      expect(asked).toHaveLength(1);
      link.onWaiting?.(10);
      await vi.advanceTimersByTimeAsync(15);
      expect(asked).toHaveLength(2);
      await outbox.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test("have so long to finish, and then the file is given back", async () => {
    const { outbox, link, uploaders } = uploading();
    const closings = uploaders.map((uploader) => vi.spyOn(uploader, "close"));
    await outbox.close({ timeoutMs: 70 });
    await outbox.close({ timeoutMs: 1 });
    expect(closings.map(({ mock }) => mock.calls)).toEqual([[[{ timeoutMs: 70 }]], [[{ timeoutMs: 70 }]]]);
    expect(link.close).toHaveBeenCalledTimes(1);
  });
});

test.each<[string, (outbox: Outbox) => unknown]>([
  ["begin", (outbox) => outbox.begin({ planId: "plan-1", upload: false })],
  ["append", (outbox) => outbox.append(new Chain("plan-1").decisions(1))],
  ["append nothing", (outbox) => outbox.append([])],
  ["entries", (outbox) => outbox.entries("plan-1")],
  ["plans", (outbox) => outbox.plans()],
  ["plan", (outbox) => outbox.plan("plan-1")],
  ["unpark", (outbox) => outbox.unpark("plan-1")],
  ["startUpload", async (outbox) => outbox.startUpload(OPTIONS)],
])("an outbox that is closed does not %s", async (_name, work) => {
  const { outbox, link } = anOutbox();
  await outbox.close();
  await expect(work(outbox)).rejects.toMatchObject({ code: "ERR_CLOSED" });
  expect(link.ask).not.toHaveBeenCalled();
});

test.each(["maxBacklog", "retentionMs"])("%s is a whole number, at least 0", async (name) => {
  for (const value of [-1, 1.5, "1", null]) {
    await expect(openOutbox({ path: "/nowhere/outbox.db", [name]: value })).rejects.toMatchObject({
      code: "ERR_INVALID_OPTIONS",
      message: `${name}: expected a whole number, at least 0`,
    });
  }
});
