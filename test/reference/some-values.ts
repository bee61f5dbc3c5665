import fc from "fast-check";
import type { Json } from "../../src/core/index.ts";

const PLAIN: readonly Json[] = [
  ...["a", "b", "A", "", "ab", "a/b", "a//b", "a/", "a/..", "/a", ".a", "..", "!a", "é", "e\u0301", "50", "\u{1f600}"],
  ...["a\nb", "[a]", "1e2", "a/b/a"],
  ...[0, -0, 1, 2, 50, 1e2, 1.5, -1, true, false, null],
];

/** Texts and numbers that are each other's neighbours: parts, other cases, other spellings. */
const WORDS: readonly Json[] = [
  ...["Dora", "dora", "Dor", "the rent", "the", "rent", "é", "e\u0301", "true", "\u200b", " ", ".", "-"],
  ...["50", "12.50", "12,50", "1,250", "1,2,3", "2", "1e2", "1000", "1,000", "1000.00", "01000", "1e3", "-50", "$50"],
  ...["smith@x.org", "Smith@X.org", "john.smith@x.org", "acme.dev", "https://www.acme.dev/", "acme.dev/a?b=c"],
  ...["www.acme.dev", "p\u200bay", "pay", "paypal.com", "p\u0430ypal.com", "../a", "a"],
  ...[50, 12.5, 1250, 1000, 2, 100, -50, 0, 3, 1234567890123456, true, false, null, ""],
];

const GLUE = [" ", " ", " ", "  ", "\n", ", ", ". ", "'s ", " (", ") ", '" ', "", "-", ".", "/", ",", "@", "; ", ": "];

/** A text of some of these, with something between them. */
export function aText(pieces: readonly Json[]): fc.Arbitrary<string> {
  const piece = fc.constantFrom(...pieces).map((value) => (typeof value === "object" ? "" : String(value)));
  return fc
    .array(fc.tuple(piece, fc.constantFrom(...GLUE)), { minLength: 1, maxLength: 4 })
    .map((all) => all.map(([text, glue], index) => (index === all.length - 1 ? text : text + glue)).join(""));
}

/** The few values of a world, which its conditions, calls and results all take theirs from. */
export const aPool: fc.Arbitrary<{ readonly isWords: boolean; readonly pool: readonly Json[] }> = fc
  .boolean()
  .chain((isWords) =>
    fc
      .array(fc.constantFrom(...(isWords ? WORDS : PLAIN)), { minLength: 2, maxLength: 4 })
      .map((pool) => ({ isWords, pool })),
  );

export const aName: fc.Arbitrary<string> = fc.constantFrom(
  "to",
  "to",
  "to",
  "cc",
  "constructor",
  "__proto__",
  "length",
  "",
);

/** One of the values, or a list or an object of them. */
export function aValue(pool: readonly Json[]): fc.Arbitrary<Json> {
  const one = fc.constantFrom(...pool);
  const list = fc.array(one, { maxLength: 2 });
  const key = fc.constantFrom("k", "k", "constructor", "__proto__", "0", "");
  const object = fc.array(fc.tuple(key, one), { maxLength: 2 }).map((entries): Json => Object.fromEntries(entries));
  return fc.oneof(
    { weight: 6, arbitrary: one },
    { weight: 2, arbitrary: list },
    { weight: 1, arbitrary: object },
    { weight: 1, arbitrary: fc.array(fc.oneof(list, object), { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.oneof(list, object).map((inner): Json => ({ k: inner })) },
  );
}
