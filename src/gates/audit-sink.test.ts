import { expect, test } from "vitest";
import { chainEntry, startChain } from "../core/index.ts";
import { MemoryAuditSink } from "./audit-sink.ts";

test("a sink in memory keeps entries in the order in which they came", () => {
  const sink = new MemoryAuditSink();
  expect(sink.entries).toEqual([]);
  const { entry: first, head } = chainEntry(startChain("plan-1"), { type: "plan_signed", token: "a.b.c" }, { at: 1 });
  const { entry: last } = chainEntry(head, { type: "closed" }, { at: 2 });
  const { entry: other } = chainEntry(startChain("plan-2"), { type: "closed" }, { at: 3 });
  sink.append([first]);
  sink.append([other, last]);
  sink.append([]);
  expect(sink.entries).toEqual([first, other, last]);
});
