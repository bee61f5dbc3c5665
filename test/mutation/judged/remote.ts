import type { Judgement } from "../judgements.ts";

const AWAIT_HOLD = "src/gates/remote/await-hold.ts";
const HELD_CALLS = "src/gates/remote/held-calls.ts";
const CLAIM_APPROVAL = "src/gates/remote/claim-approval.ts";
const SIGN_PLAN = "src/gates/remote/sign-plan.ts";

/** By file, in the order of the code. A line that is changed loses its judgement, and is to be judged again. */
export const REMOTE: readonly Judgement[] = [
  {
    file: AWAIT_HOLD,
    line: 'case "expired":',
    kind: "equivalent",
    why: "what is not known is as good as one that ran out",
  },
  {
    file: AWAIT_HOLD,
    line: 'case "pending":',
    kind: "equivalent",
    why: "what is not known is as good as one that ran out, and one that waits does not come here",
  },
  {
    file: HELD_CALLS,
    line: "const holds = this.#earlier.get(planId) ?? [];",
    kind: "equivalent",
    why: "where holds are looked for, a text is none",
  },
  {
    file: HELD_CALLS,
    line: '#remember({ planId, digest = "", tool }',
    kind: "equivalent",
    why: "a call without a digest is never held; if it were, it would be none that was asked about before",
  },
  {
    file: CLAIM_APPROVAL,
    line: 'const { approval = "",',
    kind: "equivalent",
    why: "one text that is no approval is as good as another",
  },
  {
    file: SIGN_PLAN,
    line: 'const comment = resolution.status === "rejected" &&',
    kind: "equivalent",
    why: "only who says no can write why",
  },
  {
    file: AWAIT_HOLD,
    line: "if (leftMs < 1000)",
    kind: "equivalent",
    why: "a second is as good as a second",
  },
  {
    file: "src/gates/remote/server-error.ts",
    line: "retryAfterMs !== undefined",
    kind: "equivalent",
    why: "what is undefined is not said either way",
  },
  {
    file: "src/gates/remote/tell.ts",
    line: "listener?.(trouble);",
    kind: "equivalent",
    why: "what a listener throws is passed over, and so is that there is none",
  },
  {
    file: "src/gates/remote/sleep.ts",
    line: "reject(signal?.reason);",
    kind: "equivalent",
    why: "without a signal nothing is aborted",
  },
  {
    file: "src/gates/remote/sleep.ts",
    line: "{ once: true }",
    kind: "equivalent",
    why: "a signal is aborted once",
  },
  {
    file: "src/gates/remote/server-clock.ts",
    line: "const where = this.#offsetMs > 0",
    kind: "equivalent",
    why: "a clock that is not off is not told of",
  },
  {
    file: "src/gates/remote/wanted-results.ts",
    line: 'if (verdict === "allow" && step !== undefined',
    kind: "equivalent",
    why: "no step, and no decision, has undefined for a number",
  },
  {
    file: "src/gates/remote/wanted-results.ts",
    line: "if (text === undefined ||",
    kind: "equivalent",
    why: "undefined has no length, and what throws is not sent",
  },
  {
    file: "src/gates/remote/wanted-results.ts",
    line: "} catch {",
    kind: "equivalent",
    why: "nothing is returned either way",
  },
  {
    file: "src/gates/remote/upload-batch.ts",
    line: 'head: to.prev ?? ""',
    kind: "equivalent",
    why: "after an entry there is always one before",
  },
  {
    file: "src/gates/remote/upload-batch.ts",
    line: "const more = {",
    kind: "equivalent",
    why: "what is undefined is not said either way",
  },
  {
    file: "src/gates/remote/portions.ts",
    line: "this.#asked.delete(planId);",
    kind: "speed",
    why: "the first request of the plan writes over it",
  },
  {
    file: "src/gates/remote/portions.ts",
    line: "() => false,",
    kind: "equivalent",
    why: "undefined is as good as false",
  },
  {
    file: "src/gates/remote/server-client.ts",
    line: "{ once: true }",
    kind: "equivalent",
    why: "a signal is aborted once",
  },
  {
    file: "src/gates/remote/server-client.ts",
    line: "} finally {",
    kind: "speed",
    why: "what still listens goes with the signal, which is of this request alone",
  },
  {
    file: "src/gates/remote/server-client.ts",
    line: 'signal.removeEventListener("abort", stop);',
    kind: "speed",
    why: "what still listens goes with the signal, which is of this request alone",
  },
  {
    file: "src/gates/remote/server-client.ts",
    line: "} catch {",
    kind: "equivalent",
    why: "nothing is returned either way",
  },
];
