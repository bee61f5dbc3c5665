import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bestMs, expectProportional } from "../../test/growth.ts";
import { compileGlob } from "./glob.ts";
import { MAX_MATCH_WORK, PatternError } from "./text-matcher.ts";

const KIB = 1024;

describe("what a glob matches", () => {
  test.each([
    ["a star stays in its segment", "src/*.ts", "src/a.ts", true],
    ["a star does not cross a slash", "src/*", "src/a/b", false],
    ["a star may be empty inside a segment", "a*", "a", true],
    ["a star matches a dotfile", "dir/*", "dir/.env", true],
    ["a star matches a line feed", "*", "a\nb", true],
    ["a star does not stand for a segment that is not there", "dir/*", "dir/", false],
    ["a star does not give away the parent folder", "dir/*", "dir/..", false],
    ["a star does not give away the folder itself", "dir/*", "dir/.", false],
    ["a dot and a star is not `..`", "dir/.*", "dir/..", false],
    ["question marks are not `..`", "dir/??", "dir/..", false],
    ["a class of one dot is that dot written out", "dir/[.].", "dir/..", true],
    ["`..` written out matches", "dir/../*", "dir/../x", true],
    ["`..` is not resolved in the text", "*", "a/../b", false],
    ["a doubled slash in the text", "a/*", "a//b", false],
    ["a doubled slash in a longer text", "a/*/b", "a//b", false],
    ["a trailing slash in the text", "a/*", "a/b/", false],
    ["a trailing slash in the pattern", "a/*/", "a/b", false],
    ["a trailing slash in both", "a/*/", "a/b/", true],
    ["a doubled slash written out", "a//*", "a//b", true],
    ["a doubled slash written out is not a single one", "a//*", "a/b", false],
    ["two stars cross slashes", "a/**", "a/b/c", true],
    ["two stars at the end need a segment", "a/**", "a", false],
    ["two stars at the end need more than a slash", "a/**", "a/", false],
    ["two stars in the middle may be nothing", "a/**/b", "a/b", true],
    ["two stars do not stand for an empty segment", "a/**/b", "a//b", false],
    ["two stars do not stand for a trailing slash", "a/**", "a/b/", false],
    ["two stars do not stand for `..`", "a/**", "a/b/../c", false],
    ["two stars between two others do not stand for `..`", "**/a/**", "a/a/../b", false],
    ["two stars at the start stand for the root too", "**", "/etc", true],
    ["two stars at the start, then a name", "**/.env", "/app/.env", true],
    ["the root alone", "**", "/", false],
    ["two slashes are not the root", "**", "//etc", false],
    ["the root does not excuse a trailing slash", "**/a", "/a/", false],
    ["the root does not excuse an empty segment that two stars would swallow", "**//b/**", "/b//c", false],
    ["the root does not excuse an empty segment that another alternative has", "{**/a,b//x//*}", "/x//a", false],
    ["the root does not excuse `..`", "**", "/..", false],
    ["a leading star does not stand for the root, whatever follows it", "*/**/b", "/x/y/b", false],
    ["the root written out", "/**", "/etc/passwd", true],
    ["two stars match dotfiles", "**", ".git/config", true],
    ["two stars beside text are one star", "a**b", "a/b", false],
    ["an empty segment in one alternative only", "{a,b/}/*", "b//x", true],
    ["an empty segment in the other alternative", "{a,b/}/*", "a//x", false],
    ["an empty segment that another alternative has", "{a/**,b//*}", "a//x", false],
    ["an absolute URL", "https://example.com/*", "https://example.com/x", true],
    ["a URL of another host", "https://example.com/*", "https://example.com.evil.io/x", false],
    ["a URL with a doubled slash", "https://example.com/*", "https://example.com//x", false],
    ["braces", "{a,b}.{ts,js}", "b.js", true],
    ["a range in braces", "v{1..3}", "v2", true],
    ["a class", "[a-c]x", "bx", true],
    ["a negated class", "[!a-c]x", "bx", false],
    ["a class is one code point", "[😀]", "😀", true],
    ["a question mark is one code point", "?", "😀", true],
    ["a lone surrogate", "?", "\ud83d", true],
    ["a NUL is a character", "a?b", "a\0b", true],
    ["a leading `!` is text", "!a*", "!ab", true],
    ["a leading `!` does not negate", "!a*", "b", false],
    ["a leading `#` is text", "#a*", "#ab", true],
    ["an extglob is text", "+(a)*", "+(a)b", true],
    ["an extglob does not repeat", "+(a)*", "aa", false],
    ["an escaped star is text", "\\*", "*", true],
    ["an escaped star is no wildcard", "\\*", "a", false],
    ["a backslash in the text is not a slash", "a/*", "a\\b", false],
    ["a backslash in the text is a character", "*", "a\\b", true],
    ["case matters", "A*", "ab", false],
    ["Unicode is not normalised", "é*", "e\u0301x", false],
    ["the empty glob matches the empty text", "", "", true],
    ["the empty glob matches nothing else", "", "a", false],
    ["a star does not match the empty text", "*", "", false],
  ])("%s: %j on %j", (_name, pattern, text, expected) => {
    expect(compileGlob(pattern).matches(text)).toBe(expected);
  });

  test.each(["a/../b", "a/./b", "a//b", "a/b/", "./a", "/", "//", ".", "..", "C:/x", "{a}", "a b", "+(a|b)"])(
    "without a wildcard only the same text matches: %j",
    (pattern) => {
      const glob = compileGlob(pattern);
      expect(glob.matches(pattern)).toBe(true);
      const others = ["a/b", "b", "a", "a//b", "a/b/", "a/./b", "a/../b", "/a", `${pattern}/`, `/${pattern}`, ""];
      for (const other of others.filter((text) => text !== pattern)) expect(glob.matches(other)).toBe(false);
    },
  );

  test.each([
    ["*@Acme.com", "ann@aCME.COM", true],
    ["*@acme.com", "ann@acme.com.evil.io", false],
    ["Ann@Acme.com", "aNN@acme.COM", true],
    ["../A*", "../ab", true],
    ["*", "..", false],
  ])("ignoring case: %j on %j", (pattern, text, expected) => {
    expect(compileGlob(pattern, { ignoreCase: true }).matches(text)).toBe(expected);
  });

  const segment = fc.stringMatching(/^[ab.]{0,2}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join("/"));
  const part = fc.oneof(fc.constantFrom("**", "*", "?", "a*", "*.*", "*a*"), segment);
  const glob = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));

  test("agrees with the definition, whatever the text", () => {
    fc.assert(
      fc.property(glob, path, (pattern, text) => {
        expect(compileGlob(pattern).matches(text)).toBe(matchesFromRoot(pattern.split("/"), text.split("/")));
      }),
      { numRuns: 2000 },
    );
  });

  test("ignoring case, it matches whatever it matched before", () => {
    fc.assert(
      fc.property(glob, path, (pattern, text) => {
        const matches = compileGlob(pattern).matches(text);
        expect(compileGlob(pattern, { ignoreCase: true }).matches(text.toUpperCase())).toBe(matches);
      }),
    );
  });
});

