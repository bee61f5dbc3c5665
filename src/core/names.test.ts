import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DECLARE_PLAN, isToolName, normalizeEmail, normalizeEmailText, RULE_ID } from "./names.ts";

test("the tool with which a model declares its plan", () => {
  expect(DECLARE_PLAN).toBe("declare_plan");
});

test.each<[string, unknown, boolean]>([
  ["letters, digits, _ and -", "github_list-Issues2", true],
  ["one character", "a", true],
  ["64 characters", "a".repeat(64), true],
  ["65 characters", "a".repeat(65), false],
  ["nothing", "", false],
  ["an inherited name", "__proto__", true],
  ["a line feed after it", "read\n", false],
  ["a dot", "a.b", false],
  ["a space", "a b", false],
  ["full-width letters", "ｒead", false],
  ["a Cyrillic letter", "reаd", false],
  ["a zero-width space", "re\u200bad", false],
  ["a number", 1, false],
  ["a boxed string", Object("read"), false],
])("isToolName: %s", (_name, value, is) => {
  expect(isToolName(value)).toBe(is);
});

test.each<[string, boolean]>([
  ["only-public-repo", true],
  ["a", true],
  ["rule-2", true],
  ["Rule", false],
  ["a_b", false],
  ["-a", false],
  ["a-", false],
  ["a--b", false],
  ["", false],
  ["a\n", false],
  ["é", false],
])("RULE_ID: %j", (id, is) => {
  expect(RULE_ID.test(id)).toBe(is);
});

test("RULE_ID does not backtrack", () => {
  expect(RULE_ID.test(`${"a-".repeat(500_000)}!`)).toBe(false);
});

describe("normalizeEmail gives one form", () => {
  test.each<[string, string, string]>([
    ["of ASCII letters in upper case", "Alice@ACME.Dev", "alice@acme.dev"],
    ["of composed and decomposed letters", "rene\u0301@acme.dev", "ren\u00e9@acme.dev"],
    ["of the Angstrom sign and the letter", "\u212b@acme.dev", "\u00c5@acme.dev"],
    ["of 254 characters", `${"a".repeat(245)}@acme.dev`, `${"a".repeat(245)}@acme.dev`],
    ["without a dot", "root@localhost", "root@localhost"],
  ])("%s", (_name, email, normal) => {
    expect(normalizeEmail(email)).toBe(normal);
    expect(normalizeEmail(normal)).toBe(normal);
  });
});

describe("normalizeEmail does not make two people one", () => {
  test.each<[string, string, string]>([
    ["a dotless i", "al\u0131ce@acme.dev", "alice@acme.dev"],
    ["a dotted capital I", "AL\u0130CE@acme.dev", "alice@acme.dev"],
    ["a long s", "ro\u017fe@acme.dev", "rose@acme.dev"],
    ["a sharp s", "stra\u00dfe@acme.dev", "strasse@acme.dev"],
    ["full-width letters", "\uff41lice@acme.dev", "alice@acme.dev"],
    ["a full-width at sign", "alice\uff20acme.dev@acme.dev", "alice@acme.dev"],
    ["a ligature", "\ufb01n@acme.dev", "fin@acme.dev"],
    ["a Cyrillic a", "\u0430lice@acme.dev", "alice@acme.dev"],
    ["an ideographic full stop", "alice@acme\u3002dev", "alice@acme.dev"],
    ["a superscript", "alice\u00b2@acme.dev", "alice2@acme.dev"],
  ])("%s", (_name, email, other) => {
    expect(normalizeEmail(email)).not.toBe(normalizeEmail(other));
  });
});

describe("normalizeEmail refuses", () => {
  test.each<[string, unknown]>([
    ["no at sign", "alice"],
    ["two at signs", "alice@acme.dev@evil.com"],
    ["nothing before it", "@acme.dev"],
    ["nothing after it", "alice@"],
    ["nothing", ""],
    ["a trailing space", "alice@acme.dev "],
    ["a leading space", " alice@acme.dev"],
    ["a no-break space", "alice\u00a0@acme.dev"],
    ["a trailing line feed", "alice@acme.dev\n"],
    ["a line separator", "alice@acme.dev\u2028"],
    ["a NUL", "alice\0@acme.dev"],
    ["a zero-width space", "al\u200bice@acme.dev"],
    ["a zero-width joiner", "al\u200dice@acme.dev"],
    ["a soft hyphen", "al\u00adice@acme.dev"],
    ["a byte order mark", "\ufeffalice@acme.dev"],
    ["a right-to-left override", "alice\u202e@acme.dev"],
    ["a combining grapheme joiner", "al\u034fice@acme.dev"],
    ["a Hangul filler", "al\u3164ice@acme.dev"],
    ["a variation selector", "alice\ufe0f@acme.dev"],
    ["a tag character", "alice\u{e0061}@acme.dev"],
    ["a private character", "alice\ue000@acme.dev"],
    ["a lone surrogate", "alice\ud800@acme.dev"],
    // NFC makes K, ; and ` of these.
    ["the Kelvin sign", "\u212aate@acme.dev"],
    ["the Greek question mark", "a\u037eb@acme.dev"],
    ["the Greek varia", "a\u1fefb@acme.dev"],
    ["255 characters", `${"a".repeat(246)}@acme.dev`],
    ["254 characters that NFC makes more", `${"\u0958".repeat(245)}@acme.dev`],
    ["a megabyte", `${"a".repeat(1_000_000)}@acme.dev`],
    ["a list", ["alice@acme.dev"]],
    ["a boxed string", Object("alice@acme.dev")],
    ["undefined", undefined],
  ])("%s", (_name, value) => {
    expect(normalizeEmail(value)).toBeUndefined();
  });
});

test("NFC makes ASCII of exactly the three characters that are refused", () => {
  const found: number[] = [];
  for (let code = 0x80; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    if (character.isWellFormed() && /[\0-\x7f]/.test(character.normalize("NFC"))) found.push(code);
  }
  expect(found).toEqual([0x37e, 0x1fef, 0x212a]);
  for (const code of found) expect(normalizeEmailText(String.fromCodePoint(code))).toBeUndefined();
});

test("a normal form is its own, has no upper-case ASCII and one at sign", () => {
  const local = fc.string({
    unit: fc.oneof(
      fc.constantFrom("A", "é", "É", "e\u0301", "+"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(local, local, (name, host) => {
      const email = normalizeEmail(`${name}@${host}`);
      if (email === undefined) return;
      expect(normalizeEmail(email)).toBe(email);
      expect(email).toMatch(/^[^@A-Z]+@[^@A-Z]+$/);
    }),
    { numRuns: 500 },
  );
});
