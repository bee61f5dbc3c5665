import { expect, test, vi } from "vitest";
import { NOW, PLAN_ID } from "../../test/builders.ts";
import { portableSha256 } from "../core/digest.ts";
import type { AuditEvent } from "../core/index.ts";
import { MemoryAuditSink } from "./audit-sink.ts";
import { AuditTrail } from "./audit-trail.ts";

const CLOSED: AuditEvent = { type: "closed" };
const NO_JSON = { type: "plan_signed", token: 1n } as unknown as AuditEvent;

function aTrail() {
  const sink = new MemoryAuditSink();
  const append = vi.spyOn(sink, "append");
  return { sink, append, trail: new AuditTrail(PLAN_ID, { sink, clock: () => NOW * 1000, hash: portableSha256 }) };
}

test("an event that is not JSON fails alone, and the sink is not asked for it", async () => {
  const { append, sink, trail } = aTrail();
  await expect(trail.write(NO_JSON)).rejects.toThrow();
  expect(append).not.toHaveBeenCalled();
  expect(await trail.write(CLOSED)).toBe(0);
  expect(sink.entries).toHaveLength(1);
});

test("what waits is written together, without what is not JSON", async () => {
  const { append, sink, trail } = aTrail();
  const writes = [CLOSED, CLOSED, NO_JSON, CLOSED].map((event) => trail.write(event));
  expect(await Promise.allSettled(writes)).toMatchObject([
    { value: 0 },
    { value: 1 },
    { status: "rejected" },
    { value: 2 },
  ]);
  expect(append.mock.calls.map(([entries]) => entries.length)).toEqual([1, 2]);
  expect(sink.entries.map(({ seq }) => seq)).toEqual([0, 1, 2]);
});

test("without a sink, entries are numbered", () => {
  const trail = new AuditTrail(PLAN_ID, { sink: undefined, clock: () => NOW, hash: portableSha256 });
  expect([trail.write(CLOSED), trail.write(CLOSED)]).toEqual([0, 1]);
});
