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
