import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitText, type TextPart } from "./split-text.ts";

/** What a reader sees: hidden characters as `[code×count]`, look-alikes as `<text code>`, ends of lines as `⏎`. */
function see(part: TextPart): string {
  switch (part.kind) {
    case "plain":
      return part.text;
    case "line-end":
      return "⏎";
    case "hidden":
      return part.count === 1 ? `[${part.code}]` : `[${part.code}×${part.count}]`;
    case "lookalike":
      return `<${part.text} ${part.code}>`;
    default:
      return part satisfies never;
  }
}

function seen(text: string): string {
  return splitText(text).map(see).join("");
}

describe("hostile text", () => {
  test.each([
    ["turned around", "Invoice \u202Efdp.exe", "Invoice [U+202E]fdp.exe"],
    ["isolated", "\u2066a\u2069", "[U+2066]a[U+2069]"],
    ["an Arabic letter mark", "a\u061Cb", "a[U+061C]b"],
    ["spaces of no width", "bob\u200B\u200B\u200B@acme.dev", "bob[U+200B×3]@acme.dev"],
    ["a terminal's sequence", "\u001b[2J\u0000", "[U+001B][2J[U+0000]"],
    ["a carriage return that would hide what is before it", "bad\rgood", "bad[U+000D]good"],
    ["a tab", "\tx", "[U+0009]x"],
    ["spaces that are none of the usual", "a\u00A0\u00A0b\u3000c", "a[U+00A0×2]b[U+3000]c"],
    ["Hangul fillers, which are letters", "a\u3164b", "a[U+3164]b"],
    ["tags that spell words for models", "a\u{E0041}\u{E0042}", "a[U+E0041][U+E0042]"],
    ["private characters", "\uE000", "[U+E000]"],
    ["half of a pair", "a\uD800b", "a[U+D800]b"],
    ["separators of lines and paragraphs", "a\u2028b\u2029", "a[U+2028]b[U+2029]"],
    ["a pile of marks", `z${"\u0351".repeat(40)}a`, `z${"\u0351".repeat(3)}[U+0351×37]a`],
    ["variation selectors that carry bytes", "a\uFE0F\u{E0100}", "a[U+FE0F][U+E0100]"],
    ["a joiner that joins no emoji", "a\u200Db", "a[U+200D]b"],
    ["a Cyrillic letter in an address", "\u0430lice@acme.dev", "<\u0430 U+0430>lice@acme.dev"],
    ["Cyrillic before the at sign alone", "\u0430\u0441\u0435@acme.dev", "<\u0430\u0441\u0435 U+0430>@acme.dev"],
    ["Cyrillic in a host", "https://\u0430\u0441\u0435.dev/x", "https://<\u0430\u0441\u0435 U+0430>.dev/x"],
    ["a Greek letter in a word", "pay\u03BFut", "pay<\u03BF U+03BF>ut"],
    ["mathematical letters", "\u{1D41A}dmin", "<\u{1D41A} U+1D41A>dmin"],
    ["full-width letters and signs", "acme\uFF0Edev", "acme<\uFF0E U+FF0E>dev"],
  ])("with %s is seen as what it is", (_name, text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  test.each([
    ["nothing", ""],
    ["markup, which is text here", '<img src=x onerror="alert(1)">&amp;</script>'],
    ["other scripts", "Привет, мир. Ελληνικά. 漢字かな 한국어 עברית العربية"],
    ["accents, composed or not", "naïve cafe\u0301 Ångström"],
    ["emoji of several characters", "👨‍👩‍👧 ❤️ 🏳️‍🌈 👍🏽 🇫🇷 1️⃣"],
    ["what is often written", "3 × 4 ≤ 12 € – “quoted” … µ² №"],
  ])("%s stays as it is", (_name, text) => {
    expect(splitText(text)).toEqual(text === "" ? [] : [{ kind: "plain", text }]);
  });

  test("ends its lines where it did, and counts runs of one character together", () => {
    expect(seen("a\n\nb\r\n")).toBe("a⏎⏎b[U+000D]⏎");
    expect(splitText("\u200B".repeat(100_000))).toEqual([
      { kind: "hidden", code: "U+200B", name: "zero-width space", count: 100_000 },
    ]);
  });

  test("is all there, and none of it is shown that would not be seen", () => {
    const nasty = fc.constantFrom(
      "a",
      "\u0430",
      "\u202E",
      "\u200B",
      "\n",
      "\u0301",
      "👨‍👩‍👧",
      "\uFE0F",
      "<",
      "@",
      ".",
      " ",
    );
    const text = fc.oneof(fc.string({ unit: nasty }), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(text, (given) => {
        const parts = splitText(given);
        const count = parts.reduce((sum, part) => sum + lengthOf(part), 0);
        expect(count).toBe(Array.from(given).length);
        const shown = parts.map((part) => ("text" in part ? part.text : "")).join("");
        expect(shown.replaceAll(/\p{RGI_Emoji}/gv, "")).not.toMatch(/[\p{C}\p{DI}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

function lengthOf(part: TextPart): number {
  if (part.kind === "line-end") return 1;
  return part.kind === "hidden" ? part.count : Array.from(part.text).length;
}
