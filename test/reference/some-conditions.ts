import fc from "fast-check";
import type { Json, Source } from "../../src/core/index.ts";
import type { Condition } from "./conditions.ts";
import { aValue } from "./some-values.ts";

/** A place in a result. */
export const aPlace: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("", "/k"),
  fc.constantFrom("/*", "/0", "/*/k", "/k/*", "/k/0", "/__proto__", "/constructor", "/length"),
);

const GLOBS = [
  "a",
  "*",
  "?",
  "a*",
  "*a",
  "**",
  "a/*",
  "**/a",
  "a/**",
  "a/**/b",
  "*/*",
  "{a,b}",
  "{a,}b",
  "[ab]",
  "[!a]*",
];
const MORE_GLOBS = [
  "!a",
  "!*",
  ".*",
  "a/..",
  "*/..",
  "/**",
  "/*",
  "[a]",
  "é",
  "*@x.org",
  "acme.dev/**",
  "{a,b}/{a,b}",
  "a/",
  "\\*",
  "a\\b",
  "{,a}",
];
const REGEXES = [
  "a",
  "a|b",
  ".*",
  "[ab/]+",
  "",
  "(a|ab)(b|)",
  "\\d+",
  "[^a]",
  "a{1,2}",
  "^a$",
  ".",
  "(?:a)?b",
  "[a-z.]+@x\\.org",
];
const POINTERS = ["/to", "/to/k", "/to/*", "/to/0", "/to/*/k", "/to/k/*", "/cc", "/cc/*", "/constructor", "/__proto__"];
const MORE_POINTERS = ["/length", "/", "/to/length", "/to/__proto__", "/to/constructor", "/to/k/k", "/to/", "/to/*/*"];

/** A place in the arguments; of one argument more often than not. */
export const aPointer: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("/to", "/to/*", "/to/k"),
  fc.constantFrom(...POINTERS, ...MORE_POINTERS),
);

const aSource: fc.Arbitrary<Source> = fc.oneof(
  fc.constantFrom("task", "task", "first", "second"),
  fc.record({ step: fc.constantFrom("first", "second"), path: aPlace }, { noNullPrototype: true }),
);

/** Conditions over the values of a pool, those of a plan or those of a policy. */
export function aCondition(pool: readonly Json[], isPlan: boolean): fc.Arbitrary<Condition> {
  const value = aValue(pool);
  const values = fc.array(value, { maxLength: 3 });
  const number = fc.constantFrom(...pool.filter((item) => typeof item === "number"), 0, 1.5, 50);
  const literals = pool.filter((item): item is string => typeof item === "string" && /^[\w./]+$/.test(item));
  const glob = fc.constantFrom(...GLOBS, ...MORE_GLOBS, ...literals, ...literals, "*", "**");
  const { condition } = fc.letrec<{ condition: Condition; simple: Condition }>((tie) => ({
    simple: fc.oneof(
      fc.record({ eq: value }),
      fc.record({ in: values }),
      fc.record({ glob }),
      fc.record({ regex: fc.constantFrom(...REGEXES) }),
      fc.record({ lte: number }),
      fc.record({ gte: number }),
      fc.record({ maxItems: fc.nat(2) }),
      ...(isPlan
        ? Array.from({ length: 4 }, () =>
            fc.record({ from: fc.oneof(aSource, fc.array(aSource, { minLength: 1, maxLength: 2 })) }),
          )
        : [
            fc.record({ notIn: fc.array(fc.constantFrom(...pool), { minLength: 1, maxLength: 3 }) }),
            fc.record({ notGlob: glob }),
            fc.record({ notGlob: fc.constantFrom("*", "**", "[!a]*") }),
          ]),
    ) as fc.Arbitrary<Condition>,
    condition: fc.oneof(
      { maxDepth: 2, depthIdentifier: "condition" },
      { weight: 8, arbitrary: tie("simple") },
      { weight: 3, arbitrary: fc.tuple(tie("simple"), tie("simple")).map(([one, other]) => ({ ...one, ...other })) },
      {
        weight: 2,
        arbitrary: fc.oneof(tie("simple"), fc.constant({})).map((rest) => ({ ...rest, optional: true as const })),
      },
      { weight: 1, arbitrary: fc.constant({ absent: true as const }) },
      { weight: 3, arbitrary: fc.record({ each: tie("condition") }) as fc.Arbitrary<Condition> },
      {
        weight: 3,
        arbitrary: fc.record({
          anyOf: fc.array(tie("condition"), { minLength: 1, maxLength: 2 }),
        }) as fc.Arbitrary<Condition>,
      },
    ),
  }));
  return condition.map((some) => ({ ...some }));
}

/** An object with these names, `__proto__` as its own too. */
export function named<T>(
  name: fc.Arbitrary<string>,
  value: fc.Arbitrary<T>,
  minLength: number,
): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(name, value), { minLength, maxLength: 2 }).map((entries) => Object.fromEntries(entries));
}
