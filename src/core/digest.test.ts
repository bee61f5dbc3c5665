import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyJson } from "../../test/arbitraries.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type DigestDomain, digest, portableSha256 } from "./digest.ts";

const DOMAINS: readonly DigestDomain[] = ["json", "call", "tool", "task", "audit"];

function nodeSha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

test.each(DOMAINS)("the format of the domain %s", (domain) => {
  const expected = nodeSha256(`intentlock/${domain}/v1\n{"a":1,"b":"é"}`);
  expect(digest({ b: "é", a: 1 }, domain)).toBe(`sha256:${expected}`);
});

test("the domain is json unless told", () => {
  expect(digest([])).toBe(digest([], "json"));
});

test("a digest of one domain is none of another", () => {
  expect(new Set(DOMAINS.map((domain) => digest({ a: 1 }, domain))).size).toBe(DOMAINS.length);
});

test.each<[string, unknown, unknown]>([
  ["text and a number", "1", 1],
  ["null and nothing", null, {}],
  ["an empty key", { "": 1 }, {}],
  ["one and a list of one", "a", ["a"]],
  ["composed and decomposed", "é", "e\u0301"],
  ["a value moved between keys", { a: "bc", d: "" }, { a: "b", d: "c" }],
])("tells apart: %s", (_name, a, b) => {
  expect(digest(a)).not.toBe(digest(b));
});

test("refuses what JSON cannot carry", () => {
  expect(() => digest({ a: undefined })).toThrow(expect.objectContaining({ code: "ERR_INVALID_JSON" }));
});

test("the hash is the one that is given", () => {
  expect(digest({ a: 1 }, "call", (text) => `<${text}>`)).toBe('sha256:<intentlock/call/v1\n{"a":1}>');
});

test("the portable hash is that of Node", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      expect(portableSha256(text)).toBe(nodeSha256(text));
    }),
  );
});

test("values have the same digest exactly if their canonical texts are the same", () => {
  fc.assert(
    fc.property(anyJson, anyJson, (a, b) => {
      expect(digest(a) === digest(b)).toBe(canonicalJson(a) === canonicalJson(b));
    }),
  );
});
