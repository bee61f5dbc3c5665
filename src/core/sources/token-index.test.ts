import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitText } from "./split-text.ts";
import { TokenIndex } from "./token-index.ts";

function free(): void {}

/** Whether a text has a value in it, in the results of a tool or, with `ignoreCase`, in the user's words. */
function has(text: string, value: string, ignoreCase = false): boolean {
  const index = new TokenIndex({ ignoreCase });
  index.add(text, 0);
  return index.find(value, free) !== undefined;
}

describe("a text has a value as whole tokens", () => {
  test.each<[string, string, boolean]>([
    ["The total is 12.50", "12.50", true],
    ["The total is 12.50", "50", false],
    ["The total is 12.50", "12", false],
    ["Write john.smith@x.org", "john.smith@x.org", true],
    ["Write john.smith@x.org", "smith@x.org", false],
    ["Write john.smith@x.org", "x.org", false],
    ["Write John.Smith@X.org", "john.smith@x.ORG", true],
    ["Write bob@x.org.evil.com", "bob@x.org", false],
    ["Write bob@x.org.", "bob@x.org", true],
    ["See https://x.org/a/b", "https://x.org/a", false],
    ["See https://x.org/a/b", "x.org", false],
    ["See https://x.org/a/b", "x.org/a/b", true],
    ["See x.org/a/b", "https://www.x.org/a/b", true],
    ["See www.x.org", "http://x.org/", true],
    ["See http://x.org/a?b=1", "x.org/a", false],
    ["See x.org/A", "x.org/a", false],
    ["Pay Bob Smith now", "Bob Smith", true],
    ["Pay Bob Smith now", "Bob  Smith\n", true],
    ["Pay Bob Smith now", "Smith Bob", false],
    ["Pay Bob Smith now", "Bob now", false],
    ["Pay Bobby Smithson", "Bob Smith", false],
    ["Pay Bob Smith now", "bob smith", false],
    ["Pay Bob, Smith", "Bob Smith", false],
    ["Dora's bill", "Dora", true],
    ["IBAN GB29 NWBK 6016", "GB29 NWBK 6016", true],
    ["IBAN GB29 NWBK 6016", "GB29NWBK6016", false],
    ["x\u200b", "x", false],
    ["x", "x\u200b", false],
    ["caf\u00e9", "cafe\u0301", true],
    ["cafe\u0301", "cafe", false],
    ["p\u0430y", "pay", false],
    ["\uff15\uff10", "50", false],
    ["1e2", "100", false],
    ["12.50", "12.5", false],
    ["anything", "", false],
    ["anything", " ", false],
    ["", "", false],
  ])("%j, %j: %s", (text, value, expected) => {
    expect(has(text, value)).toBe(expected);
  });

  test.each<[string, string, boolean]>([
    ["Pay BOB Smith", "bob smith", true],
    ["pay bob", "PAY BOB", true],
    ["See x.org/A", "X.ORG/a", true],
    ["Pay bobby", "BOB", false],
    ["Stra\u00dfe", "STRASSE", false],
    ["b\u0131ll", "BILL", false],
    ["\u00c9cole", "\u00e9cole", true],
  ])("in the task, where case does not matter: %j, %j: %s", (text, value, expected) => {
    expect(has(text, value, true)).toBe(expected);
  });
});

test.each<[string, number, boolean]>([
  ["It is 1000", 1000, true],
  ["It is 1,000", 1000, true],
  ["It is 1000.00", 1000, true],
  ["It is 1,000.50", 1000.5, true],
  ["It is 12,000", 12000, true],
  ["It is 1,000,000", 1000000, true],
  ["It is 9", 9, true],
  ["It is 999999999999999", 999999999999999, true],
  ["It is 1234567890123456", 1234567890123456, false],
  ["It is -5", -5, true],
  ["It is -5", 5, false],
  ["It is +5", 5, true],
  ["It is -0", 0, true],
  ["It is 0.10", 0.1, true],
  ["It is 1e3", 1000, false],
  ["It is 007", 7, false],
  ["It is 12.50", 50, false],
  ["It is 12.50", 12, false],
  ["It is 12.5.0", 12.5, false],
  ["It is 10,00", 1000, false],
  ["It is 1,0000", 10000, false],
  ["It is 0x10", 16, false],
  ["It is 5%", 5, true],
  ["It is $5", 5, true],
  ["It is 5k", 5, false],
  ["It is \uff15", 5, false],
  ["It is 9007199254740993", 9007199254740992, false],
  ["It is 0.30000000000000004", 0.3, false],
  ["It is Infinity", Number.MAX_VALUE, false],
])("numbers by value: %j, %d: %s", (text, value, expected) => {
  const index = new TokenIndex();
  index.add(text, 0);
  expect(index.findNumber(value) !== undefined).toBe(expected);
});

