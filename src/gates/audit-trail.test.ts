import { describe, expect, test, vi } from "vitest";
import { FailingAuditSink, HeldAuditSink, settle } from "../../test/audit-sinks.ts";
import { NOW, PLAN_ID } from "../../test/builders.ts";
import { aDecision } from "../../test/fixtures/outbox-files.ts";
import { type AuditEvent, verifyChain } from "../core/index.ts";
import type { AuditSink } from "./audit-sink.ts";
import { AuditTrail } from "./audit-trail.ts";
import { nodeSha256 } from "./node-sha256.ts";

const CLOSED: AuditEvent = { type: "closed" };

function aTrail(sink: AuditSink | undefined, clock = () => NOW): AuditTrail {
  return new AuditTrail(PLAN_ID, { sink, clock, hash: nodeSha256 });
}

function signed(token: string): AuditEvent {
  return { type: "plan_signed", token };
}

function withoutLinks(text = ""): string {
  return text.replace(/"prev":"[^"]*","seq":\d+/, "");
}

describe("a trail", () => {
  test("numbers events and chains them, as core verifies them", async () => {
    const sink = new FailingAuditSink();
    const trail = aTrail(sink);
    expect(await trail.write(signed("a"))).toBe(0);
    expect(await trail.write(signed("b"))).toBe(1);
    expect(sink.entries.map(({ at, event }) => [at, event])).toEqual([
      [NOW, signed("a")],
      [NOW, signed("b")],
    ]);
    expect(verifyChain(sink.entries, PLAN_ID)).toMatchObject({ head: { seq: 2 } });
  });

  test("hands its sink each entry as text too, with the arguments as they were printed", async () => {
    const sink = new HeldAuditSink();
    const texts: string[] = [];
    const trail = aTrail({
      append: async (entries, _head, printed = []) => {
        texts.push(...printed);
        await sink.append(entries);
      },
    });
    const decision = { ...aDecision(), args: { b: 1, a: ["x"] } };
    const writes = [signed("a"), decision].map((event) => trail.write(event));
    const last = trail.write(decision, '{"a":["x"],"b":1}');
    await sink.finish();
    await sink.finish();
    await Promise.all([...writes, last]);
    expect(texts.map((text) => JSON.parse(text))).toEqual(sink.stored);
    expect(texts[1]).toContain('"args":{"a":["x"],"b":1},');
    expect(withoutLinks(texts[2])).toBe(withoutLinks(texts[1]));
  });

  test("without a sink numbers events all the same", async () => {
    const trail = aTrail(undefined);
    expect([await trail.write(CLOSED), await trail.write(CLOSED)]).toEqual([0, 1]);
  });

  test("answers when the entry is stored, not before", async () => {
    const sink = new HeldAuditSink();
    let answered = false;
    const writing = Promise.resolve(aTrail(sink).write(CLOSED)).then(() => {
      answered = true;
    });
    await settle();
    expect([sink.waiting.length, answered]).toEqual([1, false]);
    await sink.finish();
    await writing;
    expect(answered).toBe(true);
  });

  test("writes together what came while it was writing, and never two batches at once", async () => {
    const sink = new HeldAuditSink();
    const trail = aTrail(sink);
    const writes = ["a", "b", "c", "d"].map((token) => trail.write(signed(token)));
    await settle();
    expect(sink.waiting.map(({ entries }) => entries.length)).toEqual([1]);
    await sink.finish();
    expect(sink.waiting.map(({ entries }) => entries.length)).toEqual([3]);
    await sink.finish();
    expect(await Promise.all(writes)).toEqual([0, 1, 2, 3]);
    expect(verifyChain(sink.stored, PLAN_ID)).toMatchObject({ head: { seq: 4 } });
    // It goes on after it was idle.
    const later = trail.write(CLOSED);
    await sink.finish();
    expect(await later).toBe(4);
  });
});

describe("a sink that fails", () => {
  const error = new Error("disk full");
  test.each<[string, () => void | Promise<void>]>([
    [
      "throws",
      () => {
        throw error;
      },
    ],
    ["rejects", () => Promise.reject(error)],
    ["takes its time and rejects", () => settle().then(() => Promise.reject(error))],
  ])("and %s: the event is not written, and the next one has its number", async (_name, fail) => {
    const sink = new FailingAuditSink();
    const trail = aTrail(sink);
    await trail.write(signed("a"));
    sink.fail = fail;
    await expect(trail.write(signed("lost"))).rejects.toBe(error);
    await expect(trail.write(signed("lost too"))).rejects.toBe(error);
    sink.fail = undefined;
    expect(await trail.write(signed("b"))).toBe(1);
    expect(verifyChain(sink.entries, PLAN_ID)).toMatchObject({ head: { seq: 2 } });
    expect(JSON.stringify(sink.entries)).not.toContain("lost");
  });

  test("fails the whole batch, and not what waits behind it", async () => {
    const sink = new HeldAuditSink();
    const trail = aTrail(sink);
    const first = trail.write(signed("a"));
    const batch = Promise.allSettled([trail.write(signed("b")), trail.write(signed("c"))]);
    await sink.finish();
    expect(await first).toBe(0);
    const behind = trail.write(signed("d"));
    await sink.finish(error);
    expect((await batch).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await sink.finish();
    expect(await behind).toBe(1);
    expect(verifyChain(sink.stored, PLAN_ID)).toMatchObject({ head: { seq: 2 } });
  });

  test("with nothing at all is an error too", async () => {
    const sink = { append: () => Promise.reject() };
    await expect(aTrail(sink).write(CLOSED)).rejects.toBeUndefined();
  });
});

test("an event that is not JSON fails alone, and leaves no gap", async () => {
  const sink = new HeldAuditSink();
  const trail = aTrail(sink);
  const first = trail.write(signed("a"));
  const bad = { type: "outcome", decisionSeq: 0, status: "ok", durationMs: Number.NaN } as const;
  const batch = Promise.allSettled([trail.write(signed("b")), trail.write(bad), trail.write(signed("c"))]);
  await sink.finish();
  await first;
  await sink.finish();
  expect(await batch).toEqual([
    { status: "fulfilled", value: 1 },
    { status: "rejected", reason: expect.objectContaining({ code: "ERR_INVALID_JSON" }) },
    { status: "fulfilled", value: 2 },
  ]);
  expect(verifyChain(sink.stored, PLAN_ID)).toMatchObject({ head: { seq: 3 } });
  await expect(trail.write(bad)).rejects.toThrow("durationMs");
});

test("an event that is not JSON and comes alone does not reach the sink, and the trail goes on", async () => {
  const sink = new FailingAuditSink();
  const append = vi.spyOn(sink, "append");
  const trail = aTrail(sink);
  const bad = { type: "plan_signed", token: 1n } as unknown as AuditEvent;
  await expect(trail.write(bad)).rejects.toMatchObject({ code: "ERR_INVALID_JSON" });
  expect(append).not.toHaveBeenCalled();
  expect(await trail.write(CLOSED)).toBe(0);
});

test("a clock that gives no time fails the write", async () => {
  const sink = new FailingAuditSink();
  await expect(aTrail(sink, () => Number.NaN).write(CLOSED)).rejects.toThrow("at: NaN is not JSON");
  expect(sink.entries).toEqual([]);
});
