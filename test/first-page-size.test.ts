import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type BuiltScript, type Bundle, limitFirstPage, measureFirstPage } from "../first-page-size.ts";

const KILOBYTE = randomBytes(1000).toString("latin1");

function aScript(fileName: string, imports: readonly string[], over: Partial<BuiltScript> = {}): BuiltScript {
  return { type: "chunk", fileName, code: KILOBYTE, isEntry: false, imports, ...over };
}

function aBundle(...scripts: readonly BuiltScript[]): Bundle {
  return { "style.css": { type: "asset" }, ...Object.fromEntries(scripts.map((one) => [one.fileName, one])) };
}

const entry = aScript("index.js", ["shared.js"], { isEntry: true });
const deep = aScript("shared.js", ["deeper.js", "index.js"]);

describe("the first page", () => {
  test("is its entry and all that is loaded with it, and not what is loaded later", () => {
    const one = measureFirstPage(aBundle(entry));
    expect(one).toBeGreaterThan(1000);
    const whole = aBundle(entry, deep, aScript("deeper.js", []), aScript("policy.js", ["shared.js"]));
    expect(measureFirstPage(whole)).toBe(3 * one);
  });

  test("is not built if it is too heavy", () => {
    const bytes = measureFirstPage(aBundle(entry));
    expect(() => limitFirstPage(bytes).generateBundle({}, aBundle(entry))).not.toThrow();
    expect(() => limitFirstPage(bytes - 1).generateBundle({}, aBundle(entry))).toThrow(/first page/);
  });
});
