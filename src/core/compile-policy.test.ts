import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { aToolName, aUser, policyDocument, someArgs } from "../../test/arbitraries.ts";
import { ALICE, aPolicy, aRule } from "../../test/builders.ts";
import type { User } from "./claims.ts";
import { compileCondition } from "./compile-condition.ts";
import { compilePolicy } from "./compile-policy.ts";
import { compileGlob } from "./glob.ts";
import type { Json } from "./json.ts";
import { newMatching } from "./matching.ts";
import { normalizeEmail } from "./names.ts";
import { assertPolicy, type Match, type Policy, type PolicyRule } from "./policy.ts";

/** How often any glob was matched with anything. */
const looked = vi.hoisted(() => ({ times: 0 }));
vi.mock(import("./glob.ts"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    compileGlob: (...given) => {
      const { work, matches } = original.compileGlob(...given);
      return { work, matches: (text) => ++looked.times > 0 && matches(text) };
    },
  };
});

function aPerson(over: Partial<User> = {}): User {
  return { email: ALICE, roles: ["member"], groups: [], ...over };
}

/** The ids of the rules that are left for a tool and a person. */
function rulesFor(policy: Policy, tool: string, user: User = aPerson()): string[] {
  return compilePolicy(policy)
    .rulesFor(tool, user)
    .map(({ rule }) => rule.id);
}

/** The id of the first rule that matches a call. */
function firstMatch(
  policy: Policy,
  tool: string,
  args: Record<string, Json>,
  user: User = aPerson(),
): string | undefined {
  const rules = compilePolicy(policy).rulesFor(tool, user);
  return rules.find(({ matches }) => matches(newMatching(args)))?.rule.id;
}

describe("a match", () => {
  const anyTool = { inPlan: true };
  test.each<[string, Match, { tool?: string; args?: Record<string, Json>; user?: Partial<User> }, boolean]>([
    ["a tool's glob", { tool: "github_*" }, { tool: "github_list" }, true],
    ["another tool", { tool: "github_*" }, { tool: "gitlab_list" }, false],
    ["one of several globs", { tool: ["a", "read_*"] }, { tool: "read_file" }, true],
    ["none of several globs", { tool: ["a", "b"] }, { tool: "ab" }, false],
    ["another case", { tool: "read_file" }, { tool: "Read_file" }, false],
    ["a tool named __proto__", { tool: "__proto__" }, { tool: "__proto__" }, true],
    ["a tool named constructor", { tool: "read" }, { tool: "constructor" }, false],
    ["in the plan", { inPlan: true }, {}, true],
    ["not in the plan, which calls here always are", { inPlan: false }, {}, false],
    ["an argument", { args: { x: { eq: 1 } } }, { args: { x: 1 } }, true],
    ["another argument", { args: { x: { eq: 1 } } }, { args: { x: 2 } }, false],
    ["a missing argument", { args: { x: { eq: 1 } } }, {}, false],
    ["an argument missing as it should", { args: { x: { notIn: [1] } } }, {}, true],
    ["an inherited argument", { args: { toString: { notGlob: "x" }, constructor: { eq: 1 } } }, {}, false],
    ["one argument of two", { args: { x: { eq: 1 }, y: { eq: 2 } } }, { args: { x: 1 } }, false],
    ["the other of two", { args: { x: { eq: 1 }, y: { eq: 2 } } }, { args: { y: 2 } }, false],
    ["both of two", { args: { x: { eq: 1 }, y: { eq: 2 } } }, { args: { x: 1, y: 2 } }, true],
    ["a place", { at: { "/x/y": { eq: 1 } } }, { args: { x: { y: 1 } } }, true],
    ["another place", { at: { "/x/y": { eq: 1 } } }, { args: { "/x/y": 1, x: { z: 1 } } }, false],
    ["an open argument that is right", { args: { x: { eq: 1 } }, unpinned: ["y"] }, { args: { x: 1, y: 2 } }, true],
    [
      "an open argument beside a wrong one",
      { args: { x: { eq: 1 } }, unpinned: ["y"] },
      { args: { x: 2, y: 2 } },
      false,
    ],
    ["a right argument and nothing open", { args: { x: { eq: 1 } }, unpinned: ["y"] }, { args: { x: 1 } }, false],
    ["one of two that are open", { unpinned: ["x", "y"] }, { args: { y: 2 } }, true],
    ["a role", { ...anyTool, user: { role: "admin" } }, { user: { roles: ["member", "admin"] } }, true],
    ["another role", { ...anyTool, user: { role: "admin" } }, { user: { roles: ["member"] } }, false],
    ["a group", { user: { group: "intern" } }, { user: { groups: ["intern"] } }, true],
    ["a group in another case", { user: { group: "intern" } }, { user: { groups: ["Intern"] } }, false],
    ["a role is no group", { user: { group: "admin" } }, { user: { roles: ["admin"] } }, false],
    ["all of user", { user: { role: "admin", group: "g" } }, { user: { roles: ["admin"] } }, false],
    ["tool and user", { tool: "t", user: { role: "admin" } }, { tool: "u", user: { roles: ["admin"] } }, false],
    ["an e-mail", { user: { email: "*@acme.dev" } }, { user: { email: "alice@acme.dev" } }, true],
    ["an e-mail in another case", { user: { email: "*@Acme.dev" } }, { user: { email: "Alice@ACME.DEV" } }, true],
    [
      "an e-mail with more after it",
      { user: { email: "*@acme.dev" } },
      { user: { email: "a@acme.dev.evil.com" } },
      false,
    ],
    [
      "an e-mail with two at signs",
      { user: { email: "*@acme.dev" } },
      { user: { email: "eve@evil.com@acme.dev" } },
      false,
    ],
    ["an e-mail with a line feed", { user: { email: "*@acme.dev" } }, { user: { email: "eve@acme.dev\n" } }, false],
    [
      "an e-mail with the Kelvin sign",
      { user: { email: "kate@acme.dev" } },
      { user: { email: "\u212aate@acme.dev" } },
      false,
    ],
    [
      "an e-mail with a dotless i",
      { user: { email: "alice@acme.dev" } },
      { user: { email: "al\u0131ce@acme.dev" } },
      false,
    ],
    [
      "an e-mail in full width",
      { user: { email: "alice@acme.dev" } },
      { user: { email: "\uff41lice@acme.dev" } },
      false,
    ],
    [
      "an e-mail with a zero-width space",
      { user: { email: "*@acme.dev" } },
      { user: { email: "al\u200bice@acme.dev" } },
      false,
    ],
    [
      "an e-mail in another normalisation",
      { user: { email: "ren\u00e9@*" } },
      { user: { email: "rene\u0301@acme.dev" } },
      true,
    ],
  ])("%s", (_name, match, { tool = "t", args = {}, user = {} }, matches) => {
    const policy = aPolicy(aRule({ id: "rule", match }));
    expect(firstMatch(policy, tool, args, aPerson(user))).toBe(matches ? "rule" : undefined);
  });
});

