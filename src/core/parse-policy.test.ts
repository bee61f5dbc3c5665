import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { anyJson, anything, mutated, policyDocument } from "../../test/arbitraries.ts";
import { PolicyError } from "./errors.ts";
import { parsePolicy } from "./parse-policy.ts";
import { MAX_POLICY_BYTES } from "./policy.ts";
import { MAX_ISSUES } from "./schema.ts";

const HEAD = "version: 1\ndefault: block\n";

/** A policy of one rule `a`, with these lines after its decision. */
function aRuleWith(...lines: readonly string[]): string {
  return `${HEAD}rules:\n  - id: a\n    match: { tool: t }\n    decision: allow\n${lines.map((line) => `    ${line}\n`).join("")}`;
}

/** A policy of one rule whose `match` is this, on line 4 from column 21 on. */
function aMatch(match: string): string {
  return `${HEAD}rules:\n  - { id: a, match: ${match}, decision: allow }\n`;
}

/** The problems of a policy, each as `line:column path: message`. */
function problems(text: string): string[] {
  try {
    parsePolicy(text);
    return [];
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return error.issues.map(
      ({ path, message, line, column }) => `${line}:${column} ${path === "" ? "" : `${path}: `}${message}`,
    );
  }
}

test.each<[string, unknown]>([
  ["what is no text", 5],
  ["what is too long", "#".repeat(MAX_POLICY_BYTES + 1)],
  ["what is too long for its bytes", "#é".repeat(MAX_POLICY_BYTES / 2)],
])("%s is refused as a whole", (_name, text) => {
  expect(() => parsePolicy(text as string)).toThrow(
    expect.objectContaining({ issues: [{ path: "", message: expect.stringContaining("a policy") }] }),
  );
});

test("a byte order mark inside the text is a character", () => {
  const policy = parsePolicy(aRuleWith('reason: "a\ufeffb"'));
  expect(policy.rules[0]?.reason).toBe("a\ufeffb");
});

test("an alias without a name is one problem", () => {
  expect(problems(`${HEAD}rules: *\n`)).toHaveLength(1);
});

