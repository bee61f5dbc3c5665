import { describe, expect, test } from "vitest";
import type { Json } from "../../../../core/json.ts";
import type { SourceMatch } from "../../../../core/sources/find-source.ts";
import { listOrigins } from "./list-origins.ts";

const TO: SourceMatch = { arg: "/to", from: "read", seq: 3 };

describe("where values came from", () => {
  test.each<[string, readonly string[], readonly SourceMatch[], readonly unknown[]]>([
    ["nothing is on record", [], [], []],
    ["the model wrote it", ["to"], [], [{ name: "to", value: "Bob", isOpen: true, sources: [] }]],
    ["a result", ["to"], [TO], [{ name: "to", value: "Bob", isOpen: true, sources: [TO] }]],
    ["a result, and it is fixed", [], [TO], [{ name: "to", value: "Bob", isOpen: false, sources: [TO] }]],
    [
      "what is open first",
      ["list"],
      [TO, { arg: "/list/*", from: "task" }],
      [
        { name: "list", value: ["a"], isOpen: true, sources: [{ arg: "/list/*", from: "task" }] },
        { name: "to", value: "Bob", isOpen: false, sources: [TO] },
      ],
    ],
    [
      "a place in an argument",
      ["/deep/to"],
      [
        { arg: "/deep", from: "read", seq: 1 },
        { arg: "/deep/other", from: "task" },
      ],
      [
        { name: "/deep/to", value: 5, isOpen: true, sources: [{ arg: "/deep", from: "read", seq: 1 }] },
        { name: "/deep/other", isOpen: false, sources: [{ arg: "/deep/other", from: "task" }] },
      ],
    ],
    [
      "places in a list",
      ["/list/*"],
      [{ arg: "/list", from: "task" }],
      [{ name: "/list/*", isOpen: true, sources: [{ arg: "/list", from: "task" }] }],
    ],
    [
      "a name with a slash",
      ["a/b"],
      [{ arg: "/a~1b", from: "task" }],
      [{ name: "a/b", isOpen: true, sources: [{ arg: "/a~1b", from: "task" }] }],
    ],
    [
      "a pointer that is none",
      [],
      [{ arg: "~", from: "task" }],
      [{ name: "~", isOpen: false, sources: [{ arg: "~", from: "task" }] }],
    ],
    ["a name of every object's", ["constructor"], [], [{ name: "constructor", isOpen: true, sources: [] }]],
  ])("%s", (_name, unpinned, sources, origins) => {
    const args: Json = { to: "Bob", list: ["a"], deep: { to: 5 } };
    expect(listOrigins({ unpinned, sources }, args)).toEqual(origins);
  });

  test("arguments that were redacted", () => {
    expect(listOrigins({ unpinned: ["to"] })).toEqual([{ name: "to", isOpen: true, sources: [] }]);
  });
});
