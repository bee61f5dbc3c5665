import type { AllowDecision } from "../../core/index.ts";

/** One limit, what is left of it, and what a call takes of it. */
interface Headroom {
  readonly left: number;
  readonly perCall: number;
}

/**
 * What is left under the limit that binds: the one that would be the first to refuse calls like this one. Null without a
 * budget, or if it limits nothing.
 */
export function headroomOf({ budgetRemaining, payoutMicros = 0 }: AllowDecision): number | null {
  const limits = [budgetRemaining?.session, budgetRemaining?.principal].flatMap((remaining): Headroom[] => [
    ...(remaining?.calls === undefined ? [] : [{ left: remaining.calls, perCall: 1 }]),
    ...(remaining?.payoutMicros === undefined ? [] : [{ left: remaining.payoutMicros, perCall: payoutMicros }]),
  ]);
  const [binding] = limits.toSorted((one, other) => repeats(one) - repeats(other) || one.left - other.left);
  return binding?.left ?? null;
}

function repeats({ left, perCall }: Headroom): number {
  // A finite number, so that two limits which the call takes nothing of can be compared.
  return perCall === 0 ? Number.MAX_VALUE : Math.floor(left / perCall);
}
