import { expect, test } from "vitest";
import { entryId, readWanted } from "./use-wanted.ts";

test("an entry is found by its address", () => {
  expect(readWanted(`#${entryId(17)}`)).toBe(17);
});

test.each(["", "#", "#seq-", "#seq--1", "#seq-1.5", "#seq-1x", "#main", `#seq-${"9".repeat(16)}`])(
  "no entry is at %j",
  (hash) => {
    expect(readWanted(hash)).toBeUndefined();
  },
);
