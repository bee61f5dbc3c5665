import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { aFolder } from "../../../test/server-gates.ts";
import type { AuditEntry, HoldDecision } from "../../core/index.ts";
import type { Outbox, Uploader, UploadOptions } from "../outbox/index.ts";
import { GateOutbox } from "./gate-outbox.ts";

const NONE = { waiting: 0, refused: 0 };
const OPTIONS = {} as UploadOptions;
const HOLD = { planId: "plan-1", seq: 3 } as HoldDecision;

/** An outbox that somebody has opened; what is left after a flush is what is given. */
function anOutbox(left: { waiting: number; refused: number } = NONE) {
  const uploader = { flush: vi.fn(async () => left), close: vi.fn(async () => left) };
  const outbox = { append: vi.fn(async () => undefined), startUpload: vi.fn(() => uploader), close: vi.fn() };
  return { uploader: uploader as typeof uploader & Uploader, given: outbox as typeof outbox & Outbox };
}

/** Of a gate that uploads. */
async function started(left?: { waiting: number; refused: number }) {
  const { uploader, given } = anOutbox(left);
  const outbox = new GateOutbox(given);
  await outbox.open();
  outbox.startUpload(OPTIONS);
  return { outbox, uploader, given };
}

describe("the outbox of a gate", () => {
  test("is opened once, where it was told, when it is needed", async () => {
    const path = join(await aFolder(), "outbox.db");
    const outbox = new GateOutbox(path);
    expect(existsSync(path)).toBe(false);
    const [one, other] = await Promise.all([outbox.open(), outbox.open()]);
    expect(one).toBe(other);
    expect(existsSync(path)).toBe(true);
    await outbox.close();
    await expect(one.plans()).rejects.toMatchObject({ code: "ERR_CLOSED" });
  });

  test("is .intentlock/outbox.db, unless told", async () => {
    const folder = await aFolder();
    const before = process.cwd;
    process.cwd = () => folder;
    try {
      const outbox = new GateOutbox();
      await outbox.open();
      await outbox.close();
    } finally {
      process.cwd = before;
    }
    expect(existsSync(join(folder, ".intentlock/outbox.db"))).toBe(true);
  });

  test("is opened by the first entry, and takes the later ones as they come", async () => {
    const { given } = anOutbox();
    const outbox = new GateOutbox(given);
    const batch = [[{}] as unknown as AuditEntry[], undefined, ["{}"]] as const;
    await outbox.append(...batch);
    await outbox.append(...batch);
    expect(given.append.mock.calls).toEqual([batch, batch]);
  });

  test("is uploaded once it is open, and once only", async () => {
    const { given } = anOutbox();
    const outbox = new GateOutbox(given);
    outbox.startUpload(OPTIONS);
    expect(given.startUpload).not.toHaveBeenCalled();
    await outbox.open();
    outbox.startUpload(OPTIONS);
    outbox.startUpload(OPTIONS);
    expect(given.startUpload.mock.calls).toEqual([[OPTIONS]]);
  });

  test("flushes a plan for at most half a minute; before there is anything there is nothing to flush", async () => {
    const { outbox, uploader } = await started();
    await outbox.flush("plan-1");
    expect(uploader.flush.mock.calls).toEqual([[{ planId: "plan-1", timeoutMs: 30_000 }]]);
    await new GateOutbox(anOutbox().given).flush("plan-1");
  });
});

describe("what a hold rests on", () => {
  test.each([
    [undefined, 30_000],
    [60_000, 30_000],
    [5000, 5000],
  ])("is with the server before a person is asked, within %s ms", async (given, timeoutMs) => {
    const { outbox, uploader } = await started();
    expect(await outbox.flushHold(HOLD, given)).toBeUndefined();
    expect(uploader.flush.mock.calls).toEqual([[{ planId: "plan-1", seq: 3, timeoutMs }]]);
  });

  test("is the first entry of a hold without a number", async () => {
    const { outbox, uploader } = await started();
    const { seq: _, ...hold } = HOLD;
    await outbox.flushHold(hold as HoldDecision);
    expect(uploader.flush.mock.calls).toEqual([[{ planId: "plan-1", seq: 0, timeoutMs: 30_000 }]]);
  });

  test.each([
    ["still waits", { waiting: 1, refused: 0 }, "server_unavailable"],
    ["was refused", { waiting: 0, refused: 1 }, "gate_rejected"],
    ["was refused, and waits", { waiting: 2, refused: 1 }, "gate_rejected"],
  ])("%s: nobody is asked, and the call is blocked", async (_name, left, reason) => {
    const { outbox } = await started(left);
    const detail = "the server has not taken the entries that the hold rests on";
    expect(await outbox.flushHold(HOLD)).toEqual({ status: "blocked", reason, detail });
  });

  test("is nowhere where nothing is uploaded", async () => {
    const outbox = new GateOutbox(anOutbox().given);
    expect(await outbox.flushHold(HOLD)).toMatchObject({ status: "blocked", reason: "server_unavailable" });
  });
});

describe("at the end", () => {
  test.each([
    [undefined, 5000],
    [70, 70],
  ])("an outbox that somebody else has opened is uploaded, and stays open (%s ms)", async (given, timeoutMs) => {
    const { outbox, uploader, given: other } = await started();
    await outbox.close(given);
    expect(uploader.close.mock.calls).toEqual([[{ timeoutMs }]]);
    expect(other.close).not.toHaveBeenCalled();
  });

  test("its own outbox is closed with it, in the same time", async () => {
    const outbox = new GateOutbox(join(await aFolder(), "outbox.db"));
    const close = vi.spyOn(await outbox.open(), "close");
    await outbox.close(70);
    expect(close.mock.calls).toEqual([[{ timeoutMs: 70 }]]);
  });

  test("one that was never needed is not opened, and one that is not uploaded is let be", async () => {
    const path = join(await aFolder(), "outbox.db");
    await new GateOutbox(path).close();
    expect(existsSync(path)).toBe(false);
    await new GateOutbox(anOutbox().given).close();
  });
});
