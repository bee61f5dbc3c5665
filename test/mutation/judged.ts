import type { Judgement } from "./judgements.ts";

const BUDGET = "src/core/budget.ts";
const LEDGER = "src/gates/local-ledger.ts";
const PLAN_TOKEN = "src/core/plan-token.ts";
const SIGNED = "src/core/signed-token.ts";

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
];