describe("takes", () => {
  test("the example of the design", () => {
    const policy = parsePolicy(`version: 1                 # always 1
default: block             # always block: no rule matched
rules:                     # ordered; the first rule that matches decides
  - id: only-public-repo   # kebab-case, unique
    match: { tool: "github_*", args: { repo: { notGlob: "acme/public-app" } } }
    decision: block
    reason: Only acme/public-app is in scope
  - id: hold-comments
    match: { tool: github_post_comment }
    decision: hold
    approvers: { roles: [approver, admin] }
  - id: interns-read-only
    match: { tool: "github_*", user: { group: intern } }
    except: { tool: [github_list_issues, github_get_issue] }
    decision: block
  - id: allow-in-plan
    match: { inPlan: true }
    decision: allow
`);
    expect(policy).toEqual({
      version: 1,
      default: "block",
      rules: [
        {
          id: "only-public-repo",
          match: { tool: "github_*", args: { repo: { notGlob: "acme/public-app" } } },
          decision: "block",
          reason: "Only acme/public-app is in scope",
        },
        {
          id: "hold-comments",
          match: { tool: "github_post_comment" },
          decision: "hold",
          approvers: { roles: ["approver", "admin"] },
          timeoutSeconds: 300,
        },
        {
          id: "interns-read-only",
          match: { tool: "github_*", user: { group: "intern" } },
          except: { tool: ["github_list_issues", "github_get_issue"] },
          decision: "block",
        },
        { id: "allow-in-plan", match: { inPlan: true }, decision: "allow" },
      ],
    });
    expect(Object.isFrozen(policy.rules[0]?.match.args?.["repo"])).toBe(true);
  });

  test.each<[string, string]>([
    ["JSON", '{"version":1,"default":"block","rules":[{"id":"a","match":{"tool":"t"},"decision":"allow"}]}'],
    ["CRLF", aRuleWith().replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${aRuleWith()}`],
    ["a document start and end", `---\n${aRuleWith()}...\n`],
    ["comments before and after", `# a\n\n${aRuleWith()}# b\n`],
    ["tabs before comments", aRuleWith().replaceAll("\n", "\t# c\n")],
  ])("%s", (_name, text) => {
    expect(parsePolicy(text)).toEqual(parsePolicy(aRuleWith()));
  });

  // YAML 1.1 would read them as true, 8, 90 and a merge.
  test.each<[string, string, unknown]>([
    ["yes", "yes", "yes"],
    ["on", "on", "on"],
    ["a leading zero", "010", 10],
    ["a base of sixty", "1:30", "1:30"],
    ["a date", "2026-01-01", "2026-01-01"],
    ["<<", '"<<"', "<<"],
    ["null", "~", null],
  ])("%s as YAML 1.2 reads it", (_name, yaml, value) => {
    expect(parsePolicy(aMatch(`{ args: { x: { eq: ${yaml} } } }`)).rules[0]?.match.args?.["x"]?.eq).toEqual(value);
  });

  test.each<[string, string, string]>([
    ["a number", "1", "1"],
    ["a number in other digits", "0x10", "0x10"],
    ["true", "true", "true"],
    ["null", "~", "~"],
    ["<<", "<<", "<<"],
    ["nothing", '""', ""],
    ["__proto__", "__proto__", "__proto__"],
    ["constructor", "constructor", "constructor"],
  ])("the name of an argument as it is written: %s", (_name, yaml, name) => {
    const args = parsePolicy(aMatch(`{ args: { ${yaml}: { eq: 1 } } }`)).rules[0]?.match.args;
    expect(Object.entries(args ?? {})).toEqual([[name, { eq: 1 }]]);
  });
});

describe("says where the problem is", () => {
  const RULE_FIELDS = "unknown field; there are: id, match, except, decision, reason, approvers, timeoutSeconds";
  const OPERATORS =
    "unknown field; there are: eq, in, glob, regex, lte, gte, each, maxItems, anyOf, optional, absent, notIn, notGlob";
  const APPROVER = "    approvers: { self: true }\n";

  test.each<[string, string, string[]]>([
    ["a typo in a field: at the key", aRuleWith("resaon: x"), [`7:5 rules[0].resaon: ${RULE_FIELDS}`]],
    [
      "a typo at the top: at the key",
      `${HEAD}rule: []\n`,
      ["1:1 rules: missing; expected a list", "3:1 rule: unknown field; there are: version, default, trust, rules"],
    ],
    [
      "a typo in a match: at the key",
      aMatch("{ tols: t }"),
      ["4:23 rules[0].match.tols: unknown field; there are: tool, args, at, unpinned, user, inPlan"],
    ],
    [
      "a typo in an operator: at the key",
      aMatch("{ args: { x: { gt: 1 } } }"),
      [`4:36 rules[0].match.args.x.gt: ${OPERATORS}`],
    ],
    [
      "a typo in user: at the key",
      aMatch("{ user: { mail: x } }"),
      ["4:31 rules[0].match.user.mail: unknown field; there are: email, role, group"],
    ],
    ["a key in quotes", aRuleWith('"resaon": x'), [`7:5 rules[0].resaon: ${RULE_FIELDS}`]],
    ["an explicit key", aRuleWith("? resaon", ": x"), [`7:7 rules[0].resaon: ${RULE_FIELDS}`]],
    [
      "__proto__ at the top: at the key",
      `${HEAD}__proto__: { rules: [] }\nrules: []\n`,
      ["3:1 __proto__: unknown field; there are: version, default, trust, rules"],
    ],
    ["__proto__ in a rule: at the key", aRuleWith("__proto__: x"), [`7:5 rules[0].__proto__: ${RULE_FIELDS}`]],
    [
      "__proto__ in a match: at the key",
      aMatch("{ __proto__: { tool: t } }"),
      ["4:23 rules[0].match.__proto__: unknown field; there are: tool, args, at, unpinned, user, inPlan"],
    ],
    [
      "__proto__ in a condition: at the key",
      aMatch("{ args: { x: { __proto__: 1 } } }"),
      [`4:36 rules[0].match.args.x.__proto__: ${OPERATORS}`],
    ],
    [
      "a typo in an argument named __proto__",
      aMatch("{ args: { __proto__: { gt: 1 } } }"),
      [`4:44 rules[0].match.args.__proto__.gt: ${OPERATORS}`],
    ],
    ["a wrong value: at the value", aRuleWith("reason: 5"), ["7:13 rules[0].reason: expected text"]],
    [
      "a wrong decision: at the value",
      `${HEAD}rules:\n  - id: a\n    match: { tool: t }\n    decision:   deny\n`,
      ["6:17 rules[0].decision: expected one of allow, block, hold"],
    ],
    ["a wrong version: at the value", "version: 2\ndefault: block\nrules: []\n", ["1:10 version: expected 1"]],
    [
      "a wrong value in a list: at the item",
      aMatch("{ tool: [a, 5] }"),
      ["4:33 rules[0].match.tool[1]: expected text"],
    ],
    [
      "no value: at the place where it should be",
      aMatch("{ args: }"),
      ["4:29 rules[0].match.args: empty; expected an object"],
    ],
    [
      "a missing field: at the rule",
      `${HEAD}rules:\n  - id: a\n    decision: allow\n`,
      ["4:5 rules[0].match: missing; expected an object"],
    ],
    [
      "a missing field: at the second rule",
      `${aRuleWith()}  - { id: b, match: { tool: t } }\n`,
      ["7:5 rules[1].decision: missing; expected one of allow, block, hold"],
    ],
    [
      "a hold without approvers: at the rule",
      `${HEAD}rules:\n\n  - id: a\n    match: { tool: t }\n    decision: hold\n`,
      ["5:5 rules[0].approvers: a hold rule has to name its approvers"],
    ],
    [
      "approvers that are nobody: at the value",
      `${HEAD}rules:\n  - id: a\n    match: { tool: t }\n    decision: hold\n    approvers: { roles: [] }\n`,
      ["7:16 rules[0].approvers: name at least one approver: roles, emails or self: true"],
    ],
    [
      "a field of holds: at the key",
      `${aRuleWith()}${APPROVER}`,
      ["7:5 rules[0].approvers: only a hold rule has this field"],
    ],
    ["a duplicate key: at the second", `${HEAD}version: 1\nrules: []\n`, ["3:1 the key is given twice"]],
    ["a duplicate key in a rule", aRuleWith("decision: block"), ["7:5 the key is given twice"]],
    ["a duplicate key in braces", aMatch("{ tool: a, tool: b }"), ["4:32 the key is given twice"]],
    [
      "a duplicate key, one in quotes",
      aMatch('{ args: { 1: { eq: 1 }, "1": { glob: "*" } } }'),
      ["4:45 the key is given twice"],
    ],
    [
      "a duplicate key, one escaped",
      aMatch('{ args: { a: { eq: 1 }, "\\x61": { glob: "*" } } }'),
      ["4:45 the key is given twice"],
    ],
    [
      "a duplicate key inside a value",
      aMatch("{ args: { x: { eq: { k: 1, k: 2 } } } }"),
      ["4:48 the key is given twice"],
    ],
    [
      "a duplicate __proto__",
      aMatch("{ args: { __proto__: { eq: 1 }, __proto__: { eq: 2 } } }"),
      ["4:53 the key is given twice"],
    ],
    [
      "a duplicate id: at the second",
      `${aRuleWith()}  - id: b\n    match: { tool: t }\n    decision: allow\n  - match: { tool: t }\n    id: a\n    decision: allow\n`,
      ["11:9 rules[2].id: another rule has the id a"],
    ],
    [
      "a bad regex in args: at the regex",
      aMatch('{ args: { x: { regex: "(" } } }'),
      ["4:43 rules[0].match.args.x.regex: not an RE2 expression: error parsing regexp: missing closing )"],
    ],
    [
      "a regex that closes our group",
      aMatch('{ args: { x: { regex: "foo)|(?:bar" } } }'),
      ["4:43 rules[0].match.args.x.regex: not an RE2 expression: error parsing regexp: unexpected )"],
    ],
    [
      "NaN: at the value",
      aMatch("{ args: { x: { gte: .nan } } }"),
      ["4:41 rules[0].match.args.x.gte: NaN is not JSON"],
    ],
    [
      "infinity: at the value",
      aMatch("{ args: { x: { in: [1, -.inf] } } }"),
      ["4:44 rules[0].match.args.x.in[1]: -Infinity is not JSON"],
    ],
    [
      "a number past the largest",
      aMatch("{ args: { x: { lte: 1e999 } } }"),
      ["4:41 rules[0].match.args.x.lte: Infinity is not JSON"],
    ],
    [
      "a lone surrogate: at the value",
      aMatch('{ args: { x: { eq: "\\ud800" } } }'),
      ["4:40 rules[0].match.args.x.eq: a lone surrogate is not JSON"],
    ],
    [
      "an argument's odd name",
      aMatch('{ args: { "a b": {} } }'),
      ['4:38 rules[0].match.args["a b"]: give at least one operator'],
    ],
    ["after CRLF", aRuleWith("resaon: x").replaceAll("\n", "\r\n"), [`7:5 rules[0].resaon: ${RULE_FIELDS}`]],
    ["a missing field, where the policy begins", "# a\n\ndefault: block\nrules: []\n", ["3:1 version: expected 1"]],
    ["after a byte order mark", "\ufeffversion: 2\ndefault: block\nrules: []\n", ["1:10 version: expected 1"]],
    [
      "after characters outside the BMP",
      aMatch('{ tool: "😀", tols: t }'),
      ["4:35 rules[0].match.tols: unknown field; there are: tool, args, at, unpinned, user, inPlan"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  test("every problem at once, in one message", () => {
    const text = `version: 1\ndefault: allow\nrules:\n  - id: A\n    match: {}\n    decision: deny\n    typo: 1\n`;
    expect(() => parsePolicy(text)).toThrow(
      expect.objectContaining({
        code: "ERR_INVALID_POLICY",
        message: `The policy is not valid:
  2:10 default: expected block: what no rule matches is always blocked
  4:9 rules[0].id: an id is kebab-case, like only-public-repo
  5:12 rules[0].match: give at least one field
  6:15 rules[0].decision: expected one of allow, block, hold
  7:5 rules[0].typo: ${RULE_FIELDS}`,
      }),
    );
  });
});

describe("refuses as YAML", () => {
  const TAG = "tags are not allowed";
  const ONE_WORD = "expected the text of a policy, not one word; if it is a file's name, read the file";
  const COLON = 'a second ":" on one line; put text that has one in quotes, or check the indentation';
  const ANCHOR = "anchors and aliases are not allowed";
  const EMPTY = "1:1 the policy is empty; it has the fields version, default and rules";

  test.each<[string, string, string[]]>([
    ["nothing", "", [EMPTY]],
    ["only white space", " \n\n", [EMPTY]],
    ["only a comment", "# later\n", [EMPTY]],
    ["an empty document", "---\n...\n", [EMPTY]],
    ["a scalar", "42", [`1:1 ${ONE_WORD}`]],
    ["the name of a file", "policy.yaml", [`1:1 ${ONE_WORD}`]],
    [
      "an asterisk without quotes",
      `${HEAD}rules:\n  - id: a\n    match: { tool: * }\n`,
      ["5:20 put text that begins with * or & in quotes"],
    ],
    ["a list", "- 1", ["1:1 expected an object"]],
    ["an open bracket", "version: 1\n  default: [", [`1:10 ${COLON}`]],
    [
      "a comment without a space before it",
      `${HEAD}rules: []#x\n`,
      ["3:10 Comments must be separated from other tokens by white space characters"],
    ],
    ["an alias without a name", `${HEAD}rules: *\n`, ["3:8 put text that begins with * or & in quotes"]],
    ["a tab as indentation", `${HEAD}rules:\n\t- id: a\n`, ["4:1 Tabs are not allowed as indentation"]],
    ["an open quote", 'version: "1', ['1:12 Missing closing "quote']],
    ["a bad escape", 'version: "\\q"', ["1:11 Invalid escape sequence \\q"]],
    ["a colon in plain text", aRuleWith("reason: note: this"), [`7:13 ${COLON}`]],
    ["two documents", `${HEAD}rules: []\n---\n${HEAD}rules: []\n`, ["4:1 a policy is one document"]],
    ["two documents, the second empty", `${HEAD}rules: []\n---\n`, ["4:1 a policy is one document"]],
    ["an anchor", aMatch("{ tool: &a t }"), [`4:32 ${ANCHOR}`]],
    ["an alias", `${HEAD}rules: []\nx: &a 1\ny: *a\n`, [`4:7 ${ANCHOR}`, `5:4 ${ANCHOR}`]],
    [
      "an anchor on a rule",
      `${HEAD}rules:\n  - &r { id: a, match: { tool: t }, decision: allow }\n`,
      [`4:8 ${ANCHOR}`],
    ],
    ["an anchor on a key", `&a version: 1\ndefault: block\nrules: []\n`, [`1:4 ${ANCHOR}`]],
    [
      "an alias as a key",
      `${HEAD}rules: &a []\n*a : 1\n`,
      ["4:1 a key has to be plain text", `3:11 ${ANCHOR}`, `4:1 ${ANCHOR}`],
    ],
    ["a merge key with an alias", `${HEAD}base: &b { rules: [] }\n<<: *b\n`, [`3:10 ${ANCHOR}`, `4:5 ${ANCHOR}`]],
    [
      "a merge key",
      `${HEAD}<<: { rules: [] }\n`,
      ["1:1 rules: missing; expected a list", '3:1 ["<<"]: unknown field; there are: version, default, trust, rules'],
    ],
    ["!!js/function", aRuleWith("reason: !!js/function 'function () {}'"), [`7:27 ${TAG}`]],
    ["!!binary", aRuleWith("reason: !!binary aGk="), [`7:22 ${TAG}`]],
    ["!!str", aRuleWith("reason: !!str x"), [`7:19 ${TAG}`]],
    ["!!int", 'version: !!int "1"\ndefault: block\nrules: []\n', [`1:16 ${TAG}`]],
    ["!!map", `--- !!map\n${HEAD}rules: []\n`, [`2:1 ${TAG}`]],
    ["!!seq", `${HEAD}rules: !!seq []\n`, [`3:14 ${TAG}`]],
    ["!!set", `${HEAD}rules: !!set { a }\n`, [`3:14 ${TAG}`]],
    ["!", "version: ! 1\ndefault: block\nrules: []\n", [`1:12 ${TAG}`]],
    ["a custom tag", aRuleWith("reason: !env SECRET"), [`7:18 ${TAG}`]],
    ["a verbatim tag", aRuleWith("reason: !<tag:yaml.org,2002:str> x"), [`7:38 ${TAG}`]],
    ["a tag without its directive", aRuleWith("reason: !e!x y"), ["7:13 Could not resolve tag: !e!x"]],
    ["%YAML 1.1", `%YAML 1.1\n---\n${HEAD}rules: []\n`, ["1:1 directives are not allowed"]],
    ["%TAG", `%TAG ! tag:example.com,2026:\n---\n${HEAD}rules: []\n`, ["1:1 directives are not allowed"]],
    ["a list as a key", aMatch("{ args: { ? [a] : { eq: 1 } } }"), ["4:33 a key has to be plain text"]],
    ["an object as a key", aMatch("{ args: { { a: b }: { eq: 1 } } }"), ["4:31 a key has to be plain text"]],
    [
      "10,000 brackets",
      `version: ${"[".repeat(10_000)}${"]".repeat(10_000)}`,
      ["1:109 nested more than 100 levels deep"],
    ],
    ["10,000 open brackets", "[".repeat(10_000), ["1:101 nested more than 100 levels deep"]],
    ["10,000 braces", '{"a":'.repeat(10_000), ["1:501 nested more than 100 levels deep"]],
    ["10,000 dashes", "- ".repeat(10_000), ["1:201 nested more than 100 levels deep"]],
    ["10,000 question marks", "? ".repeat(10_000), ["1:201 nested more than 100 levels deep"]],
    [
      "101 levels",
      aMatch(`{ args: { x: { eq: ${"[".repeat(95)}${"]".repeat(95)} } } }`),
      ["4:134 nested more than 100 levels deep"],
    ],
    ["a control character", "version: \0", ["1:10 version: expected 1"]],
  ])("%s", (_name, text, expected) => {
    expect(problems(text).slice(0, expected.length)).toEqual(expected);
  });

  test("100 levels are taken", () => {
    expect(problems(aMatch(`{ args: { x: { eq: ${"[".repeat(94)}${"]".repeat(94)} } } }`))).toEqual([]);
  });

  test("an alias bomb", () => {
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (const [name, last] of ["ba", "cb", "dc", "ed", "fe", "gf", "hg"].map((pair) => pair.split(""))) {
      bomb.push(`${name}: &${name} [${Array(9).fill(`*${last}`).join(",")}]`);
    }
    expect(problems(bomb.join("\n"))[0]).toBe(`1:7 ${ANCHOR}`);
  });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["a policy instead of its text", { version: 1, default: "block", rules: [] }],
    ["a boxed string", Object(aRuleWith())],
  ])("%s", (_name, text) => {
    expect(() => parsePolicy(text as string)).toThrow("expected the text of a policy");
  });
});

describe("size", () => {
  test.each<[string, string, number]>([
    ["ASCII", "x", 1],
    ["three bytes", "€", 3],
    ["four bytes", "😀", 4],
  ])("1 MiB exactly and one byte more: %s", (_name, character, bytes) => {
    const room = MAX_POLICY_BYTES - aRuleWith("#").length;
    const comment = character.repeat(Math.floor(room / bytes)) + "x".repeat(room % bytes);
    expect(problems(aRuleWith(`#${comment}`))).toEqual([]);
    expect(() => parsePolicy(aRuleWith(`#${comment}x`))).toThrow("a policy has at most 1048576 bytes");
  });

  // Each of these took time that grew with the square of the size: minutes for the sizes here.
  const many = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, i) => line(i));
  const body = `${HEAD}rules:\n  - id: a\n    decision: allow\n    match:\n      args:\n`;
  test.each<[string, string]>([
    ["keys that there are not", many(20_000, (i) => `k${i}: 1\n`).join("")],
    ["the same in braces", `{${many(20_000, (i) => `k${i}: 1`).join(",")}}`],
    ["arguments with bad conditions", body + many(20_000, (i) => `        k${i}: {}\n`).join("")],
    ["syntax errors on one line", `[${"@,".repeat(20_000)}]`],
    ["bad escapes", `"${"\\q".repeat(20_000)}"`],
    // More problems than a function can have arguments.
    ["keys without a name", "?\n".repeat(150_000)],
    ["one id", `${HEAD}rules:\n${many(5_000, () => "  - { id: a, match: { tool: t }, decision: allow }\n").join("")}`],
    ["anchors", many(20_000, (i) => `- &a${i} x\n`).join("")],
    ["unknown tags", "- !a x\n".repeat(20_000)],
  ])("lists a hundred problems in time: %s", { timeout: 30_000 }, (_name, text) => {
    const found = problems(text);
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toContain("there are more problems than are listed");
  });

  test("many documents", () => {
    expect(problems("---\n".repeat(200_000))).toEqual(["2:1 a policy is one document"]);
  });
});

describe("properties", { timeout: 30_000 }, () => {
  test("parsing undoes printing, as JSON and as YAML", () => {
    fc.assert(
      fc.property(policyDocument, (document) => {
        const policy = parsePolicy(JSON.stringify(document));
        expect(JSON.stringify(policy.rules)).toBe(JSON.stringify(document.rules));
        expect(parsePolicy(JSON.stringify(policy))).toEqual(policy);
        expect(parsePolicy(stringify(policy, { aliasDuplicateObjects: false }))).toEqual(policy);
      }),
      { numRuns: 100 },
    );
  });

  test("whatever the text, it throws nothing but PolicyError", () => {
    const snippet = fc.constantFrom(
      "\n",
      "  ",
      "- ",
      ": ",
      "? ",
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      "|",
      ">",
      "&a ",
      "*a ",
      "!t ",
      "%",
      "---",
      "\t",
      "#",
      ",",
      "version: 1",
      "rules:",
      "<<: ",
    );
    const soup = fc.array(fc.oneof(snippet, fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 40 });
    const cut = fc.tuple(policyDocument, fc.nat(), snippet).map(([document, at, inserted]) => {
      const text = stringify(document, { aliasDuplicateObjects: false });
      const index = at % (text.length + 1);
      return text.slice(0, index) + inserted + text.slice(index + 1);
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          soup.map((parts) => parts.join("")),
          cut,
        ),
        expectPolicyOrProblems,
      ),
      { numRuns: 600 },
    );
  });

  test("whatever became of a policy, it throws nothing but PolicyError", () => {
    const replaced = mutated(
      policyDocument,
      fc.oneof(anyJson, fc.constantFrom(null, "", {}, [], Number.POSITIVE_INFINITY, -1)),
    );
    fc.assert(
      fc.property(replaced, (value) => {
        expectPolicyOrProblems(stringify(value, { aliasDuplicateObjects: false }));
        expectPolicyOrProblems(JSON.stringify(value));
      }),
      { numRuns: 200 },
    );
  });

  test("whatever is given instead of a text, it throws nothing but PolicyError", () => {
    fc.assert(fc.property(anything, (value) => expectPolicyOrProblems(value as string)));
  });
});

/** What it takes, it takes again from its own print; what it does not, it says where. */
function expectPolicyOrProblems(text: string): void {
  try {
    const policy = parsePolicy(text);
    expect(parsePolicy(JSON.stringify(policy))).toEqual(policy);
  } catch (error) {
    expect(error).toBeInstanceOf(PolicyError);
    if (typeof text !== "string") return;
    const lines = text.split(/\r\n|\n|\r/).length;
    for (const { line, column } of (error as PolicyError).issues.slice(0, MAX_ISSUES)) {
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines);
      expect(column).toBeGreaterThanOrEqual(1);
    }
  }
}
