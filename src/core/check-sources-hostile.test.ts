import { describe, expect, test } from "vitest";
import { aCall, anUnsignedToken, aPlan, aRule, claims, NOW, summarize } from "../../test/builders.ts";
import { check } from "./check.ts";
import type { PlanCondition } from "./condition.ts";
import { digest } from "./digest.ts";
import type { Json } from "./json.ts";
import { assertPolicy } from "./policy.ts";
import { createStepResults } from "./sources/step-results.ts";
import { indexTask } from "./sources/task-text.ts";

const READ = { tool: "read_mail", id: "mail" } as const;
const MIB = 1_000_000;
/** Results of a megabyte are read within seconds on a machine that is busy. */
const SLOW = { timeout: 60_000 };

function decide(condition: PlanCondition, value: Json, result: unknown, policy = claims().policy): string {
  const plan = aPlan(READ, { args: { to: condition } });
  const results = createStepResults(plan);
  results.add(0, 0, result);
  const token = anUnsignedToken({ plan, policy });
  const decision = check({
    token,
    call: aCall({ args: { to: value } }),
    used: [0, 0],
    now: NOW,
    evidence: { results },
  });
  return summarize(decision);
}

/** As often as it goes into a megabyte of JSON. */
function megabyte(unit: string): string {
  return unit.repeat(Math.floor(MIB / (JSON.stringify(unit).length - 2)));
}

describe("a megabyte of results", SLOW, () => {
  test.each<[string, string, string, string?]>([
    ["near-matches", "a a b ", "a a a"],
    ["one token", "a ", "a b"],
    ["one token, and a value of it", "a ", "a ".repeat(20), "allow"],
    ["a token that is all of it", "a", "a"],
    ["the same, as a value", "a", "a".repeat(MIB), "allow"],
    ["marks", "\u0301", "e\u0301"],
    ["letters with marks", "e\u0301", "e\u0301"],
    ["letters with marks, as words", "e\u0301 ", "\u00e9", "allow"],
    ["symbols", "(", "(("],
    ["symbols in turn", "()", "()", "allow"],
    ["joined letters", "a.", "a.a"],
    ["URL characters", "http://a/?#&=", "a/"],
    ["URLs", "http://x.org/a ", "x.org/b"],
    ["URLs, and one of them", "http://x.org/a ", "x.org/a", "allow"],
    ["addresses", "bob@x.org ", "ob@x.org"],
    ["hidden characters", "\u200b", "\u200b"],
    ["words with hidden characters", "b\u200bob ", "bob"],
    ["look-alike letters", "b\u043eb ", "bob"],
    ["fullwidth digits", "\uff15\uff10 ", "50"],
    ["exponents", "1e2 ", "100"],
    ["digits", "1", "1"],
    ["emoji", "\u{1F600}", "\u{1F600}"],
    ["quotes and backslashes", '\\"', "a"],
    ["brackets of JSON", "[", "a"],
    ["control characters", "\u0000", "a"],
    ["inherited names", "constructor __proto__ ", "__proto__ constructor", "allow"],
  ])("of %s", (_name, unit, value, expected = "block:not_in_plan") => {
    expect(decide({ from: "mail" }, value, megabyte(unit))).toBe(expected);
  });

  test.each<[string, unknown, Json, string?]>([
    ["keys", Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`key-${n}`, 1])), "key-5", "allow"],
    ["numbers", Array.from({ length: 140_000 }, (_, n) => n), [5, 139_999, 1e21]],
    ["huge numbers", Array.from({ length: 40_000 }, (_, n) => 1e300 * n), 1e300, "allow"],
    ["empty lists", Array.from({ length: 300_000 }, () => []), "a"],
    ["texts that look like JSON", Array.from({ length: 240_000 }, () => "["), "a"],
    ["texts that are JSON", Array.from({ length: 50_000 }, () => '{"a":1}'), "a", "allow"],
    ["one text in another in another", nest("bob", 12), "bob", "allow"],
  ])("of %s", (_name, result, value, expected = "block:not_in_plan") => {
    expect(decide({ from: "mail" }, value, result)).toBe(expected);
  });
});

/** JSON text of JSON text, so many times. */
function nest(text: string, times: number): string {
  return times === 0 ? text : nest(JSON.stringify([text]), times - 1);
}

