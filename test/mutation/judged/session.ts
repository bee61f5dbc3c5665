import type { Judgement } from "../judgements.ts";

const CALL_DECIDER = "src/session/call-decider.ts";

/** By file, in the order of the code. A line that is changed loses its judgement, and is to be judged again. */
export const SESSION: readonly Judgement[] = [
  {
    file: "src/session/admitted-call.ts",
    line: 'this.#state = "settled";',
    kind: "equivalent",
    why: "whatever is neither open nor claimed is settled",
  },
  {
    file: "src/session/prepare-call.ts",
    line: "parsed = await tool.parse?.(call.args)",
    kind: "equivalent",
    why: "it is asked only of a tool that has it",
  },
  {
    file: CALL_DECIDER,
    line: "const opened = await this.#parts.gate.openHold?.(hold);",
    kind: "equivalent",
    why: "a session suspends only under a gate that has it",
  },
  {
    file: CALL_DECIDER,
    line: "switch (decision?.verdict)",
    kind: "text",
    why: "without an answer it is an error, which blocks in the same words",
  },
  {
    file: CALL_DECIDER,
    line: "default:",
    kind: "equivalent",
    why: "no answer is no answer, as undefined",
  },
  {
    file: "src/session/session.ts",
    line: "this.#admitted.delete(admitted);",
    kind: "speed",
    why: "what is settled is released once more, which does nothing",
  },
  {
    file: "src/session/session.ts",
    line: "if (suspended) this.#repeatable.forget(entry.call);",
    by: "true",
    kind: "speed",
    why: "a kept result of the same call is forgotten, so that the call is decided once more",
  },
  {
    file: CALL_DECIDER,
    line: "return this.#wanted.wants(step) ? result?.()",
    kind: "equivalent",
    why: "without a result it throws, and there is none either",
  },
  {
    file: CALL_DECIDER,
    line: "} catch {",
    by: "{}",
    kind: "equivalent",
    why: "a function that ends gives undefined as well",
  },
  {
    file: "src/session/events.ts",
    line: "listener?.(",
    kind: "equivalent",
    why: "what is thrown there is swallowed",
  },
  {
    file: "src/session/events.ts",
    line: "answer instanceof Promise",
    kind: "equivalent",
    why: "what is thrown there is swallowed",
  },
  {
    file: "src/session/planner.ts",
    line: "if (!(error instanceof PlanError)) throw error;",
    kind: "gap",
    why: "nothing else is thrown by the parser in a test",
  },
  {
    file: "src/session/plan-guide.ts",
    kind: "gap",
    why: "an example of the guide that is another, and still one of a plan, is not noticed",
  },
  {
    file: "src/session/plan-json-schema.ts",
    line: "const ANYTHING",
    kind: "text",
    why: "a description for the model",
  },
  {
    file: "src/session/task.ts",
    line: "earlier.every",
    kind: "gap",
    why: "a list with one text among others is not tried",
  },
  {
    file: "src/session/task.ts",
    line: "material !== undefined",
    kind: "gap",
    why: "whether a task without material has the field is not looked at",
  },
  {
    file: "src/session/repeatable-calls.ts",
    line: "key === undefined ? undefined",
    kind: "equivalent",
    why: "nothing is kept under undefined",
  },
  {
    file: "src/session/repeatable-calls.ts",
    line: "if (key !== undefined) this.#calls.delete(key);",
    kind: "equivalent",
    why: "nothing is kept under undefined",
  },
  {
    file: "src/session/repeatable-calls.ts",
    line: "earlier.args !== undefined && call.args !== undefined",
    kind: "equivalent",
    why: "arguments that are no JSON make the call malformed, and it is kept under no step",
  },
  {
    file: "src/session/resume-session.ts",
    kind: "gap",
    why: "going on under signed names is tested with the adapters, which were not run for it",
  },
  {
    file: "src/session/parse-plan-for-tools.ts",
    line: "parsePointer(pointer)",
    kind: "equivalent",
    why: "the pointers were checked",
  },
  {
    file: "src/session/parse-plan-for-tools.ts",
    line: "tool",
    kind: "equivalent",
    why: "every step is of a tool that there is",
  },
  {
    file: "src/session/session-tool.ts",
    line: "Object.keys(condition)",
    kind: "gap",
    why: "a condition of optional and something else",
  },
  {
    file: "src/session/session-tool.ts",
    line: "parsePointer(pointer)",
    kind: "equivalent",
    why: "the pointers were checked",
  },
];
