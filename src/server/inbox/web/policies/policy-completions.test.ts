import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";
import { completePolicy } from "./policy-completions.ts";

/** What is offered at the `|` of a text; `explicit`: somebody asked for it. */
function offered(marked: string, explicit = false): readonly string[] | undefined {
  const pos = marked.indexOf("|");
  const state = EditorState.create({ doc: marked.replace("|", "") });
  const result = completePolicy(() => ["read_file", "send_money"])(new CompletionContext(state, pos, explicit));
  return result?.options.map(({ label }) => label);
}

test.each<[string, readonly string[]]>([
  ["    decision: |", ["allow", "hold", "block"]],
  ["    decision: ho|", ["allow", "hold", "block"]],
  ["default: |", ["block"]],
  ["    match: { tool: |", ["read_file", "send_money"]],
  ["    match: { tool: [read_file, se|", ["read_file", "send_money"]],
  ["    match: { args: { to: { optional: |", ["true"]],
  ["    approvers: { roles: [|", ["admin", "approver", "member"]],
  ["  -|", ["- allow", "- block", "- hold"]],
])("at %s: %j", (text, labels) => {
  expect(offered(text)).toEqual(labels);
});

test.each([
  ["    dec|", "decision"],
  ["  - i|", "id"],
  ["    match: { inP|", "inPlan"],
  ["    match: { tool: pay, us|", "user"],
  ["    match: { tool: pay, unp|", "unpinned"],
  ["    match: { at|", "at"],
  ["tru|", "trust"],
  ["  - { tool: get_contact, pa|", "path"],
  ["    args: { to: { ea|", "each"],
])("at %s one may write %s", (text, label) => {
  expect(offered(text)).toContain(label);
});

test.each(["    reason: Why no|", "    decision: allow |", "    # a comm ent|", "    id: |"])(
  "nothing at %s",
  (text) => {
    expect(offered(text)).toBeUndefined();
  },
);

test("an empty line offers what is asked for, and nothing by itself", () => {
  expect(offered("  |")).toBeUndefined();
  expect(offered("  |", true)).toEqual(expect.arrayContaining(["- hold", "decision"]));
});
