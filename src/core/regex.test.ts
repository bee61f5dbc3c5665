import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectProportional } from "../../test/growth.ts";
import { compileRegex } from "./regex.ts";
import { MAX_MATCH_WORK, PatternError } from "./text-matcher.ts";

const KIB = 1024;
const email = "(?i)[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,63}";
const words = Array.from({ length: 100 }, (_, index) => `w${(index * 7919).toString(36)}`);

describe("what a regex matches", () => {
  test.each([
    ["the whole text", "a+", "aaa", true],
    ["not only the start", "a", "ab", false],
    ["not only the end", "b", "ab", false],
    ["no line feed after the end", "x", "x\n", false],
    ["no line feed after a dollar", "x$", "x\n", false],
    ["either alternative in full", "a|bc", "bc", true],
    ["no alternative in part", "a|bc", "abc", false],
    ["the longer alternative when only it is the whole text", "a|ab", "ab", true],
    ["a lazy repeat up to the end", "a+?", "aaa", true],
    ["anchors of its own", "^a$", "a", true],
    ["nothing but the empty text", "", "", true],
    ["not more than the empty text", "", "a", false],
    ["(?m) does not move the start", "(?m)^y", "x\ny", false],
    ["(?m) does not move the end", "(?m)x", "x\ny", false],
    ["(?m) does not move the end of a dollar", "(?m)x$", "x\ny", false],
    ["(?m) inside the text", "(?m)x$\n^y", "x\ny", true],
    ["without (?s) a dot is no line feed", ".*", "a\nb", false],
    ["with (?s) it is", "(?s).*", "a\nb", true],
    ["a dot is a carriage return", ".", "\r", true],
    ["case matters", "abc", "ABC", false],
    ["(?i) ignores case", "(?i)abc", "ABC", true],
    ["(?i) in a group ends with it", "(?:(?i)a)b", "AB", false],
    ["(?i) folds the Kelvin sign", "(?i)k", "\u212a", true],
    ["a dot is one code point", ".", "😀", true],
    ["two dots are not one", "..", "😀", false],
    ["a class is one code point", "[😀-😂]", "😁", true],
    ["a lone surrogate is a character", ".", "\ud83d", true],
    ["half a pair does not match the pair", "\ud83d", "😀", false],
    ["a NUL", "a\\x00b", "a\0b", true],
    ["a NUL is a dot", "a.b", "a\0b", true],
    ["\\d is ASCII", "\\d", "٣", false],
    ["\\w is ASCII", "\\w", "é", false],
    ["\\s is ASCII", "\\s", "\u00a0", false],
    ["Unicode classes", "\\p{Greek}+", "λόγος", true],
    ["Unicode is not normalised", "é", "e\u0301", false],
    ["a word boundary", "\\ba\\b.*", "a b", true],
    ["quoted text", "\\Qa.b\\E", "a.b", true],
    ["a class of nothing", "[^\\x00-\\x{10FFFF}]", "a", false],
    ["an e-mail", email, "Ann.Lee+x@Example.co.uk", true],
    ["an e-mail and more", email, "ann@example.com\nbcc: eve@evil.io", false],
    ["__proto__ is ordinary text", "[a-z_]+", "__proto__", true],
  ])("%s: %j on %j", (_name, source, text, expected) => {
    expect(compileRegex(source).matches(text)).toBe(expected);
  });

  // Large expressions take another way through re2js; it must agree.
  test.each([
    ["the whole text", "ab", true],
    ["no line feed after the end", "ab\n", false],
    ["no line feed before the end", "\nab", false],
    ["a code point", "😀b", true],
    ["the empty text", "", false],
    ["far from the end", `${"b".repeat(70)}ab`, true],
  ])("a large expression: %s", (_name, text, expected) => {
    expect(compileRegex("(?m)(?:.*a.{30}b|.{0,71}b)").matches(text)).toBe(expected);
  });

  const source = fc.letrec<{ regex: string; atom: string }>((tie) => ({
    atom: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "^", "$", "\\b", "\\n"),
      fc.tuple(tie("regex"), tie("regex")).map(([left, right]) => `(?:${left}|${right})`),
      fc
        .tuple(tie("regex"), fc.constantFrom("*", "+?", "?", "{2}", "{1,3}"))
        .map(([regex, times]) => `(?:${regex})${times}`),
    ),
    regex: fc.array(tie("atom"), { maxLength: 3 }).map((atoms) => atoms.join("")),
  })).regex;

  test("agrees with the regular expressions of JavaScript where the two languages agree", () => {
    fc.assert(
      fc.property(source, fc.stringMatching(/^[ab\n ]{0,8}$/), (regex, text) => {
        expect(compileRegex(regex).matches(text)).toBe(new RegExp(`^(?:${regex})$`, "u").test(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("any text is matched by its quotation, and by no other text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (text, other) => {
        const regex = compileRegex(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
        expect(regex.matches(text)).toBe(true);
        expect(regex.matches(other)).toBe(text === other);
      }),
    );
  });
});

test.each([
  ["a group of ours is closed", "foo)|(?:bar", "not an RE2 expression"],
  ["an open group", "(a", "missing closing )"],
  ["look-ahead", "(?=a)a", "not an RE2 expression"],
  ["look-behind", "(?<=a)b", "not an RE2 expression"],
  ["a back-reference", "(a)\\1", "invalid escape sequence"],
  ["a repeat above RE2's own bound", "a{1001}", "invalid repeat"],
  ["too long", "a".repeat(2001), "at most 2000 characters"],
  ["many counted repeats", "a{1000}".repeat(3), "at most 2000 parts"],
  ["a long group repeated", `(?:${"ab?".repeat(600)}){1000}`, "at most 2000 parts"],
  ["nested repeats", "(?:(?:(?:abc){10}){10}){10}", "at most 2000 parts"],
  ["a repeat after a class with a parenthesis", "[()]{1000}".repeat(3), "at most 2000 parts"],
  ["a repeat of an escaped bracket", "\\[{1000}".repeat(3), "at most 2000 parts"],
  ["a repeat that re2js applies across flags", "(?:a{10})?(?i){14}(?i){14}", "at most 2000 parts"],
  [
    "a repeat that re2js applies across an empty quotation",
    `${"ab".repeat(9)}(?:b{200})\\Q\\E{20}`,
    "at most 2000 parts",
  ],
  ["a repeated Unicode class", "\\pL{500}", "at most 2000 parts"],
  ["many Unicode classes", `[${"\\pL\\pN".repeat(100)}]`, "at most 10 Unicode classes"],
  ["many wide ranges that ignore case", `(?i)${"[a-\\x{1ffff}]".repeat(100)}`, "at most 10 Unicode classes"],
])("a regex is refused: %s", (_name, source, message) => {
  expect(() => compileRegex(source)).toThrow(PatternError);
  expect(() => compileRegex(source)).toThrow(message);
});

describe("the parts of an expression with its repeats written out", () => {
  test.each<[string, number]>([
    ["", 0],
    ["a b", 3],
    ["[a-z]", 1],
    ["[abc]", 1],
    ["[^abc]", 1],
    ["[]a]", 1],
    ["[^]a]", 1],
    ["[\\]a]", 1],
    ["[\\ a]", 1],
    ["\\n", 1],
    ["\\ ", 1],
    ["\\[", 1],
    ["ab\\*{3}", 5],
    ["\\pL", 20],
    ["\\p{Greek}", 20],
    ["\\Qa b\\E", 7],
    ["\\Q\\E", 0],
    ["\\Qabc", 5],
    ["\\Q(?)", 5],
    ["\\Qa{3}", 6],
    ["a*", 2],
    ["a+?", 3],
    ["(?:a)", 2],
    ["((a))", 3],
    ["(?i:ab)", 3],
    ["(?i)", 0],
    ["(?is)", 0],
    ["a{3}", 3],
    ["a{2,15}", 15],
    ["a{15,}", 15],
    ["a{0}", 1],
    ["ab{3}", 4],
    ["x(ab){3}", 10],
  ])("%j has %i", (source, size) => {
    const withOthers = (count: number) => `b{1000}cc{${count - 1}}${source}`;
    expect(() => compileRegex(withOthers(1000 - size))).not.toThrow("parts");
    expect(() => compileRegex(withOthers(1001 - size))).toThrow("at most 2000 parts");
  });
});

test.each([
  ["2000 characters", "a".repeat(2000)],
  ["10 Unicode classes", "\\pL".repeat(10)],
  ["10 ranges beyond ASCII", "[a-é]".repeat(10)],
  ["many ranges of ASCII", "[a-z]".repeat(100)],
])("a regex may have %s", (_name, source) => {
  expect(() => compileRegex(source)).not.toThrow();
});

test("a regex may not have 11 ranges beyond ASCII", () => {
  expect(() => compileRegex("[a-é]".repeat(11))).toThrow("at most 10 Unicode classes");
});

test("a refusal does not quote the expression", () => {
  expect(() => compileRegex("(?:secret-value")).toThrow(/^not an RE2 expression: [^`]*missing closing \)$/);
});

test.each(["(?:secret value", "(?:secret\nvalue"])("nor if it has white space: %j", (source) => {
  const error = (() => {
    try {
      return compileRegex(source);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(PatternError);
  expect(String(error)).not.toContain("secret");
  expect((error as Error).cause).toBeInstanceOf(Error);
});

describe("work", () => {
  test.each([
    ["an e-mail", email],
    ["[\\w.-]+", "[\\w.-]+"],
    ["an https URL", "https://[\\w.-]+(?::\\d+)?(?:/[^?#]*)?(?:\\?[^#]*)?"],
    ["one of 100 words", words.join("|")],
    ["a list of 100 words", `(?:(?:${words.join("|")}),?)*`],
    ["an IPv4 address", "(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)"],
    ["letters of any script", "[\\pL ]+"],
    ["nested repeats that V8 cannot do", "(?:(?:a+)+)+b"],
  ])("an ordinary regex takes a tenth of the budget on 64 KiB: %s", (_name, source) => {
    expect(compileRegex(source).work(64 * KIB)).toBeLessThan(MAX_MATCH_WORK / 10);
  });

  test("anything at all fits into the budget on 1 MiB", () => {
    expect(compileRegex("(?s).*").work(1024 * KIB)).toBeLessThan(MAX_MATCH_WORK);
  });

  test.each([
    ["two to the power of 20 states", ".*a.{20}b"],
    ["optional repeats", "(?:a?){400}a{400}"],
    ["nested counted repeats", "(?:x{1,100}){1,10}"],
    ["100 words anywhere", `(?s).*(?:${words.join("|")}).*`],
    ["a repeated Unicode class", "\\pL*\\pL{50}"],
  ])("a costly regex passes the budget on 64 KiB, not on a short text: %s", (_name, source) => {
    expect(compileRegex(source).work(64 * KIB)).toBeGreaterThan(MAX_MATCH_WORK);
    expect(compileRegex(source).work(200)).toBeLessThan(MAX_MATCH_WORK);
  });

  test("is double for an expression of many classes of characters, and some for no text at all", () => {
    const perUnit = (source: string) => compileRegex(source).work(1001) - compileRegex(source).work(1);
    expect(perUnit("[\\pL ]+")).toBe(2 * perUnit("a+"));
    expect(compileRegex("a+").work(0)).toBeGreaterThan(500);
    const apart = (count: number) =>
      `[${Array.from({ length: count }, (_, i) => `\\x{${(200 + 2 * i).toString(16)}}`).join("")}]`;
    expect([perUnit(apart(32)), perUnit(apart(33))]).toEqual([perUnit("a+"), 2 * perUnit("a+")]);
  });

  test("grows in proportion to the text", () => {
    for (const source of [email, ".*a.{20}b"]) {
      const { work } = compileRegex(source);
      expect(work(8_000_000) - work(0)).toBe(8 * (work(1_000_000) - work(0)));
    }
  });
});

test.each([
  ["nested repeats", "(?:(?:a+)+)+b", "a"],
  ["alternatives that overlap", "(?:a|aa|aaa|aaaa)*b", "a"],
  ["an exponential DFA", ".*a.{12}b", "abbabaaab"],
  ["optional repeats", "(?:a?){40}a{40}", "a"],
  ["many stars", ".*.*.*.*.*.*.*b", "a"],
])("time grows in proportion to the text: %s", (_name, source, unit) => {
  const regex = compileRegex(source);
  expectProportional(
    (size) => unit.repeat(size),
    (text) => regex.matches(text),
  );
});
