import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippetCompletion,
} from "@codemirror/autocomplete";

type Words = readonly (readonly [label: string, detail: string])[];

/** What begins a line or an item of a list. */
const FIELDS: Words = [
  ["id", "kebab-case, unique"],
  ["match", "all of it has to match"],
  ["except", "a call that matches this is not the rule’s"],
  ["decision", "allow, hold or block"],
  ["reason", "told to the model, or to the approver"],
  ["approvers", "of hold: roles, emails, self"],
  ["timeoutSeconds", "of hold: 1 to 86,400"],
  ["version", "always 1"],
  ["default", "always block"],
  ["rules", "the first that matches decides"],
  ["trust", "places in results where a value counts as fixed"],
];

/** What may stand in `{ }`, or deeper. */
const INNER: Words = [
  ["tool", "a glob, or a list of globs"],
  ["args", "a condition for each argument"],
  ["at", "a condition for each place, like /to/*/email"],
  ["unpinned", "one of these arguments is left open by the plan"],
  ["path", "of trust: a place, like /items/*/email"],
  ["user", "email, role or group"],
  ["inPlan", "true: every planned call"],
  ["email", "a glob"],
  ["role", "admin, approver or member"],
  ["group", "exactly"],
  ["roles", "who may approve"],
  ["emails", "who may approve"],
  ["self", "the user may approve"],
  ["eq", "equals"],
  ["in", "one of"],
  ["notIn", "none of, or missing"],
  ["glob", "matches"],
  ["notGlob", "does not match, or is missing"],
  ["regex", "RE2, the whole text"],
  ["lte", "at most"],
  ["gte", "at least"],
  ["each", "a list, for each item of which this holds"],
  ["maxItems", "a list of at most so many items"],
  ["anyOf", "one of these conditions holds"],
  ["optional", "true: missing, or the rest holds"],
  ["absent", "true: missing"],
];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  decision: ["allow", "hold", "block"],
  default: ["block"],
  version: ["1"],
  role: ["admin", "approver", "member"],
  roles: ["admin", "approver", "member"],
  inPlan: ["true", "false"],
  self: ["true"],
  optional: ["true"],
  absent: ["true"],
};

const RULES: readonly Completion[] = [
  rule("allow", "  decision: allow\n"),
  rule("block", "  decision: block\n  reason: #{Why}\n"),
  rule("hold", "  decision: hold\n  reason: #{Why}\n  approvers: { roles: [approver] }\n  timeoutSeconds: 300\n"),
];

function rule(decision: string, rest: string): Completion {
  const template = `- id: #{name}\n  match: { tool: #{tool} }\n${rest.trimEnd()}`;
  return snippetCompletion(template, { label: `- ${decision}`, detail: "a rule", type: "keyword", boost: -1 });
}

const VALUE = /(?:^|[\s{,-])(\w+):\s*(?:\[(?:[^\]]*,)?\s*)?([\w*?-]*)$/;
const LINE_KEY = /^\s*(-\s+)?(\w*)$/;
const INNER_KEY = /[{,]\s*(\w*)$/;

/** What may be written at a place in a policy. `listTools` gives the tools that the agent has called. */
export function completePolicy(listTools: () => readonly string[]) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const line = state.doc.lineAt(pos);
    const before = line.text.slice(0, pos - line.from);
    const value = VALUE.exec(before);
    if (value) {
      const [, key = "", typed = ""] = value;
      const labels = key === "tool" ? listTools() : Object.hasOwn(VALUES, key) ? VALUES[key]! : [];
      return answer(
        pos,
        typed,
        labels.map((label) => ({ label, type: "constant" })),
      );
    }
    const inner = INNER_KEY.exec(before);
    if (inner && (explicit || inner[1] !== "")) return answer(pos, inner[1]!, INNER.map(toField));
    const key = LINE_KEY.exec(before);
    if (key && (explicit || key[2] !== "")) {
      const rules = key[1] === undefined ? RULES : [];
      return answer(pos, key[2]!, [...rules, ...[...FIELDS, ...INNER].map(toField)]);
    }
    return /^\s*-$/.test(before) ? answer(pos, "-", RULES) : null;
  };
}

function toField([label, detail]: Words[number]): Completion {
  return { label, detail, type: "property", apply: `${label}: ` };
}

function answer(pos: number, typed: string, options: readonly Completion[]): CompletionResult | null {
  return options.length === 0 ? null : { from: pos - typed.length, options, validFor: /^[\w-]*$/ };
}
