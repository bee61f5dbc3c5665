import { describe, expect, test } from "vitest";
import { ALICE, aPlan, aPolicy, aRule, claims } from "../../test/builders.ts";
import { compileToken } from "./compile-token.ts";
import { assertPolicy } from "./policy.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("the places that a token trusts", () => {
  const policy = assertPolicy({
    version: 1,
    default: "block",
    trust: [
      { tool: "read_*", path: "/from" },
      { tool: "list_files", path: "/name" },
    ],
    rules: [],
  });

  test("are those of the steps that a condition names", () => {
    const plan = aPlan(
      { tool: "read_mail", id: "mail" },
      { tool: "read_mail", id: "unused" },
      { tool: "read_mail" },
      { tool: "send_file", id: "sent" },
      { args: { to: { from: ["mail", "sent"] } } },
    );
    const { trusted } = compileToken(claims({ plan, policy }));
    expect([...(trusted ?? [])].map(([id, places]) => [id, places.map(({ path }) => path)])).toEqual([
      ["mail", ["/from"]],
      ["sent", []],
    ]);
  });

  test("are none if no condition names a source", () => {
    const plan = aPlan({ tool: "read_mail", id: "mail" });
    expect(compileToken(claims({ plan, policy })).trusted).toBeUndefined();
  });
});

describe("what a token says of a tool", () => {
  test("its steps in order, with their places in the plan", () => {
    const plan = aPlan({}, { tool: "read_file" }, { maxCalls: 2 });
    const steps = compileToken(claims({ plan })).tool("send_money")?.steps;
    expect(steps?.map(({ index, maxCalls }) => [index, maxCalls])).toEqual([
      [0, Number.POSITIVE_INFINITY],
      [2, 2],
    ]);
  });

  test("the rules that may match, for this person, up to the first that matches every call", () => {
    const policy = aPolicy(
      aRule({ id: "other-tool", match: { tool: "read_*" } }),
      aRule({ id: "other-person", match: { user: { email: "bob@*" } } }),
      aRule({ id: "some-calls", match: { args: { a: { eq: 1 } } } }),
      aRule({ id: "all-calls" }),
      aRule({ id: "never-reached", decision: "block" }),
    );
    const ids = (email: string) =>
      compileToken(claims({ policy, user: { email, roles: [], groups: [] } }))
        .tool("send_money")
        ?.rules.map(({ rule }) => rule.id);
    expect(ids(ALICE)).toEqual(["some-calls", "all-calls"]);
    // The same policy, compiled once, and another person.
    expect(ids("bob@acme.dev")).toEqual(["other-person"]);
    expect(ids(ALICE)).toEqual(["some-calls", "all-calls"]);
  });

  test("its fingerprint, by its own name only", () => {
    const plan = aPlan({}, { tool: "constructor" }, { tool: "__proto__" });
    const token = compileToken(claims({ plan, tools: { send_money: DIGEST } }));
    expect(token.tool("send_money")?.fingerprint).toBe(DIGEST);
    expect(token.tool("constructor")).toMatchObject({ fingerprint: undefined });
    expect(token.tool("__proto__")).toMatchObject({ fingerprint: undefined });
    const named = compileToken(claims({ plan, tools: Object.fromEntries([["__proto__", DIGEST]]) }));
    expect(named.tool("__proto__")?.fingerprint).toBe(DIGEST);
  });

  test.each(["read_file", "toString", "constructor", "__proto__", ""])("nothing of %j, which no step names", (name) => {
    expect(compileToken(claims()).tool(name)).toBeUndefined();
  });

  test("a tool is looked at once", () => {
    const token = compileToken(claims());
    expect(token.tool("send_money")).toBe(token.tool("send_money"));
  });

  test("two policies are not taken for each other, however many there are", () => {
    const decisionOf = (index: number) =>
      compileToken(claims({ policy: aPolicy(aRule({ id: `rule-${index}` })) })).tool("send_money")?.rules[0]?.rule.id;
    for (let index = 0; index < 50; index++) expect(decisionOf(index % 30)).toBe(`rule-${index % 30}`);
  });
});
