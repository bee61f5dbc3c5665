import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileGlob } from "./glob.ts";
import { PatternError, type TextMatcher } from "./text-matcher.ts";
import { indexByTool } from "./tool-index.ts";

type Patterns = readonly string[] | undefined;

function candidates(items: readonly Patterns[], tool: string): readonly Patterns[] {
  const options = { patternsOf: (patterns: Patterns) => patterns, prepare: (found: readonly Patterns[]) => found };
  return indexByTool(items, options).candidates(tool);
}

describe("finds", () => {
  test.each<[string, Patterns, string]>([
    ["an exact name", ["read"], "read"],
    ["what starts so", ["read_*"], "read_file"],
    ["nothing more than the start", ["read*"], "read"],
    ["a glob that begins with a star", ["*_file"], "read_file"],
    ["a class", ["[a-z]ead"], "read"],
    ["a class later on", ["r[a-z]ad"], "read"],
    ["a question mark", ["rea?"], "read"],
    ["alternatives", ["{read,write}_*"], "write_file"],
    ["alternatives later on", ["file_{read,write}"], "file_write"],
    ["an escape", ["re\\ad"], "read"],
    ["a leading globstar", ["**/read"], "/read"],
    ["an exclamation mark as itself", ["!read"], "!read"],
    ["any name, without patterns", undefined, "read"],
    ["an inherited name", ["constructor"], "constructor"],
    ["__proto__", ["__proto__"], "__proto__"],
    ["one of several", ["write", "re*"], "read"],
    ["a name that begins with a control character", ["\0a"], "\0a"],
  ])("%s", (_name, patterns, tool) => {
    expect(candidates([patterns], tool)).toEqual([patterns]);
  });
});

describe("passes over", () => {
  test.each<[string, Patterns, string]>([
    ["another name", ["read"], "write"],
    ["a longer name", ["read"], "read_file"],
    ["another start", ["read_*"], "write_file"],
    ["a shorter name", ["read_*"], "read"],
    ["a name that comes just before", ["read"], "real"],
    ["an inherited name", ["read"], "constructor"],
    ["every one, of none", [], "read"],
  ])("%s", (_name, patterns, tool) => {
    expect(candidates([patterns], tool)).toEqual([]);
  });
});

test("keeps the order, and lists nothing twice", () => {
  const items: Patterns[] = [["a*"], ["ab"], undefined, ["abc"], ["ab*", "ab?", "a*", "ab"], ["b"], ["a*"]];
  expect(candidates(items, "ab")).toEqual([items[0], items[1], items[2], items[4], items[6]]);
});

test("one name of some that begin alike", () => {
  const items: Patterns[] = [["ra"], ["rb"], ["rc*"], ["s*"]];
  const found = ["ra", "rb", "rcx", "sx", "r"].map((tool) => candidates(items, tool));
  expect(found).toEqual([[items[0]], [items[1]], [items[2]], [items[3]], []]);
});

test("what was prepared for a thousand names is remembered, and made again after more", () => {
  const names = Array.from({ length: 1001 }, (_, index) => `n${index}_`);
  let prepared = 0;
  const prepare = (found: readonly string[]): readonly string[] => {
    prepared++;
    return found;
  };
  const index = indexByTool(names, { patternsOf: (name) => [name], prepare });
  const counts = [...names.slice(0, 1000), "n0_", "n1000_", "n0_", "n1000_"].map((name) => {
    const before = prepared;
    expect(index.candidates(name)).toEqual([name]);
    return prepared - before;
  });
  expect(counts).toEqual([...Array.from({ length: 1000 }, () => 1), 0, 1, 1, 0]);
});

// Of few characters, so that they often match and often nearly do.
const aName = fc.string({ unit: fc.constantFrom("a", "b", "_", "/", ".", "A"), maxLength: 6 });
const aPattern = fc.string({
  unit: fc.constantFrom(
    "a",
    "b",
    "_",
    "/",
    ".",
    "*",
    "**",
    "?",
    "[ab]",
    "[!a]",
    "[",
    "]",
    "{a,b}",
    "{",
    "}",
    "\\",
    "!",
  ),
  maxLength: 6,
});

function compile(pattern: string): TextMatcher | undefined {
  try {
    return compileGlob(pattern);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

test("never passes over what a glob matches", () => {
  let matched = 0;
  fc.assert(
    fc.property(fc.array(fc.array(aPattern, { maxLength: 3 }), { maxLength: 8 }), aName, (items, tool) => {
      const meant = items.filter((patterns) => patterns.some((pattern) => compile(pattern)?.matches(tool)));
      matched += meant.length;
      const found = candidates(items, tool);
      expect(found.filter((item) => meant.includes(item as string[]))).toEqual(meant);
      expect(found).toEqual(items.filter((item) => found.includes(item)));
    }),
    { numRuns: 2000 },
  );
  expect(matched).toBeGreaterThan(100);
});
