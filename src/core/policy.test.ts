import { describe, expect, test } from "vitest";
import { PolicyError } from "./errors.ts";
import { assertPolicy, checkPolicy, compileEmailGlob, MAX_POLICY_RULES, type PolicyRule } from "./policy.ts";
import { toIssue } from "./schema.ts";
import { BLOCK_REASONS } from "./verdict.ts";

function policyOf(...rules: readonly unknown[]): unknown {
  return { version: 1, default: "block", rules };
}

function aRule(over: object = {}): object {
  return { id: "a", match: { tool: "t" }, decision: "allow", ...over };
}

function aHold(over: object = {}): object {
  return aRule({ decision: "hold", approvers: { roles: ["admin"] }, ...over });
}

/** The problems of a policy, each as `path: message`, with `key` before it where the name is wrong. */
function problems(value: unknown): string[] {
  return (checkPolicy(value).issues ?? []).map((issue) => {
    const { path, message } = toIssue(issue);
    return `${issue.isKey ? "key " : ""}${path || "."}: ${message}`;
  });
}

describe("takes", () => {
  test.each<[string, unknown]>([
    ["no rules", policyOf()],
    [
      "every field of match",
      policyOf(
        aRule({
          match: {
            tool: ["a", "b*"],
            args: { x: { eq: 1 } },
            user: { email: "*@acme.dev", role: "admin", group: "g" },
            inPlan: true,
          },
        }),
      ),
    ],
    [
      "every operator",
      policyOf(
        aRule({
          match: { args: { x: { eq: null, in: [], notIn: [], glob: "*", notGlob: "*", regex: ".", lte: 1, gte: 1 } } },
        }),
      ),
    ],
    ["except", policyOf(aRule({ except: { tool: "t" } }))],
    [
      "a tool and an argument with inherited names",
      policyOf(aRule({ match: { tool: "__proto__", args: { constructor: { eq: 1 }, "": { eq: 2 } } } })),
    ],
    ["an argument __proto__", policyOf(aRule({ match: { args: JSON.parse('{"__proto__":{"eq":1}}') } }))],
    [
      "every kind of approver",
      policyOf(
        aHold({
          approvers: { roles: ["admin", "approver", "member"], emails: ["bob@acme.dev"], self: true },
          timeoutSeconds: 1,
        }),
      ),
    ],
    ["the longest timeout", policyOf(aHold({ timeoutSeconds: 86_400 }))],
    [
      "as many rules as there may be",
      policyOf(...Array.from({ length: MAX_POLICY_RULES }, (_, index) => aRule({ id: `r${index}` }))),
    ],
  ])("%s", (_name, value) => {
    expect(JSON.stringify(assertPolicy(value).rules)).toBe(JSON.stringify((value as { rules: unknown }).rules));
  });

  test("and fills in the timeout of a hold", () => {
    expect(assertPolicy(policyOf(aHold())).rules[0]?.timeoutSeconds).toBe(300);
    expect(assertPolicy(policyOf(aRule())).rules[0]).not.toHaveProperty("timeoutSeconds");
  });

  test("and freezes all of it", () => {
    const policy = assertPolicy(policyOf(aHold({ match: { args: { x: { in: [{}] } } } })));
    const [rule] = policy.rules;
    const condition = rule?.match.args?.["x"];
    for (const part of [policy, policy.rules, rule, rule?.approvers?.roles, condition, condition?.in?.[0]]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("a policy that it made itself", () => {
    const policy = assertPolicy(policyOf(aHold()));
    expect(assertPolicy(policy)).toEqual(policy);
  });
});

describe("refuses", () => {
  test.each<[string, unknown, string[]]>([
    ["text", "version: 1", [".: expected an object"]],
    ["nothing", undefined, [".: undefined is not JSON"]],
    ["null", null, [".: empty; expected an object"]],
    [
      "an empty object",
      {},
      [
        "version: expected 1",
        "default: expected block: what no rule matches is always blocked",
        "rules: missing; expected a list",
      ],
    ],
    ["version 2", { version: 2, default: "block", rules: [] }, ["version: expected 1"]],
    ["version as text", { version: "1", default: "block", rules: [] }, ["version: expected 1"]],
    [
      "default allow",
      { version: 1, default: "allow", rules: [] },
      ["default: expected block: what no rule matches is always blocked"],
    ],
    ["a rule instead of a list", { version: 1, default: "block", rules: aRule() }, ["rules: expected a list"]],
    [
      "a rule that is none",
      policyOf(null, "a"),
      ["rules[0]: empty; expected an object", "rules[1]: expected an object"],
    ],
    [
      "an empty rule",
      policyOf({}),
      [
        "rules[0].id: missing; expected text",
        "rules[0].match: missing; expected an object",
        "rules[0].decision: missing; expected one of allow, block, hold",
      ],
    ],
    [
      "an id in capitals",
      policyOf(aRule({ id: "Hold_X" })),
      ["rules[0].id: an id is kebab-case, like only-public-repo"],
    ],
    [
      "an id with a line feed",
      policyOf(aRule({ id: "a\n" })),
      ["rules[0].id: an id is kebab-case, like only-public-repo"],
    ],
    ["an id too long", policyOf(aRule({ id: "a".repeat(65) })), ["rules[0].id: expected at most 64 characters"]],
    [
      "an id that is a reason",
      policyOf(aRule({ id: "aborted" })),
      ["rules[0].id: this id is a reason that Intentlock itself gives"],
    ],
    ["an id twice", policyOf(aRule(), aRule({ id: "b" }), aRule()), ["rules[2].id: another rule has the id a"]],
    [
      "an id twice, among other problems",
      policyOf(aRule({ decision: "deny" }), aRule(), null),
      [
        "rules[0].decision: expected one of allow, block, hold",
        "rules[2]: empty; expected an object",
        "rules[1].id: another rule has the id a",
      ],
    ],
    ["no match", policyOf({ id: "a", decision: "allow" }), ["rules[0].match: missing; expected an object"]],
    ["an empty match", policyOf(aRule({ match: {} })), ["rules[0].match: give at least one field"]],
    ["an empty except", policyOf(aRule({ except: {} })), ["rules[0].except: give at least one field"]],
    ["except null", policyOf(aRule({ except: null })), ["rules[0].except: empty; expected an object"]],
    [
      "a tool that is a number",
      policyOf(aRule({ match: { tool: 5 } })),
      ["rules[0].match.tool: expected a glob or a list of globs"],
    ],
    [
      "tool null",
      policyOf(aRule({ match: { tool: null } })),
      ["rules[0].match.tool: expected a glob or a list of globs"],
    ],
    ["no tools", policyOf(aRule({ match: { tool: [] } })), ["rules[0].match.tool: name at least one tool"]],
    [
      "a bad tool among good ones",
      policyOf(aRule({ match: { tool: ["a", 5] } })),
      ["rules[0].match.tool[1]: expected text"],
    ],
    [
      "a tool's bad glob",
      policyOf(aRule({ match: { tool: "{a,b}".repeat(8) } })),
      ["rules[0].match.tool: the braces of a glob expand to at most 32 alternatives"],
    ],
    [
      "a bad glob in a list",
      policyOf(aRule({ match: { tool: ["a", "a".repeat(1001)] } })),
      ["rules[0].match.tool[1]: a glob has at most 1000 characters"],
    ],
    ["args null", policyOf(aRule({ match: { args: null } })), ["rules[0].match.args: empty; expected an object"]],
    ["args empty", policyOf(aRule({ match: { args: {} } })), ["rules[0].match.args: give at least one field"]],
    [
      "an empty condition",
      policyOf(aRule({ match: { args: { x: {} } } })),
      ["rules[0].match.args.x: give at least one operator"],
    ],
    [
      "a value instead of a condition",
      policyOf(aRule({ match: { args: { x: "acme" } } })),
      ["rules[0].match.args.x: expected a condition, like { eq: VALUE } or { glob: PATTERN }"],
    ],
    ["user null", policyOf(aRule({ match: { user: null } })), ["rules[0].match.user: empty; expected an object"]],
    ["user empty", policyOf(aRule({ match: { user: {} } })), ["rules[0].match.user: give at least one field"]],
    [
      "a role that there is not",
      policyOf(aRule({ match: { user: { role: "boss" } } })),
      ["rules[0].match.user.role: expected one of admin, approver, member"],
    ],
    [
      "an empty group",
      policyOf(aRule({ match: { user: { group: "" } } })),
      ["rules[0].match.user.group: expected text"],
    ],
    [
      "an e-mail glob past its bounds",
      policyOf(aRule({ match: { user: { email: "a".repeat(1001) } } })),
      ["rules[0].match.user.email: a glob has at most 1000 characters"],
    ],
    [
      "an e-mail glob that NFC makes too long",
      policyOf(aRule({ match: { user: { email: "\u0958".repeat(900) } } })),
      ["rules[0].match.user.email: a glob has at most 1000 characters"],
    ],
    [
      "the Kelvin sign in an e-mail glob",
      policyOf(aRule({ match: { user: { email: "\u212a*" } } })),
      ["rules[0].match.user.email: a character of this glob only looks like an ASCII one"],
    ],
    [
      "inPlan as text",
      policyOf(aRule({ match: { inPlan: "yes" } })),
      ["rules[0].match.inPlan: expected true or false"],
    ],
    ["an empty reason", policyOf(aRule({ reason: "" })), ["rules[0].reason: expected text"]],
    [
      "a reason without end",
      policyOf(aRule({ reason: "r".repeat(1001) })),
      ["rules[0].reason: expected at most 1000 characters"],
    ],
    [
      "a hold without approvers",
      policyOf(aRule({ decision: "hold" })),
      ["rules[0].approvers: a hold rule has to name its approvers"],
    ],
    ["approvers null", policyOf(aHold({ approvers: null })), ["rules[0].approvers: empty; expected an object"]],
    [
      "nobody",
      policyOf(aHold({ approvers: {} })),
      ["rules[0].approvers: name at least one approver: roles, emails or self: true"],
    ],
    [
      "nobody in many words",
      policyOf(aHold({ approvers: { roles: [], emails: [], self: false } })),
      ["rules[0].approvers: name at least one approver: roles, emails or self: true"],
    ],
    [
      "a bad role",
      policyOf(aHold({ approvers: { roles: ["boss"] } })),
      ["rules[0].approvers.roles[0]: expected one of admin, approver, member"],
    ],
    [
      "a role instead of a list",
      policyOf(aHold({ approvers: { roles: "admin" } })),
      ["rules[0].approvers.roles: expected a list"],
    ],
    [
      "a glob as an approver",
      policyOf(aHold({ approvers: { emails: ["*@acme.dev"] } })),
      ["rules[0].approvers.emails[0]: expected an e-mail address"],
    ],
    [
      "an approver with two at signs",
      policyOf(aHold({ approvers: { emails: ["bob@acme.dev@evil.com"] } })),
      ["rules[0].approvers.emails[0]: expected an e-mail address"],
    ],
    [
      "an approver with a line feed",
      policyOf(aHold({ approvers: { emails: ["bob@acme.dev\n"] } })),
      ["rules[0].approvers.emails[0]: expected an e-mail address"],
    ],
    [
      "an approver with the Kelvin sign",
      policyOf(aHold({ approvers: { emails: ["\u212aate@acme.dev"] } })),
      ["rules[0].approvers.emails[0]: expected an e-mail address"],
    ],
    [
      "an approver with a zero-width space",
      policyOf(aHold({ approvers: { emails: ["bob\u200b@acme.dev"] } })),
      ["rules[0].approvers.emails[0]: expected an e-mail address"],
    ],
    ["timeout 0", policyOf(aHold({ timeoutSeconds: 0 })), ["rules[0].timeoutSeconds: expected at least 1"]],
    [
      "timeout 86,401",
      policyOf(aHold({ timeoutSeconds: 86_401 })),
      ["rules[0].timeoutSeconds: expected at most 86400"],
    ],
    ["timeout 1.5", policyOf(aHold({ timeoutSeconds: 1.5 })), ["rules[0].timeoutSeconds: expected a whole number"]],
    ["timeout NaN", policyOf(aHold({ timeoutSeconds: Number.NaN })), ["rules[0].timeoutSeconds: NaN is not JSON"]],
    [
      "approvers of a rule that allows",
      policyOf(aRule({ approvers: { self: true } })),
      ["key rules[0].approvers: only a hold rule has this field"],
    ],
    [
      "a timeout of a rule that blocks",
      policyOf(aRule({ decision: "block", timeoutSeconds: 5 })),
      ["key rules[0].timeoutSeconds: only a hold rule has this field"],
    ],
    [
      "a date",
      policyOf(aRule({ match: { args: { x: { eq: new Date(0) } } } })),
      ["rules[0].match.args.x.eq: an instance of Date is not JSON"],
    ],
    ["a class instance", policyOf(new (class Rule {})()), ["rules[0]: an instance of Rule is not JSON"]],
  ])("%s", (_name, value, expected) => {
    expect(problems(value)).toEqual(expected);
  });

  test("one rule too many", () => {
    const rules = Array.from({ length: MAX_POLICY_RULES + 1 }, (_, index) => aRule({ id: `r${index}` }));
    expect(problems(policyOf(...rules))).toEqual(["rules: expected at most 10000 items"]);
  });

  const POINTER = "expected a JSON Pointer after /";
  const STAR = "* stands for the elements of a list: name the argument";
  test.each<[string, string | undefined]>([
    ["to", undefined],
    ["a/b", undefined],
    ["*a", undefined],
    ["a*", undefined],
    ["a/*", undefined],
    ["/to/*/email", undefined],
    ["/a~1b", undefined],
    ["/*a", undefined],
    ["/a~2", POINTER],
    ["*", STAR],
    ["/*", STAR],
    ["*/email", STAR],
    ["/*/email", STAR],
  ])("an open argument %j, or not", (target, problem) => {
    const found = problems(policyOf(aRule({ match: { unpinned: [target] } })));
    expect(found).toEqual(problem === undefined ? [] : [`rules[0].match.unpinned[0]: ${problem}`]);
  });

  test("regexes in places, with those in arguments", () => {
    const some = (name: (index: number) => string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), { regex: "a" }]));
    const match = (count: number) => ({
      args: some((index) => `x${index}`, 500),
      at: some((index) => `/x${index}`, count),
    });
    expect(problems(policyOf(aRule({ match: match(500) })))).toEqual([]);
    expect(problems(policyOf(aRule({ match: match(501) })))).toEqual(["key rules: a policy has at most 1000 regexes"]);
  });

  test("more regexes than there is time to compile", () => {
    const args = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`x${index}`, { regex: "a" }]));
    const rule = aRule({ match: { args }, except: { args } });
    expect(problems(policyOf(rule))).toEqual(["key rules: a policy has at most 1000 regexes"]);
  });

  test("and lists the problems in a PolicyError, at most a hundred", () => {
    const error = (() => {
      try {
        return assertPolicy(policyOf(...Array(200).fill(null)));
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).toBeInstanceOf(PolicyError);
    expect((error as PolicyError).issues).toHaveLength(101);
  });
});