test.each([
  ["too long", "a".repeat(1001), "at most 1000 characters"],
  ["deep nesting", `${"{a,".repeat(300)}b${"}".repeat(40)}`, 'at most 20 "{"'],
  ["two to the power of 25", "{a,b}".repeat(25), 'at most 20 "{"'],
  ["two to the power of 20", "{a,b}".repeat(20), "at most 32 alternatives"],
  ["a range", "{1..1000000}", "at most 32 alternatives"],
  ["one alternative too many", "{1..33}", "at most 32 alternatives"],
  ["nested sets", "{a,{b,{c,{d,e}}}}".repeat(4), "at most 32 alternatives"],
  ["one that empty alternatives would displace", `{{${",".repeat(33)}a},b}`, "at most 32 alternatives"],
  ["one that empty alternatives before others would displace", `{${",".repeat(32)}a,b}{,}`, "at most 32 alternatives"],
  ["one character of alternatives too many", `{{a..t}${"z".repeat(499)},z}`, "at most 10000 characters"],
  ["long alternatives", `{1..30}${"a".repeat(400)}`, "at most 10000 characters"],
  ["padded numbers", `{${"0".repeat(500)}1..30}`, "at most 10000 characters"],
  ["nothing", "{,}", "expand to nothing"],
  ["too many `**`", `${"**/a/".repeat(11)}b`, 'at most 10 "**" segments'],
])("a glob is refused: %s", (_name, pattern, message) => {
  expect(() => compileGlob(pattern)).toThrow(PatternError);
  expect(() => compileGlob(pattern)).toThrow(message);
});

test.each([
  ["1000 characters", "a".repeat(1000), "a".repeat(1000)],
  ["10000 characters of alternatives", `{a..t}${"z".repeat(499)}`, `t${"z".repeat(499)}`],
])("a glob may have %s", (_name, pattern, text) => {
  expect(compileGlob(pattern).matches(text)).toBe(true);
});

test("alternatives beside empty ones match", () => {
  const glob = compileGlob(`{{${",".repeat(30)}a},b}`);
  expect(["a", "b", ""].map((text) => glob.matches(text))).toEqual([true, true, false]);
});

test("all of the alternatives that are accepted match", () => {
  const glob = compileGlob("v{1..32}/*");
  for (let version = 1; version <= 32; version++) expect(glob.matches(`v${version}/x`)).toBe(true);
  expect(glob.matches("v101/x")).toBe(false);
});

