import fc from "fast-check";
import { expect, test } from "vitest";
import { type Path, printPath } from "./path.ts";

test.each<[string, Path, string]>([
  ["nothing", [], ""],
  ["a field", ["rules"], "rules"],
  ["fields and indices", ["rules", 0, "match", "tool", 12], "rules[0].match.tool[12]"],
  ["an index first", [3, "a"], "[3].a"],
  ["a hyphen", ["max-calls", "x-y"], "max-calls.x-y"],
  ["an inherited name", ["__proto__", "constructor"], "__proto__.constructor"],
  ["an empty name", ["args", ""], 'args[""]'],
  ["a digit as a name", ["args", "0"], 'args["0"]'],
  ["a dot in a name", ["args", "a.b"], 'args["a.b"]'],
  ["quotes and line feeds", ['a"]\n.b'], '["a\\"]\\n.b"]'],
  ["a lone surrogate", ["\ud800"], '["\\ud800"]'],
  ["a name that is just not long", ["x".repeat(100)], "x".repeat(100)],
  ["a long name", ["x".repeat(101)], `["${"x".repeat(100)}"]`],
  ["twenty parts", Array<string>(20).fill("a"), `a${".a".repeat(19)}`],
  ["more than twenty parts", Array<string>(21).fill("a"), `a${".a".repeat(19)}…`],
])("%s", (_name, path, text) => {
  expect(printPath(path)).toBe(text);
});

test("it is one short line of well-formed text", () => {
  const part = fc.oneof(fc.nat(), fc.string({ unit: "binary", maxLength: 300 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 200 }), (path) => {
      const text = printPath(path);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toMatch(/[\n\r\0]/);
      expect(text.length).toBeLessThan(20 * 610);
    }),
  );
});