describe("an unknown field at every level", () => {
  const whole = policyOf({
    ...aHold({
      match: { tool: "t", args: { x: { eq: { free: 1 } } }, user: { role: "admin" } },
      except: { args: { y: { eq: 1 } }, user: { group: "g" } },
    }),
  });
  const rule = ["rules", 0] as const;
  const levels: readonly (readonly (string | number)[])[] = [
    [],
    rule,
    [...rule, "match"],
    [...rule, "match", "args", "x"],
    [...rule, "match", "user"],
    [...rule, "except"],
    [...rule, "except", "args", "y"],
    [...rule, "except", "user"],
    [...rule, "approvers"],
  ];
  const cases = levels.flatMap((way) => ["typo", "__proto__", "constructor", "toString"].map((key) => ({ way, key })));

  test.each(cases)("$key at $way", ({ way, key }) => {
    const { issues } = checkPolicy(withField(whole, way, key));
    expect(issues).toEqual([
      { parts: [...way, key], isKey: true, message: expect.stringMatching(/^unknown field; there are: \w+/) },
    ]);
  });

  test("is free inside a value and as the name of an argument", () => {
    expect(problems(withField(whole, [...rule, "match", "args", "x", "eq"], "__proto__"))).toEqual([]);
    expect(problems(withField(whole, [...rule, "match", "args"], "__proto__", { eq: 1 }))).toEqual([]);
  });
});