describe("work", () => {
  test.each([
    ["*", 1024 * KIB],
    ["**", 1024 * KIB],
    ["**/*.ts", 1024 * KIB],
    ["https://example.com/*", 1024 * KIB],
    ["src/**/*.{ts,tsx,js}", 64 * KIB],
    ["*a-literal-of-forty-characters-0123456789*", 64 * KIB],
    ["**/node_modules/**", 64 * KIB],
  ])("an ordinary glob stays inside the budget: %j", (pattern, length) => {
    expect(compileGlob(pattern).work(length)).toBeLessThan(MAX_MATCH_WORK);
  });

  test.each([
    ["a long piece between stars", `*${"a".repeat(900)}b*`],
    ["many alternatives", `{1..32}/*a*b*`],
    ["many `**`", `${"**/*/".repeat(9)}**`],
    ["many parts between two `**`", `**/${"a/".repeat(100)}b/**`],
  ])("a costly glob passes the budget on a long text: %s", (_name, pattern) => {
    expect(compileGlob(pattern).work(64 * KIB)).toBeGreaterThan(MAX_MATCH_WORK);
  });

  // Whether a decision is blocked for its work depends on these: every machine must come to the same.
  test.each([
    ["plain text, whatever the length of the other", "a", false, 510, 0],
    ["another plain text", "{a,b}", false, 520, 0],
    ["a wildcard", "*", false, 1000, 16],
    ["another alternative with a wildcard", "{a*,b*}", false, 1500, 22],
    ["a text before the wildcard", "abc*", false, 1000, 16],
    ["two wildcards side by side", "??", false, 1000, 16],
    ["a piece between two stars", "*abcd*", false, 1000, 136],
    ["another segment", "a/*", false, 1000, 22],
    ["`**`", "**", false, 1000, 35],
    ["a segment between two `**`", "**/a/**", false, 1000, 145],
    ["a wildcard, ignoring case", "*", true, 1000, 76],
    ["a text with letters, ignoring case", "a/*", true, 1000, 142],
    ["a text without letters, ignoring case", "1/*", true, 1000, 82],
  ])("is the same number everywhere: %s", (_name, pattern, ignoreCase, fixed, perUnit) => {
    const { work } = compileGlob(pattern, { ignoreCase });
    expect([work(0), work(1) - work(0)]).toEqual([fixed, perUnit]);
  });

  test("without `**`, a text with too many segments is not even divided", () => {
    const text = "a/".repeat(200_000);
    const [fixed, any] = [compileGlob("*/*"), compileGlob("**/*a*/")];
    expect(bestMs(() => fixed.matches(text)) * 5).toBeLessThan(bestMs(() => any.matches(text)));
  });

  test("grows in proportion to the text", () => {
    const { work } = compileGlob("**/*a*/**/b?");
    expect(work(8_000_000) - work(0)).toBe(8 * (work(1_000_000) - work(0)));
  });
});

test.each([
  ["`..` after many hits of `**/a/**`", "**/a/**", (n: number) => `${"a/".repeat(n)}../b`],
  ["`.` after many hits", "**/a/**", (n: number) => `${"a/".repeat(n)}./b`],
  ["an empty segment after many hits", "**/a/**", (n: number) => `${"a/".repeat(n)}/b`],
  ["four stars", "*a*a*a*a*b", (n: number) => "a".repeat(2 * n)],
  ["a piece that almost matches", "*aaaaaaaab*", (n: number) => "a".repeat(2 * n)],
  ["several `**`", "**/a/**/a/**/a/**/b/**/c", (n: number) => `${"a/".repeat(n)}bb/c`],
  ["alternatives and `**`", "**/{a,b}/**/{a,b}/**/bb/c", (n: number) => `${"a/".repeat(n)}b/c`],
])("time grows in proportion to the text: %s", (_name, pattern, textOf) => {
  const glob = compileGlob(pattern);
  expectProportional(textOf, (text) => glob.matches(text));
});

/** The documentation of compileGlob, without any care for speed, for `*`, `?`, `**` and plain text. */
function matchesFromRoot(pattern: readonly string[], text: readonly string[]): boolean {
  if (matchesByDefinition(pattern, text)) return true;
  return pattern[0] === "**" && text[0] === "" && text.length > 1 && matchesByDefinition(pattern, text.slice(1));
}

function matchesByDefinition(pattern: readonly string[], text: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return text.length === 0;
  const [segment, ...others] = text;
  if (first === "**") {
    if (rest[0] === "**") return matchesByDefinition(rest, text);
    const isLast = rest.length === 0;
    if (isLast && text.length === 1) return isOrdinary(segment);
    if (!isLast && matchesByDefinition(rest, text)) return true;
    return isOrdinary(segment) && matchesByDefinition(pattern, others);
  }
  return segment !== undefined && segmentMatches(first, segment) && matchesByDefinition(rest, others);
}

function isOrdinary(segment: string | undefined): boolean {
  return segment !== undefined && segment !== "" && segment !== "." && segment !== "..";
}

function segmentMatches(pattern: string, segment: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === segment;
  const regex = pattern.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".");
  return isOrdinary(segment) && new RegExp(`^${regex}$`, "s").test(segment);
}
