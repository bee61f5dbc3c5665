import { expect, test } from "vitest";
import { decide, summarize } from "../../../test/builders.ts";
import { createStepResults, type Json, parsePlan } from "../index.ts";

/** The rows of docs/sources.md. */
test.each<[value: Json, result: Json, verdict: "allow" | "block:not_in_plan"]>([
  ["50", "12.50", "block:not_in_plan"],
  ["50", "1,250 AB50 12,50", "block:not_in_plan"],
  ["smith@x.org", "john.smith@x.org", "block:not_in_plan"],
  ["smith@x.org", "Smith@X.org", "allow"],
  ["acme.dev", "https://www.acme.dev/", "allow"],
  ["acme.dev", "https://acme.dev/a?b=c", "block:not_in_plan"],
  ["Dora", "Dora's bill", "allow"],
  ["Dora", "(Dora)", "allow"],
  ["dora", "Dora", "block:not_in_plan"],
  ["the rent", "the  \n rent", "allow"],
  ["the rent", ["the", "rent"], "block:not_in_plan"],
  [1000, "1,000", "allow"],
  [1000, "1000.00", "allow"],
  [1000, "1e3 01000", "block:not_in_plan"],
  [1234567890123456, "1234567890123456", "block:not_in_plan"],
  [1234567890123456, { id: 1234567890123456 }, "allow"],
  [2, "1,2,3", "allow"],
  [12.5, "12,50", "block:not_in_plan"],
  [50, "12,50", "block:not_in_plan"],
  ["12,50", "12,50", "allow"],
  [50, "12,50, 13,20", "block:not_in_plan"],
  [12, "12,5000", "block:not_in_plan"],
  [5000, "12,5000", "block:not_in_plan"],
  ["50", "50.00", "block:not_in_plan"],
  ["1e2", "1e2", "allow"],
  [100, "1e2", "block:not_in_plan"],
  ["caf\u00e9", "cafe\u0301", "allow"],
  ["pay", "p\u200bay", "block:not_in_plan"],
  ["paypal.com", "p\u0430ypal.com", "block:not_in_plan"],
  [null, "x", "allow"],
  ["", "x", "allow"],
  [[], "x", "allow"],
  [{}, "x", "allow"],
  [" ", "x", "block:not_in_plan"],
  [["a", "b"], ["b", "a"], "allow"],
  [["a", "c"], ["b", "a"], "block:not_in_plan"],
  [{ a: 1 }, { a: 1 }, "block:not_in_plan"],
  ["a", '{"b":["a"]}', "allow"],
  ["Eve", "Do not pay Eve", "allow"],
  ["東京", "東京へ行く", "block:not_in_plan"],
  ["東京", "「東京」", "allow"],
  ["eve@evil.example", 'No results for "eve@evil.example"', "allow"],
])("%j in %j: %s", async (value, result, verdict) => {
  const steps = [
    { id: "s", tool: "read" },
    { tool: "pay", args: { to: { from: "s" } } },
  ];
  const plan = parsePlan({ goal: "Test", steps }, { tools: ["read", "pay"] });
  const results = createStepResults(plan);
  results.add(0, 1, result);
  const call = { callId: "c", tool: "pay", args: { to: value } };
  expect(summarize(await decide({ plan }, { call, evidence: { results } }))).toBe(verdict);
});
