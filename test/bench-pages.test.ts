import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fillPage, PAGES } from "../bench/fill-page.ts";
import { type Results, readResults } from "../bench/results.ts";

test.each(PAGES)("%s says what the benchmarks have saved: node bench/write-docs.ts", (page) => {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), "utf8");
  expect(fillPage(text, readResults)).toBe(text);
});

test("no results say where they were made", () => {
  const files = ["peers", "tokens", "check", "outbox", "server", "agentdojo", "agentdojo-sources", "mutation"].map(
    (name) => JSON.stringify(readResults(name)),
  );
  for (const text of files) expect(text).not.toMatch(/\/(?:work|home|root|tmp)\b|file:/);
});

const results: Results = {
  measured: { on: "2026-11-30", node: "24.0.0", cores: 2, note: "busy" },
  tables: [{ title: "times", columns: ["ms"], rows: [["one", "1"]] }],
  figures: { fastest: "1 ms" },
};

describe("a mark is filled with", () => {
  test.each([
    ["a table", "times", "\n\n| times | ms |\n| --- | ---: |\n| one | 1 |\n\n"],
    ["a figure", "fastest", "1 ms"],
    ["when and on what", "measured", "Node.js 24.0.0, 2 cores, 2026-11-30; busy"],
  ])("%s, whatever stood there", (_name, what, expected) => {
    const mark = `<!-- bench any: ${what} -->`;
    for (const old of ["", "2 ms", "\n| old |\n"]) {
      const page = `a ${mark}${old}<!-- /bench --> b ${mark}${old}<!-- /bench -->`;
      const filled = `${mark}${expected}<!-- /bench -->`;
      expect(fillPage(page, () => results)).toBe(`a ${filled} b ${filled}`);
    }
  });
});

describe("a page is refused", () => {
  test.each([
    ["for what was not measured", "<!-- bench any: slowest --><!-- /bench -->", "the results have no slowest"],
    ["for an inherited name", "<!-- bench any: constructor --><!-- /bench -->", "the results have no constructor"],
    ["for a mark without an end", "<!-- bench any: fastest -->", "1 marks begin, and 0 are whole"],
    [
      "for a mark that another one begins in",
      "<!-- bench any: fastest --> <!-- bench any: fastest --><!-- /bench -->",
      "2 marks begin, and 1 are whole",
    ],
  ])("%s", (_name, page, message) => {
    expect(() => fillPage(page, () => results)).toThrow(message);
  });
});
