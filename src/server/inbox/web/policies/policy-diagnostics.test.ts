import { Text } from "@codemirror/state";
import { expect, test } from "vitest";
import type { Issue, PolicyError } from "../../../../core/errors.ts";
import { parsePolicy } from "../../../../core/parse-policy.ts";
import { describeIssue, toDiagnostics } from "./policy-diagnostics.ts";

const TEXT = `version: 1
default: allow
rules:
  - id: "Two Words"
    match: { tool: "*", nothing: 1 }
    decision: perhaps
`;

function marked(issues: readonly Issue[], text: string): string[] {
  const document = Text.of(text.split("\n"));
  return toDiagnostics(issues, document).map(({ from, to }) => document.sliceString(from, to));
}

function issuesOf(text: string): readonly Issue[] {
  try {
    parsePolicy(text);
  } catch (error) {
    return (error as PolicyError).issues;
  }
  throw new Error("the policy is valid");
}

test("marks what the parser finds fault with", () => {
  expect(marked(issuesOf(TEXT), TEXT)).toEqual(["allow", '"Two Words"', "nothing", "perhaps"]);
});

test.each<[string, string, readonly string[]]>([
  ["a text that is no YAML", 'version: 1\nrules: "', ['rules: "']],
  ["an empty text", "", [""]],
  ["an alias", "version: *one", ["*one"]],
])("marks %s", (_name, text, expected) => {
  expect(marked(issuesOf(text), text)).toEqual(expected);
});

test.each<[string, Partial<Issue>, string]>([
  ["no place", {}, "version"],
  ["a line that is not there any more", { line: 900, column: 3 }, ""],
  ["a column that is not there any more", { line: 2, column: 900 }, "default: allow"],
  ["a place before the text", { line: 0, column: -1 }, "version"],
  ["white space", { line: 4, column: 1 }, '- id: "Two Words"'],
])("marks something for %s", (_name, place, expected) => {
  expect(marked([{ path: "", message: "wrong", ...place }], TEXT)).toEqual([expected]);
});

test("the editor wants them in order", () => {
  const issues = [3, 1, 2].map((line) => ({ path: "", message: "wrong", line, column: 1 }));
  expect(marked(issues, TEXT)).toEqual(["version", "default", "rules"]);
});

test("says where in the policy it is", () => {
  expect(describeIssue({ path: "rules[0].id", message: "wrong" })).toBe("rules[0].id: wrong");
  expect(describeIssue({ path: "", message: "wrong" })).toBe("wrong");
});