describe("a text stands alone", () => {
  test("no run goes from one into the next, and the newest counts", () => {
    const index = new TokenIndex();
    index.add("a b", 1);
    index.add("c a", 2);
    index.add("", 3);
    index.addNumber(7, 4);
    const found = ["a b", "b c", "c", "a", "c a", "a b c a", "7", "a 7"].map((value) => index.find(value, free));
    expect(found).toEqual([1, undefined, 2, 2, 2, undefined, 4, undefined]);
    expect(index.findNumber(7)).toBe(4);
    expect([index.find("A", free), index.find("C", free)]).toEqual([undefined, undefined]);
    // No text has such a number: it is there by its value.
    index.addNumber(1e21, 5);
    expect(index.findNumber(1e21)).toBe(5);
  });

  test("inherited names are ordinary words", () => {
    const index = new TokenIndex();
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect(index.find(name, free)).toBeUndefined();
      index.add(name, 0);
      expect(index.find(name, free)).toBe(0);
    }
  });
});

test("the search says what it compares, and can be stopped", () => {
  const index = new TokenIndex();
  index.add("a a b ".repeat(1000), 0);
  let spent = 0;
  expect(index.find("a a a", (work) => (spent += work))).toBeUndefined();
  expect(spent).toBeGreaterThan(2000);
  expect(() =>
    index.find("a a a", () => {
      throw new Error("enough");
    }),
  ).toThrow("enough");
});

test.each([
  ["a c", `${"a ".repeat(1000)}b c`],
  ["c a", `c b ${"a ".repeat(1000)}`],
])("what is rare is compared first: %j", (value, text) => {
  const index = new TokenIndex();
  index.add(text, 0);
  let spent = 0;
  expect(index.find(value, (work) => (spent += work))).toBeUndefined();
  expect(spent).toBeLessThan(10);
});

/** The same rules once more, as simply as they can be said: each run of tokens of each text, compared one by one. */
function naive(texts: readonly string[], value: string, ignoreCase: boolean): boolean {
  const fold = (text: string): string[] => splitText(text).map((token) => (ignoreCase ? token.toLowerCase() : token));
  const wanted = fold(value);
  if (wanted.length === 0) return false;
  return texts.some((text) => {
    const tokens = fold(text);
    return tokens.some((_, at) => wanted.every((token, index) => tokens[at + index] === token));
  });
}

describe("properties", { timeout: 60_000 }, () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    "B",
    "1",
    "50",
    ".",
    ",",
    "-",
    "/",
    "@",
    "'s",
    ":",
    "http://",
    "www.",
    " ",
    " ",
    "(",
    "x.org",
    "\u0301",
    "\u200b",
  );
  const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
  const texts = fc.array(text, { minLength: 1, maxLength: 4 });

  test("finds what a search without an index finds, and nothing else", () => {
    let found = 0;
    fc.assert(
      fc.property(texts, text, fc.boolean(), (given, value, ignoreCase) => {
        const index = new TokenIndex({ ignoreCase });
        for (const [origin, one] of given.entries()) index.add(one, origin);
        const isFound = index.find(value, free) !== undefined;
        expect(isFound).toBe(naive(given, value, ignoreCase));
        if (isFound) found++;
      }),
      { numRuns: 3000 },
    );
    expect(found).toBeGreaterThan(50);
  });

  test("finds every run of the tokens of a text, written as they are there", () => {
    const any = fc.oneof(text, fc.string({ unit: "grapheme", maxLength: 30 }), fc.lorem({ maxCount: 10 }));
    fc.assert(
      fc.property(any, fc.nat(20), fc.nat(5), (given, from, more) => {
        // Where the tokens of a text begin and end is where it can be cut in two without a change.
        const whole = splitText(given);
        const cuts = [...Array(given.length + 1).keys()].filter((at) => {
          const both = [...splitText(given.slice(0, at)), ...splitText(given.slice(at))];
          return both.join("\n") === whole.join("\n");
        });
        const value = given.slice(cuts[from % cuts.length], cuts[(from % cuts.length) + 1 + more]);
        fc.pre(splitText(value).length > 0);
        expect([value, has(given, value)]).toEqual([value, true]);
      }),
      { numRuns: 2000 },
    );
  });

  test("never finds a part of a word, whatever stands around it", () => {
    const letter = fc.constantFrom("a", "Z", "7", "\u00e9", "\u0430", "_", "\u200b", "\u4f60", "\uff11", "\u{1D400}");
    const word = fc.array(letter, { minLength: 1, maxLength: 4 }).map((letters) => letters.join(""));
    const joint = fc.constantFrom("", ".", "-", "@", "/", "&", "+");
    fc.assert(
      fc.property(word, joint, word, fc.boolean(), (one, between, two, isFirst) => {
        const given = `${one}${between}${two}`;
        fc.pre(splitText(given).length === 1);
        const value = isFirst ? one : two;
        expect(has(given, value)).toBe(false);
        expect(has(`so ${given}, yes`, value)).toBe(false);
        expect(has(given, given)).toBe(true);
      }),
    );
  });
});
