import { expect, test } from "vitest";
import type { InboxItem } from "../../../../core/api/holds.ts";
import type { DecisionRecord } from "../../../../core/audit.ts";
import { listArguments } from "./list-arguments.ts";

function list(decided: readonly unknown[], held?: unknown): readonly string[] {
  const entries = decided.map((args, seq) => {
    const event = { type: "decision", ...(args !== undefined && { args }) } as DecisionRecord;
    return { seq, at: 0, receivedAt: 0, event };
  });
  const holds = held === undefined ? [] : [{ args: held } as InboxItem];
  return listArguments({ entries, holds }).map(({ where, args }) => `${where}: ${JSON.stringify(args)}`);
}

test.each<[string, readonly unknown[], unknown, readonly string[]]>([
  ["of one decision", [{ a: 1 }], undefined, ['entry 0: {"a":1}']],
  [
    "that are the same, once",
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    { a: 1, b: [2] },
    ['entry 0: {"a":1,"b":[2]}'],
  ],
  ["that are a list", [[1], [1]], undefined, ["entry 0: [1]"]],
  ["of the hold, where they were redacted", [undefined], { a: 1 }, ['the hold: {"a":1}']],
  ["nowhere", [undefined], undefined, []],
  [
    "that are others than were approved, apart",
    [{ to: "landlord" }, { to: "eve" }],
    { to: "landlord" },
    ['entry 0: {"to":"landlord"}', 'entry 1: {"to":"eve"}'],
  ],
])("arguments %s", (_name, decided, held, listed) => {
  expect(list(decided, held)).toEqual(listed);
});
