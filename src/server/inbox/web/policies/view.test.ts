import { expect, test } from "vitest";
import { readView, type View, writeView } from "./view.ts";

const DEFAULT: View = { replay: 50, onlyChanges: false, from: undefined, to: undefined };

test.each<[string, View]>([
  ["", DEFAULT],
  ["?replay=1000", { ...DEFAULT, replay: 1000 }],
  ["?replay=0&only=changes", { ...DEFAULT, replay: 0, onlyChanges: true }],
  ["?from=1&to=12", { ...DEFAULT, from: 1, to: 12 }],
  ["?from=3&to=editor", { ...DEFAULT, from: 3, to: "editor" }],
])("%s is written and read", (address, view) => {
  expect(writeView(view)).toBe(address);
  expect(readView(Object.fromEntries(new URLSearchParams(address)))).toEqual(view);
});

test.each(["replay=1001", "replay=-1", "replay=1.5", "replay=many", "only=1", "from=0", "to=../1", "from=1e3"])(
  "%s is passed over",
  (query) => {
    expect(readView(Object.fromEntries(new URLSearchParams(query)))).toEqual(DEFAULT);
  },
);
