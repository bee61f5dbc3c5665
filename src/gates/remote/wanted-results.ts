import type { Outcome } from "../../core/api/index.ts";
import { createStepResults, type Decision, MAX_STEP_RESULTS, type Plan, type StepResults } from "../../core/index.ts";
import { copyJson } from "../../core/json.ts";

type CallOutcome = Extract<Outcome, { readonly type: "outcome" }>;

/** Which results of a plan's calls a server needs: those of the steps that a `from` names, and no others leave this process. */
export class WantedResults {
  readonly #steps: Pick<StepResults, "wants">;
  /** The numbers of the decisions that allowed calls of such steps, until their outcome is on record. */
  readonly #open = new Set<number>();

  constructor(plan: Plan) {
    this.#steps = createStepResults(plan);
  }

  /** A call was allowed. */
  add({ verdict, step, seq }: Decision): void {
    if (verdict === "allow" && step !== undefined && seq !== undefined && this.#steps.wants(step)) this.#open.add(seq);
  }

  /** An outcome is on record. */
  settle({ decisionSeq }: CallOutcome): void {
    this.#open.delete(decisionSeq);
  }

  /** Whether the server needs what this call gave. */
  has({ decisionSeq, status }: CallOutcome): boolean {
    return status === "ok" && this.#open.has(decisionSeq);
  }
}

/** An outcome as it travels: its result only if it is wanted, is JSON, and is not too much to be kept. */
export function toWireOutcome(outcome: Outcome, wanted: WantedResults | undefined): Outcome {
  if (outcome.type !== "outcome") return outcome;
  const { result, ...bare } = outcome;
  const printed = wanted?.has(outcome) ? printResult(result) : undefined;
  return printed === undefined ? bare : { ...bare, result: printed.value };
}

/** As it will be read: what the server would refuse must not keep the outcome itself from its record. */
function printResult(result: unknown): { readonly value: unknown } | undefined {
  try {
    const text = JSON.stringify(result);
    if (text === undefined || text.length > MAX_STEP_RESULTS) return undefined;
    const message = copyJson({ outcome: { result: JSON.parse(text) } }) as { readonly outcome: { result: unknown } };
    return { value: message.outcome.result };
  } catch {
    return undefined;
  }
}