describe("an exception", () => {
  test.each<[string, Match, { tool?: string; args?: Record<string, Json>; user?: Partial<User> }, boolean]>([
    ["of the tool", { tool: "t" }, {}, false],
    ["of another tool", { tool: "u" }, {}, true],
    ["of the argument", { args: { x: { eq: 1 } } }, { args: { x: 1 } }, false],
    ["of another argument", { args: { x: { eq: 1 } } }, { args: { x: 2 } }, true],
    ["of a missing argument", { args: { x: { eq: 1 } } }, {}, true],
    ["of the person", { user: { role: "admin" } }, { user: { roles: ["admin"] } }, false],
    ["of another person", { user: { role: "admin" } }, {}, true],
    [
      "all of it must match: it does",
      { tool: "t", user: { role: "member" }, args: { x: { eq: 1 } } },
      { args: { x: 1 } },
      false,
    ],
    ["all of it must match: another tool", { tool: "u", args: { x: { eq: 1 } } }, { args: { x: 1 } }, true],
    [
      "all of it must match: another person",
      { tool: "t", user: { role: "admin" }, args: { x: { eq: 1 } } },
      { args: { x: 1 } },
      true,
    ],
    ["of every planned call", { inPlan: true }, {}, false],
    ["of no planned call", { inPlan: false }, {}, true],
  ])("%s", (_name, except, { tool = "t", args = {}, user = {} }, matches) => {
    const policy = aPolicy(aRule({ id: "rule", match: { tool: "*" }, except }));
    expect(firstMatch(policy, tool, args, aPerson(user))).toBe(matches ? "rule" : undefined);
  });
});