/** A copy of the value with one more own property at the end of the way. */
function withField(value: unknown, way: readonly (string | number)[], key: string, added: unknown = {}): unknown {
  const copy = structuredClone(value);
  let object = copy as Record<string, unknown>;
  for (const part of way) object = object[part] as Record<string, unknown>;
  Object.defineProperty(object, key, { value: added, enumerable: true, configurable: true });
  return copy;
}

test("no reason of ours can be the id of a rule", () => {
  for (const reason of BLOCK_REASONS) expect(problems(policyOf(aRule({ id: reason })))).not.toEqual([]);
});

test("a rule's type and its schema agree", () => {
  const rule: PolicyRule = { id: "a", match: { inPlan: true }, decision: "allow" };
  expect(assertPolicy(policyOf(rule)).rules).toEqual([rule]);
});

test.each<[string, string, string, boolean]>([
  ["upper case in the pattern", "*@ACME.dev", "alice@acme.dev", true],
  ["a decomposed letter in the pattern", "rene\u0301@*", "ren\u00e9@acme.dev", true],
  ["another case of a letter outside ASCII", "\u00c9ve@*", "\u00e9ve@acme.dev", false],
  ["another domain after it", "*@acme.dev", "alice@acme.dev.evil.com", false],
])("compileEmailGlob: %s", (_name, pattern, email, matches) => {
  expect(compileEmailGlob(pattern).matches(email)).toBe(matches);
});
