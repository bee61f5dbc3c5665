import type { Judgement } from "./judgements.ts";

const AUDIT = "src/core/audit.ts";
const BUDGET = "src/core/budget.ts";
const COMPILE_TOKEN = "src/core/compile-token.ts";
const CONDITION = "src/core/condition.ts";
const LEDGER = "src/gates/local-ledger.ts";
const PARSE_POLICY = "src/core/parse-policy.ts";
const PLAN = "src/core/plan.ts";
const PLAN_TOKEN = "src/core/plan-token.ts";
const POLICY = "src/core/policy.ts";
const REGEX = "src/core/regex.ts";
const SIGNED = "src/core/signed-token.ts";
const WINDOW = "src/core/sliding-window.ts";

/** By file, in the order of the code. A line that is changed loses its judgement, and is to be judged again. */
export const JUDGED: readonly Judgement[] = [
  {
    file: BUDGET,
    line: "of budget.payouts ?? []",
    kind: "equivalent",
    why: "a payout that is a text names no tool, so that it is passed over",
  },
  {
    file: BUDGET,
    line: "if (micros === undefined) return undefined;",
    kind: "equivalent",
    why: "the sum is no number then, which is refused in the same words",
  },
  {
    file: BUDGET,
    line: "(calls !== undefined && calls < 0)",
    kind: "equivalent",
    why: "undefined is not less than 0",
  },
  {
    file: BUDGET,
    line: "isSpent(ledger?.session) && isSpent(ledger?.principal)",
    kind: "equivalent",
    why: "the second is read only of a ledger that has a first",
  },
  {
    file: BUDGET,
    line: "isCount(spent?.calls) && isCount(spent?.payoutMicros)",
    kind: "equivalent",
    why: "the second is read only of an account that has a first",
  },
  {
    file: "src/core/canonical-json.ts",
    line: "if (!(error instanceof JsonProblem)) throw error;",
    kind: "equivalent",
    why: "nothing else is thrown: what reading a value throws is a problem of it",
  },
  {
    file: "src/core/compile-plan.ts",
    line: "parsePointer(path)?.[0]",
    kind: "equivalent",
    why: "the plan was checked: its pointers can be parsed",
  },
  {
    file: PLAN_TOKEN,
    line: "rememberedCharacters += entry.token.length",
    kind: "speed",
    why: "a token that is opened again with other keys would count twice, and push out others sooner",
  },
  {
    file: PLAN_TOKEN,
    line: "remembered.size <= MAX_REMEMBERED",
    kind: "speed",
    why: "one token or one character less is remembered",
  },
  {
    file: SIGNED,
    line: '{ algorithms: ["EdDSA"] }',
    kind: "equivalent",
    why: "the pinned key has the algorithm too, and verifies nothing else; the list is a second lock",
  },
  {
    file: LEDGER,
    line: "const window = slotEnd === undefined",
    kind: "equivalent",
    why: "without a window for people nobody is in the map",
  },
  {
    file: LEDGER,
    line: "if (window && slotEnd !== undefined)",
    by: "true",
    kind: "equivalent",
    why: "who is in the map has taken something, so that there is a slot",
  },
  {
    file: AUDIT,
    line: 'event.type !== "decision" || event.args === undefined',
    by: "false",
    kind: "equivalent",
    why: "no other event has arguments",
  },
  {
    file: AUDIT,
    line: "fingerprint === undefined ? {} : { fingerprint }",
    kind: "equivalent",
    why: "an undefined fingerprint is none to check()",
  },
  {
    file: AUDIT,
    line: 'decision.verdict === "block" ? decision.reason',
    by: "true",
    kind: "equivalent",
    why: "no other decision has a reason",
  },
  {
    file: COMPILE_TOKEN,
    line: "id === undefined || !named.has(id)",
    kind: "equivalent",
    why: "no source is named undefined",
  },
  {
    file: COMPILE_TOKEN,
    line: "if (known) return known;",
    by: "false",
    kind: "speed",
    why: "the policy would be compiled again",
  },
  {
    file: COMPILE_TOKEN,
    line: "policies.size >= MAX_POLICIES",
    kind: "speed",
    why: "how many policies stay compiled, and the memory that they take",
  },
  {
    file: COMPILE_TOKEN,
    line: "policies.set(text, made);",
    kind: "speed",
    why: "each token would have its policy compiled",
  },
  {
    file: CONDITION,
    line: 'context.addIssue({ code: "custom", message });',
    kind: "equivalent",
    why: "nobody sees the code of an issue",
  },
  {
    file: CONDITION,
    line: "Array.isArray(anyOf)",
    by: "Stryker",
    kind: "equivalent",
    why: "a text is no condition, and has no patterns",
  },
  {
    file: PLAN,
    line: "if (!(error instanceof JsonProblem)) throw error;",
    kind: "equivalent",
    why: "nothing else is thrown: what reading a value throws is a problem of it",
  },
  {
    file: PLAN,
    line: "const steps = isJsonObject(plan)",
    by: "Stryker",
    kind: "equivalent",
    why: "a step that is a text has no fields to look at",
  },
  {
    file: PLAN,
    line: "return Array.isArray(steps)",
    by: "Stryker",
    kind: "equivalent",
    why: "a step that is a text has no fields to look at",
  },
  {
    file: POLICY,
    line: "if (!(error instanceof JsonProblem)) throw error;",
    kind: "equivalent",
    why: "nothing else is thrown: what reading a value throws is a problem of it",
  },
  {
    file: POLICY,
    line: "another rule has the id",
    kind: "equivalent",
    why: "nobody sees the code of an issue",
  },
  {
    file: POLICY,
    line: 'policy["rules"] : [];',
    by: "Stryker",
    kind: "equivalent",
    why: "a rule that is a text has no regexes",
  },
  {
    file: POLICY,
    line: '[given["match"], given["except"]]',
    by: "Stryker",
    kind: "equivalent",
    why: "a match that is a text has no regexes",
  },
  {
    file: WINDOW,
    line: "now >= window.keepUntil",
    by: "now > window.keepUntil",
    kind: "speed",
    why: "slots that count for nothing are kept a second longer",
  },
  {
    file: WINDOW,
    line: "end + keepSeconds > now",
    kind: "speed",
    why: "a slot that counts for nothing is kept a second longer",
  },
  {
    file: WINDOW,
    line: "if (excess <= 0 || !next) return slots;",
    kind: "equivalent",
    why: "without an excess there is no next slot, or the first is merged with none",
  },
  {
    file: "src/core/token-payload.ts",
    line: 'const [, payload = ""]',
    kind: "equivalent",
    why: "what cannot be read says nothing, whatever it is",
  },
  {
    file: "src/core/token-payload.ts",
    line: "} catch {",
    kind: "equivalent",
    why: "without a return it is undefined too",
  },
  {
    file: PARSE_POLICY,
    line: "text.length > MAX_POLICY_BYTES",
    kind: "speed",
    why: "a text has at least as many bytes as characters: this only spares their counting",
  },
  {
    file: PARSE_POLICY,
    line: "maxAliasCount: 0",
    kind: "equivalent",
    why: "aliases were refused before",
  },
  {
    file: PARSE_POLICY,
    line: "issues.slice(0, MAX_ISSUES)",
    kind: "speed",
    why: "the places of problems that are cut off are looked up",
  },
  {
    file: PARSE_POLICY,
    line: "prettyErrors: false",
    kind: "text",
    why: "the words of errors",
  },
  {
    file: PARSE_POLICY,
    line: 'logLevel: "error"',
    kind: "equivalent",
    why: "nothing is left to be logged: tags warn, and are refused",
  },
  {
    file: PARSE_POLICY,
    line: "composer.compose(readTokens",
    kind: "equivalent",
    why: "without a document the problem is the same: the policy is empty",
  },
  {
    file: PARSE_POLICY,
    line: "if (!document) throw",
    kind: "equivalent",
    why: "the composer was told to give one always",
  },
  {
    file: PARSE_POLICY,
    line: "TAG_RESOLVE_FAILED",
    kind: "equivalent",
    why: "the only other warnings are of directives, which are refused before",
  },
  {
    file: PARSE_POLICY,
    line: "isAlias(node) ? node.source",
    kind: "text",
    why: "a problem that is said already would be said twice",
  },
  {
    file: PARSE_POLICY,
    line: "node.range?.[0]",
    kind: "equivalent",
    why: "what was parsed has a place",
  },
  {
    file: PARSE_POLICY,
    line: "problems.length > MAX_ISSUES",
    kind: "speed",
    why: "more is looked at than is listed",
  },
  {
    file: PARSE_POLICY,
    line: "isEmpty(document) && problems.length === 0",
    kind: "text",
    why: "that it is empty would be said beside what else is wrong",
  },
  {
    file: PARSE_POLICY,
    line: "isScalar(key) ? String(key.value)",
    kind: "text",
    why: "a key that is no text is refused as that",
  },
  {
    file: PARSE_POLICY,
    line: "key.range?.[0]",
    kind: "equivalent",
    why: "what was parsed has a place",
  },
  {
    file: PARSE_POLICY,
    line: "const exact = length === parts.length",
    kind: "equivalent",
    why: "a problem with a name is with one that is there",
  },
  {
    file: PARSE_POLICY,
    line: "parts.length === 0 ? document.contents",
    kind: "equivalent",
    why: "getIn() of no path gives the contents",
  },
  {
    file: PARSE_POLICY,
    line: "parts.length === 1 ? document.contents",
    kind: "equivalent",
    why: "getIn() of no path gives the contents, and a map as it is",
  },
  {
    file: PARSE_POLICY,
    line: "if (!isMap(parent))",
    kind: "equivalent",
    why: "what has a wrong name in it is a map",
  },
  {
    file: PARSE_POLICY,
    line: "isNode(pair?.key)",
    kind: "equivalent",
    why: "a problem with a name is with one that is there",
  },
  {
    file: REGEX,
    line: "if (!isSmall) set",
    kind: "speed",
    why: "without it the DFA may hold memory, or is not used at all",
  },
  {
    file: REGEX,
    line: "set.dfa.classBounds.length > 64",
    by: ">= 64",
    kind: "speed",
    why: "the estimate for just 64 classes",
  },
  {
    file: REGEX,
    line: "const reason = error instanceof",
    kind: "text",
    why: "how much of the words of re2js is repeated",
  },
  {
    file: REGEX,
    line: "{ cause: error }",
    kind: "text",
    why: "the cause is for whoever debugs",
  },
  {
    file: REGEX,
    line: 'set.match("");',
    kind: "equivalent",
    why: "any text builds the states to start from",
  },
  {
    file: REGEX,
    line: "if (state.nfaStates.length === 0) continue;",
    kind: "speed",
    why: "how many states are built before the first match, and how many during it",
  },
  {
    file: REGEX,
    line: "runeClass <= dfa.classBounds.length + 1",
    kind: "speed",
    why: "how many states are built before the first match, and how many during it",
  },
  {
    file: REGEX,
    line: "work += 6 +",
    kind: "speed",
    why: "how many states are built before the first match, and how many during it",
  },
  {
    file: REGEX,
    line: "if (work > MAX_DFA_WORK)",
    kind: "speed",
    why: "how many states are built before the first match, and how many during it",
  },
  {
    file: REGEX,
    line: "return states.size > 0;",
    kind: "speed",
    why: "how many states are built before the first match, and how many during it",
  },
  {
    file: REGEX,
    line: "const outer: number[] = [];",
    kind: "equivalent",
    why: "a parenthesis that closes none is refused by re2js",
  },
];
