import type { Judgement } from "../judgements.ts";

const LEDGER = "src/gates/local-ledger.ts";
const LOCAL_DECISION = "src/gates/local-decision.ts";
const LOCAL_PLANS = "src/gates/local-plans.ts";

/** By file, in the order of the code. A line that is changed loses its judgement, and is to be judged again. */
export const GATES: readonly Judgement[] = [
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
    file: LOCAL_PLANS,
    line: "const isClaimed = opened && reserve",
    kind: "gap",
    why: "held calls of a HybridGate are tested in test/holds.test.ts, which takes a minute: too slow for each mutant",
  },
  {
    file: LOCAL_PLANS,
    line: "const holds = claim !== undefined;",
    kind: "gap",
    why: "held calls of a HybridGate are tested in test/holds.test.ts, which takes a minute: too slow for each mutant",
  },
  {
    file: LOCAL_PLANS,
    line: "{ type: earlier ?",
    kind: "gap",
    why: "plans that go on are tested in test/hybrid-sources.test.ts, which was not run for each mutant",
  },
  {
    file: LOCAL_PLANS,
    line: "goesOn: (planId: string) => boolean = () => false",
    kind: "equivalent",
    why: "undefined is as good as false",
  },
  {
    file: LOCAL_PLANS,
    line: "#openNow({ accepted",
    kind: "speed",
    why: "a known token is looked at again, with the same answer",
  },
  {
    file: LOCAL_PLANS,
    line: "const isTheirs =",
    kind: "speed",
    why: "a known token is looked at again, with the same answer",
  },
  {
    file: LOCAL_PLANS,
    line: "return isTheirs && !isDue",
    kind: "speed",
    why: "a known token is looked at again, with the same answer",
  },
  {
    file: LOCAL_PLANS,
    line: "if (token === state.accepted ||",
    kind: "speed",
    why: "the signature of a known token is verified again",
  },
  {
    file: LOCAL_PLANS,
    line: "if (this.#options.claim && now <",
    kind: "gap",
    why: "run under the tests of a LocalGate alone: test/hybrid-renewal.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: "if (keep) this.#renewOnce(state)",
    kind: "gap",
    why: "run under the tests of a LocalGate alone: test/hybrid-renewal.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: "while (opened && portions) {",
    kind: "gap",
    why: "run under the tests of a LocalGate alone: src/gates/remote/portions.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: "const isOut = ",
    kind: "gap",
    why: "run under the tests of a LocalGate alone: src/gates/remote/portions.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: "const asked = portions.prepare",
    kind: "gap",
    why: "run under the tests of a LocalGate alone: src/gates/remote/portions.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: "if (!asked) break;",
    kind: "gap",
    why: "run under the tests of a LocalGate alone: src/gates/remote/portions.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: 'if (answer === "ask again")',
    kind: "gap",
    why: "run under the tests of a LocalGate alone: src/gates/remote/portions.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: 'return "verdict" in decision &&',
    kind: "gap",
    why: "run under the tests of a LocalGate alone: src/gates/remote/portions.test.ts is named for it",
  },
  {
    file: LOCAL_PLANS,
    line: "function isOutOfBudget(",
    kind: "gap",
    why: "run under the tests of a LocalGate alone: src/gates/remote/portions.test.ts is named for it",
  },
  {
    file: LOCAL_DECISION,
    line: "const email = opened.valid",
    kind: "equivalent",
    why: "a plan is decided under a token that its signer has opened",
  },
  {
    file: LOCAL_DECISION,
    line: "const approved = options.approval &&",
    kind: "gap",
    why: "held calls of a HybridGate are tested in test/holds.test.ts, which takes a minute: too slow for each mutant",
  },
  {
    file: LOCAL_DECISION,
    line: "return limit && reserved ?",
    kind: "gap",
    why: "portions are tested in src/gates/remote/portions.test.ts, which is too slow for each mutant",
  },
  {
    file: LOCAL_DECISION,
    line: "const evidence: Evidence | undefined =",
    kind: "equivalent",
    why: "no evidence and evidence of nothing are the same",
  },
  {
    file: "src/gates/audit-trail.ts",
    line: "if (this.#waiting.length > 0) this.#writeNext();",
    kind: "equivalent",
    why: "of nothing that waits nothing is written",
  },
  {
    file: "src/gates/plan-state.ts",
    line: 'state.phase === "closed"',
    kind: "gap",
    why: "a plan that is closed a second time in the gate is not tried: it is unknown by then",
  },
  {
    file: "src/gates/plan-state.ts",
    line: 'state.phase = "closing"',
    kind: "gap",
    why: "calls are not tried while the record of the end is written",
  },
  {
    file: "src/gates/plan-state.ts",
    line: "ERR_AUDIT_WRITE",
    kind: "text",
    why: "the cause is for whoever looks for a fault",
  },
  {
    file: "src/gates/token-issuer.ts",
    line: "if (!opened.valid)",
    kind: "gap",
    why: "a key that becomes another one while it signs is not tried: calls under such a token are blocked all the same",
  },
  {
    file: "src/gates/http.ts",
    kind: "gap",
    why: "holds and plans that go on are tested by test/holds.test.ts and the server's tests, which were not run for it",
  },
  {
    file: "src/gates/audit-trail.ts",
    line: "stored?.then(",
    kind: "gap",
    why: "nothing but events that are no JSON, waiting behind a write",
  },
  {
    file: "src/gates/audit-trail.ts",
    line: "this.#sink?.append",
    kind: "equivalent",
    why: "there is a sink, or nothing comes here",
  },
  {
    file: "src/gates/local-decision.ts",
    kind: "gap",
    why: "what a gate says of a backlog has tests now, and was not run again",
  },
  {
    file: "src/gates/local-plans.ts",
    kind: "gap",
    why: "plans of a closed gate, and the stage of an internal error",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: "if (end.done) this.#reopen.run(end.id);",
    kind: "speed",
    why: "a plan that is not done is marked so again",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: "end.done = false;",
    kind: "speed",
    why: "as above, with every entry that follows",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: 'done: row["done_at"] !== null,',
    kind: "speed",
    why: "as above",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: "done: false, seq, prev });",
    kind: "speed",
    why: "as above",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: "if (this.#ends.size >= MAX_REMEMBERED) this.#ends.clear();",
    kind: "speed",
    why: "what is forgotten is read from the file again",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: "this.#ends.set(planId, end);",
    kind: "speed",
    why: "as above",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: "if (remembered) return remembered;",
    kind: "speed",
    why: "as above",
  },
  {
    file: "src/gates/outbox/chains.ts",
    line: "this.#waiting === this.#savedWaiting) return;",
    kind: "speed",
    why: "a number that did not change is written again; one that was not read is the same as one that was not saved",
  },
];
