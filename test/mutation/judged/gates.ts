import type { Judgement } from "../judgements.ts";

const HTTP = "src/gates/http.ts";
const HYBRID = "src/gates/hybrid.ts";
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
    line: "if (!asked) break;",
    kind: "speed",
    why: "what is not there is waited for",
  },
  {
    file: LOCAL_PLANS,
    line: 'return "verdict" in decision &&',
    kind: "equivalent",
    why: "a look is a decision and no promise, and what is no block has no reason",
  },
  {
    file: LOCAL_DECISION,
    line: "const email = opened.valid",
    kind: "equivalent",
    why: "a plan is decided under a token that its signer has opened",
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
    file: HYBRID,
    line: "this.#held.forget(planId);",
    kind: "equivalent",
    why: "no call of a plan that is over is held, and one that goes on again has the holds that the server has",
  },
  {
    file: HYBRID,
    line: "planId === undefined ? undefined",
    kind: "equivalent",
    why: "no plan is known under no id",
  },
  {
    file: HTTP,
    line: 'if (outcome.type === "outcome") wanted?.settle',
    kind: "equivalent",
    why: "the end of a plan has no number that could be taken away",
  },
  {
    file: HTTP,
    line: 'result.status === "rejected" &&',
    kind: "equivalent",
    why: "what was not rejected has no reason",
  },
  {
    file: HTTP,
    line: 'nameCall(call, "").callId',
    kind: "equivalent",
    why: "of the names only that of the call is taken",
  },
  {
    file: HTTP,
    line: "...(fingerprint !== undefined &&",
    kind: "equivalent",
    why: "what is undefined does not travel",
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
];