describe("a search that would take too long is an invalid call, and is stopped", SLOW, () => {
  const NEAR = "a a b ".repeat(160_000);
  test.each<[string, PlanCondition, Json, unknown]>([
    [
      "many values that nearly match",
      { from: "mail" },
      Array(2000).fill("a b a"),
      `a b a ${"a a b c ".repeat(110_000)}`,
    ],
    [
      "a value that nearly matches at every place",
      { from: "mail" },
      "a ".repeat(10_000),
      `${"a ".repeat(9999)}b `.repeat(40),
    ],
    [
      "many alternatives",
      { anyOf: Array.from({ length: 100 }, () => ({ anyOf: Array(20).fill({ from: "mail" }) })) },
      "b b",
      NEAR,
    ],
    [
      "structures at a place",
      { from: { step: "mail", path: "/*" } },
      Array.from({ length: 100_000 }, () => [[1]]),
      Array.from({ length: 300_000 }, () => []),
    ],
    [
      "structures that differ at their end",
      { from: { step: "mail", path: "/*" } },
      [...Array(1000).fill(0), 2],
      Array.from({ length: 400 }, () => [...Array(1000).fill(0), 1]),
    ],
    ["a megabyte from several sources", { from: Array(5).fill("mail") }, "b".repeat(MIB), "a"],
  ])("%s", (_name, condition, value, result) => {
    expect(decide(condition, value, result)).toMatch(/^block:(?:invalid_call|not_in_plan)$/);
  });

  test.each<[string, PlanCondition, Json, unknown]>([
    [
      "many values that nearly match",
      { from: "mail" },
      Array(2000).fill("a b a"),
      `a b a ${"a a b c ".repeat(110_000)}`,
    ],
    [
      "structures at a place",
      { from: { step: "mail", path: "/*" } },
      Array.from({ length: 100_000 }, () => [1]),
      [[1], ...Array.from({ length: 300_000 }, () => [])],
    ],
  ])("for certain: %s", (_name, condition, value, result) => {
    expect(decide(condition, value, result)).toBe("block:invalid_call");
  });

  test("more sources than a record may have", () => {
    const plan = aPlan(READ, { args: { to: { from: "mail" } } });
    const results = createStepResults(plan);
    const values = Array.from({ length: 10_001 }, (_, seq) => `v${seq}`);
    for (const [seq, value] of values.entries()) results.add(0, seq, value);
    const verdict = (to: Json): string =>
      summarize(
        check({
          token: anUnsignedToken({ plan }),
          call: aCall({ args: { to } }),
          used: [0, 0],
          now: NOW,
          evidence: { results },
        }),
      );
    expect([verdict(values.slice(1)), verdict(values)]).toEqual(["allow", "block:invalid_call"]);
  });

  test("rules that ask what is open, of a list without end", () => {
    const rules = Array.from({ length: 300 }, (_, index) => ({
      id: `ask-${index}`,
      match: { unpinned: ["to", "/to/*"] },
      except: { tool: "send_money", unpinned: ["to"] },
      decision: "hold",
      approvers: { self: true },
    }));
    const policy = assertPolicy({ version: 1, default: "block", rules: [...rules, aRule()] });
    expect(decide({ from: "mail" }, Array(200_000).fill("a"), "a", policy)).toBe("block:invalid_call");
    expect(decide({ from: "mail" }, ["a"], "a", policy)).toBe("allow");
  });

  test("places of lists in lists that are empty", () => {
    const at = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`/to/*/*/${index}`, { eq: 1 }] as const));
    const plan = aPlan({ at });
    const call = aCall({ args: { to: Array.from({ length: 300_000 }, () => []) } });
    const decision = check({ token: anUnsignedToken({ plan }), call, used: [0], now: NOW });
    expect(decision).toMatchObject({ reason: "invalid_call" });
  });
});

test("a task of a megabyte is searched like a result", SLOW, () => {
  const task = { instruction: megabyte("Pay Bob ") };
  const plan = aPlan({ args: { to: { from: "task" } } });
  const token = anUnsignedToken({ plan, task: digest(task, "task") });
  const evidence = { task: indexTask(task) };
  const verdict = (to: string): string =>
    check({ token, call: aCall({ args: { to } }), used: [0], now: NOW, evidence }).verdict;
  expect([verdict("bob PAY bob"), verdict("Bob Bob")]).toEqual(["allow", "block"]);
});
