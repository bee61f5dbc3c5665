import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectProportional } from "../../../test/growth.ts";
import { splitText } from "./split-text.ts";

describe("splitText", () => {
  test.each<[string, string, string[]]>([
    ["nothing", "", []],
    ["white space only", " \t\n\u00a0\u2028", []],
    ["words", "Pay the rent", ["Pay", "the", "rent"]],
    ["punctuation alone", "Pay, please!", ["Pay", ",", "please", "!"]],
    ["the same symbol in a row", "a --- b", ["a", "---", "b"]],
    ["a decimal number", "It costs 12.50.", ["It", "costs", "12.50", "."]],
    ["thousands", "1,000,000 of 12,5", ["1,000,000", "of", "12,5"]],
    ["decimals behind a comma", "12,50 1.234,5€ 0,05 12,5000", ["12,50", "1.234,5", "€", "0,05", "12,5000"]],
    ["several of them", "12,50, 13,20", ["12,50", ",", "13,20"]],
    ["a list without spaces", "1,2,3 12,50,7", ["1", ",", "2", ",", "3", "12", ",", "50", ",", "7"]],
    ["no thousands of a word", "9,999 a,123", ["9,999", "a", ",", "123"]],
    ["a list of numbers", "1, 2,3,4", ["1", ",", "2", ",", "3", ",", "4"]],
    ["a number with its sign", "-5 and +5, but 10-5", ["-5", "and", "+5", ",", "but", "10-5"]],
    ["a fraction of one", "-.5 or .5", ["-", ".5", "or", ".5"]],
    ["an amount", "$1,200.50/month (10%)", ["$", "1,200.50/month", "(", "10", "%", ")"]],
    ["a time and a date", "2024-05-15T10:00 at 10:30:", ["2024-05-15T10:00", "at", "10:30", ":"]],
    ["a colon between words, and digits", "a:1 1:a 9:59 09:19", ["a", ":", "1", "1", ":", "a", "9:59", "09:19"]],
    ["an e-mail address", "<John.Smith+a@X.org>,", ["<", "john.smith+a@x.org", ">", ","]],
    ["an e-mail address at the end", "Write bob@x.org.", ["Write", "bob@x.org", "."]],
    ["two addresses", "a@x.org,b@x.org", ["a@x.org", ",", "b@x.org"]],
    ["what is no address keeps its case", "A@b@C", ["A@b@C"]],
    ["a handle", "@Bob", ["@", "Bob"]],
    ["a path", "/etc/passwd ../a/b ~/x ./y .env", ["/etc/passwd", "../a/b", "~/x", "./y", ".env"]],
    ["a path in quotes", '"/etc/passwd"', ['"', "/etc/passwd", '"']],
    ["a path with many parents", "./../../../a", ["./../../../a"]],
    ["a path is no host", "../a? /a.b/", ["../a", "?", "/a.b", "/"]],
    ["a repository", "acme/app#1", ["acme/app", "#", "1"]],
    ["an identifier", "snake_case kebab-case a.b\\c", ["snake_case", "kebab-case", "a.b\\c"]],
    [
      "what somebody has",
      "Dora's bill, James' too, o'clock",
      ["Dora", "'", "s", "bill", ",", "James", "'", "too", ",", "o'clock"],
    ],
    ["a curly apostrophe", "Dora\u2019s o\u2019clock", ["Dora", "\u2019", "s", "o\u2019clock"]],
    ["an address with an apostrophe", "d's@x.org o'brien@x.org", ["d's@x.org", "o'brien@x.org"]],
    ["a URL", "See https://www.x.org/a?b=c#d.", ["See", "x.org/a?b=c#d", "."]],
    ["a URL without scheme", "www.x.org, x.org/a", ["x.org", ",", "x.org/a"]],
    ["a URL's root", "http://x.org/ https://x.org", ["x.org", "x.org"]],
    ["a scheme in capitals", "HTTPS://WWW.x.org/A", ["x.org/A"]],
    ["a URL with a port", "x.org:8080 http://a:1/", ["x.org:8080", "a:1"]],
    ["a host with a query", "acme.dev?a=b acme.dev#c", ["acme.dev?a=b", "acme.dev#c"]],
    ["a URL in brackets", "(https://x.org/a) [https://x.org/b]", ["(", "x.org/a", ")", "[", "x.org/b", "]"]],
    ["a scheme of nothing", "http://!", ["http://", "!"]],
    ["a host of nothing", "www.@ x.org/ x.org? ", ["www", ".", "@", "x.org", "/", "x.org", "?"]],
    ["brackets in a URL", "https://x.org/a_(b)", ["x.org/a_(b)"]],
    ["square brackets in a URL", "https://x.org/a[b]", ["x.org/a[b]"]],
    [
      "a URL with brackets in brackets",
      "(x.org/a_(b)) [x.org/a[b]] x.org/c].",
      ["(", "x.org/a_(b)", ")", "[", "x.org/a[b]", "]", "x.org/c", "]", "."],
    ],
    ["a link of Markdown", "[x](https://x.org/a).", ["[", "x", "]", "(", "x.org/a", ")", "."]],
    ["a URL in angle brackets", "<https://x.org/a>", ["<", "x.org/a", ">"]],
    ["a user in a URL", "https://good.org@evil.org/", ["good.org@evil.org"]],
    ["composed and decomposed letters", "caf\u00e9 cafe\u0301", ["caf\u00e9", "caf\u00e9"]],
    ["decomposed letters after a long word", `${"a".repeat(40)} cafe\u0301`, ["a".repeat(40), "caf\u00e9"]],
    ["endless marks stay as they are", `e${"\u0301".repeat(31)}`, [`e${"\u0301".repeat(31)}`]],
    ["look-alike letters are others", "p\u0430y", ["p\u0430y"]],
    ["hidden characters are of the word", "a\u200bb \u00adc d\u2060", ["a\u200bb", "\u00adc", "d\u2060"]],
    ["a hidden character alone", "a \u200b b", ["a", "\u200b", "b"]],
    ["digits of another script", "\uff11\uff12 \u0661", ["\uff11\uff12", "\u0661"]],
    ["characters outside of the first plane", "\u{1F600}\u{1F600}a\u{1D400}", ["\u{1F600}\u{1F600}", "a\u{1D400}"]],
    ["a lone surrogate", "a\ud800b", ["a", "\ud800", "b"]],
    ["the last character of the first plane", "\uffffa", ["\uffff", "a"]],
    ["letters of a script without spaces", "\u4f60\u597d\u3002", ["\u4f60\u597d", "\u3002"]],
    ["an exponent", "1e2", ["1e2"]],
  ])("%s", (_name, text, tokens) => {
    expect(splitText(text)).toEqual(tokens);
  });

  const filled = (unit: string) => (size: number) => unit.repeat(Math.ceil(size / unit.length));
  test.each<[string, (size: number) => string]>([
    ["one word", filled("a")],
    ["joined words", filled("a.")],
    ["joints", filled(".-/@")],
    ["marks", filled("\u0301")],
    ["nearly too many marks", filled(`e${"\u0301".repeat(30)}`)],
    ["symbols", filled("(")],
    ["symbols in turn", filled("([")],
    ["spaces", filled(" ")],
    ["schemes", filled("http://")],
    ["hosts", filled("www.a")],
    ["a URL that is punctuation", (size) => `http://a${filled(".,!")(size)}`],
    ["hosts that go on as punctuation", filled("a.b/.,.,. ")],
    ["closing brackets", (size) => `http://a${")".repeat(size)}`],
    ["parents of folders", filled("../")],
    ["thousands", filled("1,234")],
    ["thousands that are none", filled("1,23")],
    ["digits before decimals", (size) => `${"1".repeat(size)},1`],
    ["decimals without end", (size) => `1,${"2".repeat(size)},3`],
    ["lists of long numbers", filled(`${"2".repeat(40)},`)],
    ["many of them", filled(`${"1".repeat(40)},1 `)],
    ["apostrophes", filled("a's")],
    ["signs", filled("-+")],
    ["hidden characters", filled("\u200b")],
    ["emoji", filled("\u{1F600}\u200d")],
    ["surrogates", filled("\udc00\ud800")],
    ["addresses", filled("A@b ")],
    ["an address without end", filled("A@")],
  ])("takes time in proportion to the text: %s", { timeout: 60_000 }, (_name, textOf) => {
    expectProportional(textOf, splitText);
  });

  test("loses nothing that is visible, and nothing changes when its tokens are split again", () => {
    const part = fc.oneof(
      fc.constantFrom(
        "a",
        "B",
        "1",
        "12",
        ".",
        ",",
        "-",
        "/",
        "@",
        "'",
        "s",
        ":",
        "http://",
        "www.",
        " ",
        "(",
        ")",
        "?",
        "\u0301",
        "\u200b",
        "~",
        "+",
      ),
      fc.string({ unit: "binary", maxLength: 2 }),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
        (text) => {
          const tokens = splitText(text);
          const bare = (given: string): string =>
            given
              .normalize("NFC")
              .toLowerCase()
              .replace(/https?:\/\/|www\.|[\s/]/g, "")
              // A mark may stand alone only because of a space before it.
              .normalize("NFC");
          expect(bare(tokens.join(""))).toBe(bare(text));
          expect(tokens.every((token) => token.length > 0 && !/\s/.test(token.replace(/\ufeff/g, "")))).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