describe("rulesFor", () => {
  test("keeps the order", () => {
    const match = { args: { x: { eq: 1 } } };
    const policy = aPolicy(aRule({ id: "b", match }), aRule({ id: "a", match }), aRule({ id: "c", match }));
    expect(rulesFor(policy, "t")).toEqual(["b", "a", "c"]);
  });

  test("stops at a rule that takes every call", () => {
    expect(rulesFor(aPolicy(aRule({ id: "all" }), aRule({ id: "never" })), "t")).toEqual(["all"]);
  });

  test("does not stop at one with an exception", () => {
    const except = { args: { x: { eq: 1 } } };
    expect(rulesFor(aPolicy(aRule({ id: "most", except }), aRule({ id: "rest" })), "t")).toEqual(["most", "rest"]);
  });

  test("looks at a glob that may match once for each tool, however many rules share it, and never again", () => {
    const rules = Array.from({ length: 1000 }, (_, index) =>
      aRule({ id: `r${index}`, match: { tool: [`a${index % 10}*`, `*${index % 10}`] } }),
    );
    const policy = aPolicy(...rules);
    const before = looked.times;
    expect(rulesFor(policy, "a7")).toEqual(["r7"]);
    // Both globs of each rule for another tool, and the first of its own.
    expect(looked.times - before).toBe(19);
    for (let asked = 0; asked < 100; asked++) rulesFor(policy, "a7", aPerson({ groups: [`g${asked}`] }));
    expect(looked.times - before).toBe(19);
  });

  test("does not mix up people of one tool", () => {
    const policy = aPolicy(aRule({ id: "admins", match: { user: { role: "admin" } } }), aRule({ id: "all" }));
    const admin = aPerson({ roles: ["admin"] });
    expect([rulesFor(policy, "t", admin), rulesFor(policy, "t"), rulesFor(policy, "t", admin)]).toEqual([
      ["admins"],
      ["all"],
      ["admins"],
    ]);
  });

  test("answers the same for ever new tools", () => {
    const policy = aPolicy(aRule({ id: "odd", match: { tool: "*1" } }), aRule({ id: "all" }));
    for (let index = 0; index < 2500; index++) expect(rulesFor(policy, `t${index}1`)[0]).toBe("odd");
    expect(rulesFor(policy, "t01")).toEqual(["odd"]);
  });
});

describe("compilePolicy", () => {
  test("compiles one policy once", () => {
    const policy = aPolicy();
    expect(compilePolicy(policy)).toBe(compilePolicy(policy));
  });

  test("does not take an equal policy for the same", () => {
    expect(compilePolicy(aPolicy())).not.toBe(compilePolicy(aPolicy()));
  });
});

describe("properties", { timeout: 30_000 }, () => {
  const scenario = [policyDocument, aToolName, someArgs, aUser] as const;

  test("the first rule that matches is the one that the words of the design name", () => {
    fc.assert(
      fc.property(...scenario, ({ rules }, tool, args, user) => {
        const policy = assertPolicy({ version: 1, default: "block", rules });
        expect(firstMatch(policy, tool, args, user)).toBe(
          rules.find((rule) => isMeant(rule, { tool, args, user }))?.id,
        );
      }),
      { numRuns: 150 },
    );
  });

  test("a rule with an exception never matches more than without", () => {
    fc.assert(
      fc.property(...scenario, ({ rules }, tool, args, user) => {
        for (const { except, ...rule } of rules) {
          const [plain, excepted] = [rule, { ...rule, ...(except && { except }) }].map((given) =>
            firstMatch(assertPolicy({ version: 1, default: "block", rules: [given] }), tool, args, user),
          );
          if (plain === undefined) expect(excepted).toBeUndefined();
        }
      }),
    );
  });
});

interface Asked {
  readonly tool: string;
  readonly args: Record<string, Json>;
  readonly user: User;
}

/** Section 4 of the design, word for word and as slow as that. */
function isMeant({ match, except }: PolicyRule, asked: Asked): boolean {
  return matchesAll(match, asked) && !(except && matchesAll(except, asked));
}

function matchesAll({ tool, args, user, inPlan }: Match, asked: Asked): boolean {
  const tools = tool === undefined ? undefined : [tool].flat();
  return [
    tools?.some((glob) => compileGlob(glob).matches(asked.tool)) ?? true,
    inPlan ?? true,
    user?.role === undefined || asked.user.roles.includes(user.role),
    user?.group === undefined || asked.user.groups.includes(user.group),
    user?.email === undefined || compileGlob(user.email.toLowerCase()).matches(normalizeEmail(asked.user.email) ?? ""),
    Object.entries(args ?? {}).every(([name, condition]) => {
      const value = Object.hasOwn(asked.args, name) ? asked.args[name] : undefined;
      return compileCondition(condition)(value, newMatching());
    }),
  ].every(Boolean);
}
